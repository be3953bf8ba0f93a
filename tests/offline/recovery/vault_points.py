"""Restore points for tests of the vault: what was put, and a manifest of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from recovery.model import Part, Point, Verification, utc
from recovery.vault.envelope import seal
from recovery.vault.names import manifest_key, verified_key
from tests.offline.recovery.locked import SIGNING_KEY

if TYPE_CHECKING:
    from recovery.model import File
    from tests.offline.recovery.locked import Locked

NOW = datetime.now(UTC).replace(microsecond=0)
STACK = "test"


def point(*files: File, age: timedelta = timedelta(), number: int = 1, index: File | None = None) -> Point:
    """A point of one part that was begun `age` ago and took a minute."""
    started = NOW - age
    return Point(
        id=f"{utc(started)}-{number:08x}",
        stack=STACK,
        cluster_uid="c",
        mode="online",
        started=started,
        ended=started + timedelta(minutes=1),
        program="1",
        consistency=("online",),
        first_lost=started,
        parts=(Part(store="postgres", kind="postgresql", version="17", files=files, index=index),),
    )


def lay(store: Locked, bucket: str, made: Point, *outcomes: Verification, key: str = SIGNING_KEY) -> Point:
    """A point with verifications, whatever its age: `publish` takes none that was begun days ago."""
    writer = store.bucket(bucket, "writer")
    writer.put(manifest_key(made.id), seal("manifest", made, key.encode()))
    for outcome in outcomes:
        content = seal("verification", outcome, key.encode())
        writer.put(verified_key(made.id, utc(outcome.started)), content)
    return made


def verification(made: Point, *differences: str, after: timedelta = timedelta(hours=1)) -> Verification:
    """The outcome of a verification of a point."""
    return Verification(point=made.id, started=made.ended + after, seconds=1.5, differences=differences, figures={})
