"""Tries for real what the accounts may do, before each point: whoever takes the writer's key must not get at a point.

A plain PUT over an object cannot be forbidden everywhere: S3 has the condition key `s3:if-none-match` for it, other
stores have none. In a bucket with object lock it makes another version and leaves the one before alone, so it counts as
harmless if the reader still gets what was stored first. Everything else must be refused.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from recovery.errors import RecoveryError
from recovery.model import utc
from recovery.vault import names
from recovery.vault.s3 import Bucket

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.vault.s3 import Answer
    from recovery.vault.settings import Target

_REFUSED: Final = 403
_CANNOT: Final = (405, 501)
"""The target has no such request."""
_SLACK: Final = timedelta(hours=1)
_NO_CONFIGURATION: Final = b"this is no configuration"
"""Whoever may change one gets a complaint about this; who may not is refused before it is read. It changes nothing."""


@dataclass(frozen=True)
class Trial:
    """What was seen. overwrite: `refused`, or `kept` if it made a version over the first one. locked_until: of the
    probe."""

    probe: str
    overwrite: Literal["refused", "kept"]
    locked_until: datetime


@dataclass(frozen=True)
class _Request:
    permission: str
    method: str
    key: str
    query: dict[str, str]
    body: bytes = b""


def trial(target: Target) -> Trial:
    """Raises RecoveryError naming the permission that the writer or the reader has too much or too little, or what the
    bucket's lock lacks. It leaves two objects of a few bytes, which `prune` deletes when their lock has ended."""
    writer, reader = Bucket(target, target.writer, "writer"), Bucket(target, target.reader, "reader")
    first = secrets.token_hex(16).encode()
    probe = f"{names.PROBES}{utc(datetime.now(UTC))}-{secrets.token_hex(4)}"
    version = _stored(writer, probe, first)
    _refuse(writer, _writer_must_not(probe, version))
    overwrite = _overwritten(writer, reader, probe, version, first)
    _read(reader, probe, version, first)
    _refuse(reader, _reader_must_not(probe))
    return Trial(probe, overwrite, _locked(target, reader, probe, version))


def _stored(writer: Bucket, probe: str, content: bytes) -> str:
    done = writer.put(probe, content)
    if not done.version or done.version == "null":
        raise RecoveryError(
            f"bucket {writer.name}: it keeps no versions, so what was stored can be overwritten; make a bucket with "
            "object lock, which turns versions on"
        )
    if writer.put(probe, b"another").new:
        raise RecoveryError(
            f"bucket {writer.name}: the target stored an object over another one though it was told not to "
            "(If-None-Match); accepted is a target that knows conditional writes"
        )
    return done.version


def _overwritten(writer: Bucket, reader: Bucket, probe: str, version: str, first: bytes) -> Literal["refused", "kept"]:
    answer = writer.ask("PUT", probe, body=b"another")
    if answer.status == _REFUSED:
        return "refused"
    if answer.status != 200:  # noqa: PLR2004  # HTTP's own
        raise _unclear(writer, "s3:PutObject", answer)
    if reader.get(probe, version) != first:
        raise RecoveryError(
            f"bucket {writer.name}: the writer's account overwrote {probe}, and what was stored first is gone; "
            "accepted is a bucket with object lock, where it stays as an older version"
        )
    return "kept"


def _writer_must_not(probe: str, version: str) -> Iterator[_Request]:
    yield _Request("s3:GetObject", "GET", probe, {})
    yield _Request("s3:GetObjectVersion", "GET", probe, {"versionId": version})
    yield _Request("s3:ListBucket", "GET", "", {"list-type": "2", "prefix": names.PROBES, "max-keys": "1"})
    yield _Request("s3:ListBucketVersions", "GET", "", {"versions": "", "prefix": names.PROBES, "max-keys": "1"})
    yield _Request("s3:GetObjectRetention", "GET", probe, {"retention": "", "versionId": version})
    yield _Request("s3:PutObjectRetention", "PUT", probe, {"retention": "", "versionId": version}, _NO_CONFIGURATION)
    # One that is locked would be refused to anybody, and show nothing of what the account may do.
    yield _Request("s3:DeleteObjectVersion", "DELETE", f"{probe}-none", {"versionId": version})
    yield _Request("s3:DeleteObject", "DELETE", probe, {})
    for permission, parameter in (
        ("s3:PutLifecycleConfiguration", "lifecycle"),
        ("s3:PutBucketObjectLockConfiguration", "object-lock"),
        ("s3:PutBucketPolicy", "policy"),
        ("s3:PutBucketVersioning", "versioning"),
    ):
        yield _Request(permission, "PUT", "", {parameter: ""}, _NO_CONFIGURATION)


def _reader_must_not(probe: str) -> Iterator[_Request]:
    yield _Request("s3:PutObject", "PUT", f"{probe}-reader", {}, b"written by the reader")
    yield _Request("s3:DeleteObject", "DELETE", f"{probe}-none", {})
    yield _Request("s3:DeleteObjectVersion", "DELETE", f"{probe}-none", {"versionId": "none"})


def _refuse(bucket: Bucket, requests: Iterator[_Request]) -> None:
    """Every request must be refused for the account, and for no other reason."""
    for request in requests:
        answer = bucket.ask(request.method, request.key, query=request.query, body=request.body)
        if answer.status in _CANNOT or (answer.status == _REFUSED and answer.code == "AccessDenied"):
            continue
        if answer.status == _REFUSED or answer.status >= 500:  # noqa: PLR2004  # HTTP's own
            raise _unclear(bucket, request.permission, answer)
        raise RecoveryError(
            f"bucket {bucket.name}: the {bucket.role}'s account has {request.permission} ({request.method} was "
            f"answered with {answer.status}), and must not; take it away, "
            + ("or points are as safe as the cluster is" if bucket.role == "writer" else "it is to read alone")
        )


def _read(reader: Bucket, probe: str, version: str, first: bytes) -> None:
    listed = {found.id for found in reader.versions(probe)}
    if version not in listed:
        raise RecoveryError(
            f"bucket {reader.name}: {probe} was stored, and the reader's list of it lacks version {version}; "
            "accepted is a target that lists what it took at once"
        )
    if reader.get(probe, version) != first or reader.get(probe) is None:
        raise RecoveryError(f"bucket {reader.name}: {probe} was stored, and the reader gets something else from it")


def _locked(target: Target, reader: Bucket, probe: str, version: str) -> datetime:
    found = reader.retention(probe, version)
    if found is None:
        raise RecoveryError(
            f"bucket {reader.name}: new objects are not locked; set a default retention of mode COMPLIANCE and "
            f"{target.retention_days} days on it"
        )
    mode, until = found
    if mode != "COMPLIANCE":
        raise RecoveryError(
            f"bucket {reader.name}: its lock has mode {mode}, which an administrator gets around; "
            "accepted is COMPLIANCE"
        )
    now = reader.clock or datetime.now(UTC)
    if until - now < timedelta(days=target.retention_days) - _SLACK:
        raise RecoveryError(
            f"bucket {reader.name}: new objects are locked until {until:%Y-%m-%d %H:%M} UTC; accepted are "
            f"{target.retention_days} days from now or more, as the settings promise"
        )
    return until


def _unclear(bucket: Bucket, permission: str, answer: Answer) -> RecoveryError:
    return RecoveryError(
        f"bucket {bucket.name}: whether the {bucket.role}'s account has {permission} cannot be told, the target "
        f"answers {answer.code or answer.status} ({answer.status}); look at the target's own log, then run again"
    )
