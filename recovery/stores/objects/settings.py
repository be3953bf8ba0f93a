"""What the configuration says about a bucket."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from recovery.model import Record

REPLACED_PREFIX = ".plumbline-replaced/"
"""Where `promote` keeps what it replaced, in the same bucket."""
Prefix = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+/$", max_length=64)]


class Settings(Record):
    """endpoint: `http://` or `https://`, host and port. access_key_file, secret_key_file: files that hold a key each.

    ca_file: certificates that sign the endpoint's, None for those of the system. restore_prefix: where the restored
    copy stands in the bucket until it is promoted.
    """

    kind: Literal["objects"] = "objects"
    name: str = Field(min_length=1)
    endpoint: str = Field(pattern=r"^https?://[^/]+/?$")
    bucket: str = Field(min_length=3)
    region: str = "us-east-1"
    access_key_file: str
    secret_key_file: str
    ca_file: str | None = None
    restore_prefix: Prefix = ".plumbline-restored/"
