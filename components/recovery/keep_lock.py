"""Runs beside the recovery store, in its pod: gives the bucket its default retention, and looks at it again and again.

A bucket with object lock and no default retention locks nothing. The pod is ready while the retention is what it
should be: without it nobody can write a restore point that could be deleted the next moment.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from minio import Minio
from minio.commonconfig import COMPLIANCE
from minio.error import MinioException
from minio.objectlockconfig import DAYS, ObjectLockConfig
from urllib3.exceptions import HTTPError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Ends when it is told to. A store that cannot be asked is asked again."""
    wanted = _parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    keys = (path.read_text(encoding="utf-8").strip() for path in (wanted.access_key_file, wanted.secret_key_file))
    access, secret = keys
    client = Minio(wanted.endpoint, access, secret, secure=False, region="us-east-1")
    said = ""
    while True:
        outcome = _kept(client, wanted.bucket, wanted.days)
        if outcome == "kept":
            wanted.ready_file.touch()
        else:
            wanted.ready_file.unlink(missing_ok=True)
        if outcome != said:
            print(f"bucket {wanted.bucket}, {wanted.days} days of COMPLIANCE: {outcome}", flush=True)
            said = outcome
        time.sleep(wanted.every if outcome == "kept" else 1)


def _kept(client: Minio, bucket: str, days: int) -> str:
    """`kept`, or why not. What was set is read back: an answer of 200 is not yet a lock."""
    try:
        if not _is(client, bucket, days):
            client.set_object_lock_config(bucket, ObjectLockConfig(COMPLIANCE, days, DAYS))
            if not _is(client, bucket, days):
                return "the store took it and does not show it"
    except (MinioException, HTTPError, OSError, ValueError) as error:
        return f"cannot be set yet: {type(error).__name__}: {getattr(error, 'code', error)}"
    return "kept"


def _is(client: Minio, bucket: str, days: int) -> bool:
    found = client.get_object_lock_config(bucket)
    return (found.mode, found.duration_unit, found.duration) == (COMPLIANCE, DAYS, days)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoint", required=True, help="host and port of S3")
    parser.add_argument("--bucket", required=True)
    parser.add_argument("--days", type=int, required=True, help="whole days that every object is locked for")
    parser.add_argument("--access-key-file", type=Path, required=True)
    parser.add_argument("--secret-key-file", type=Path, required=True)
    parser.add_argument("--ready-file", type=Path, required=True, help="there while the retention is what it should be")
    parser.add_argument("--every", type=float, default=60, help="seconds between two looks")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
