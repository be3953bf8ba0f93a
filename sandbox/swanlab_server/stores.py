"""What the drivers of all stores raise. Importing it loads them all: half of what the start of a process costs."""

from __future__ import annotations

from typing import Final

import minio.error
import psycopg
import redis
import urllib3

DOWN: Final[tuple[type[Exception], ...]] = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    redis.RedisError,
    urllib3.exceptions.HTTPError,
    minio.error.MinioException,
    OSError,
)
"""The store is not there, or refuses to work."""
UNFIT: Final[tuple[type[Exception], ...]] = (psycopg.DataError,)
"""A value that no column can hold."""
