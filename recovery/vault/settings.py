"""Where restore points are kept, and who may do what there. Keys are read from files and never kept in a record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from minio.credentials.credentials import Credentials
from pydantic import Field

from recovery import secret_files
from recovery.errors import RecoveryError
from recovery.model import Record

KeyFile = Annotated[Path, Field(strict=False)]
"""A path; JSON and YAML hold it as a string."""

SHORTEST_SIGNING_KEY: Final = 32


class Account(Record):
    """Files that hold an access key and a secret key, each alone in its file; surrounding blanks do not count."""

    access_key_file: KeyFile
    secret_key_file: KeyFile

    def credentials(self) -> Credentials:
        """The keys as the files hold them now. Raises RecoveryError if one cannot be read or is empty."""
        return Credentials(
            secret_files.read(self.access_key_file, "an access key of the target", blanks=True),
            secret_files.read(self.secret_key_file, "a secret key of the target", blanks=True),
        )


class Place(Record):
    """Where a bucket is. endpoint: scheme, host and port. ca_file: who signed its certificate, None: the system's
    authorities."""

    endpoint: str = Field(pattern=r"^https?://[^/?#@\s]+$")
    bucket: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
    region: str = Field(default="us-east-1", min_length=1)
    ca_file: KeyFile | None = None


class Target(Place):
    """A bucket with object lock.

    writer: may put objects and nothing else. reader: may list, read, and read retentions. pruner: what the reader may,
    delete objects and versions, and extend retentions. A run needs the accounts of what it does, and no other.
    retention_days: for how long the bucket locks each new object, at least. signing_key_file: what manifests are
    signed with, 32 characters or more.
    """

    writer: Account | None = None
    reader: Account | None = None
    pruner: Account | None = None
    retention_days: int = Field(ge=1, le=36500)
    signing_key_file: KeyFile

    def signing_key(self) -> bytes:
        """What manifests are signed with. Raises RecoveryError if it cannot be read or is too short."""
        return read_signing_key(self.signing_key_file)


def read_signing_key(path: Path) -> bytes:
    """A file's signing key. Raises RecoveryError if it cannot be read or is too short."""
    key = secret_files.read(path, "the signing key", blanks=True, lines=True).encode()
    if len(key) < SHORTEST_SIGNING_KEY:
        raise RecoveryError(
            f"signing key {path}: it has {len(key)} characters; accepted are "
            f"{SHORTEST_SIGNING_KEY} or more; make one of 32 random bytes in hexadecimal and keep a copy where no "
            "cluster is: points cannot be trusted without it"
        )
    return key
