"""Runs of the pruner at a moment, for tests: what they find, and what they leave."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recovery.vault import names
from recovery.vault.prune import GRACE, Pruned, Pruning
from recovery.vault.retention import Rule
from recovery.vault.s3 import Bucket
from recovery.vault.vault import Vault
from tests.offline.recovery.vault_points import NOW, lay, point

if TYPE_CHECKING:
    from datetime import datetime

    from recovery.model import File, Point
    from tests.offline.recovery.locked import Locked

DAY = timedelta(days=1)
ONE = Rule(keep_last=1, keep_days=0)
LATER = NOW + GRACE + DAY
"""When a chunk that is stored or hidden now may go."""


def silent(line: str) -> None:
    del line


def run(
    store: Locked, bucket: str, now: datetime, rule: Rule = ONE, *, drop: tuple[str, ...] = (), dry: bool = False
) -> Pruned:
    """A run of the pruner at a moment."""
    target = store.target(bucket)
    pruner = Bucket(target, target.pruner, "pruner")
    return Pruning(pruner, target.signing_key(), now, 7 * DAY, tell=silent, dry_run=dry).whole(rule, drop)


def chunks(store: Locked, bucket: str) -> set[str]:
    """Keys of the chunks of which any version is left."""
    return set(store.keys(names.CHUNKS, bucket))


def key(file: File) -> str:
    return names.chunk_key(file.chunks[0].sha256)


def three(store: Locked, bucket: str) -> tuple[list[File], list[Point]]:
    """Three points a day apart, each with a chunk of its own and one that all share."""
    vault = store.vault(bucket)
    shared = vault.put("shared", [b"shared"])
    files = [vault.put("own", [f"own {number}".encode()]) for number in range(3)]
    points = [
        lay(store, bucket, point(shared, file, age=(2 - number) * DAY, number=number))
        for number, file in enumerate(files)
    ]
    return [shared, *files], points


def content(store: Locked, bucket: str, file: File) -> bytes:
    return b"".join(Vault.open(store.target(bucket), write=False).read(file))
