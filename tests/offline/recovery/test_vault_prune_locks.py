"""Pruning and locks, over the real object store: what is locked stays, and what points need is locked long enough."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.vault import names
from recovery.vault.prune import Pruning, prune
from recovery.vault.retention import Rule
from recovery.vault.s3 import Bucket
from tests.offline.recovery.locked import LOCKED, Locked, locked
from tests.offline.recovery.vault_points import NOW, lay, point
from tests.offline.recovery.vault_prunes import DAY, LATER, chunks, key, run, silent, three

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from recovery.model import File


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("store")) as found:
        yield found


def extend(store: Locked, bucket: str, name: str, until: datetime) -> None:
    """Lock an object's newest version, as an administrator does who wants to keep it."""
    (version, *_) = store.bucket(bucket).versions(name)
    body = (
        f"<Retention><Mode>COMPLIANCE</Mode><RetainUntilDate>{until:%Y-%m-%dT%H:%M:%SZ}</RetainUntilDate></Retention>"
    )
    answer = store.bucket(bucket).ask("PUT", name, query={"retention": "", "versionId": version.id}, body=body.encode())
    assert answer.status == 200


def test_what_is_locked_stays_until_its_lock_ends(store: Locked) -> None:
    bucket = store.fresh()
    (shared, *own), points = three(store, bucket)
    extend(store, bucket, key(own[1]), LATER + DAY)
    extend(store, bucket, names.manifest_key(points[0].id), LATER + 2 * DAY)
    assert run(store, bucket, LATER).points == (points[1].id,)
    done = run(store, bucket, LATER)
    assert (done.locked, done.chunks, done.notes) == (
        1,
        0,
        ("1 points are past their time and stay until their lock ends",),
    )
    assert chunks(store, bucket) == {key(file) for file in (shared, *own)}
    pruner = store.bucket(bucket, "pruner")
    locked_version = next(version for version in pruner.versions(key(own[1])) if not version.marker)
    with pytest.raises(RecoveryError, match=r"s3:DeleteObjectVersion, a lock has not ended"):
        pruner.delete(locked_version.key, locked_version.id)


def until(store: Locked, bucket: str, file: File) -> datetime:
    head = store.bucket(bucket).head(key(file))
    assert head is not None
    assert head.locked_until is not None
    return head.locked_until


@pytest.mark.parametrize("account", ["pruner", "pruner-without-extension"])
def test_a_lock_lasts_as_long_as_that_of_the_newest_point_that_needs_the_chunk(store: Locked, account: str) -> None:
    """What is stored now is locked for 7 days; of what the point of 5 days later needs, that is 5 too few."""
    bucket = store.fresh()
    vault = store.vault(bucket)
    old, both, loose = (vault.put("a", [text]) for text in (b"old", b"old and new", b"never locked"))
    for file in (old, both):
        extend(store, bucket, key(file), NOW + 7 * DAY)
    lay(store, bucket, point(old, both, number=1))
    lay(store, bucket, point(both, loose, age=-5 * DAY, number=2))
    target = store.target(bucket, pruner=account)
    for extended in (1, 0 if account == "pruner" else 1):
        pruner = Bucket(target, target.pruner, "pruner")
        pruning = Pruning(pruner, target.signing_key(), NOW + 5 * DAY, 7 * DAY, tell=silent)
        done = pruning.whole(Rule(keep_last=2, keep_days=0))
        assert done.extended == extended
        assert until(store, bucket, old) == NOW + 7 * DAY
        locks = [note for note in done.notes if "dated 4 days after the target's clock" not in note]
        if account == "pruner":
            assert (until(store, bucket, both), locks) == (NOW + 12 * DAY, [])
        else:
            assert until(store, bucket, both) == NOW + 7 * DAY
            assert "1 chunks are locked for less time than the points that need them" in locks[0]
    head = store.bucket(bucket).head(key(loose))
    assert head is not None
    assert head.locked_until is None


def test_a_clock_a_year_ahead_deletes_no_chunk_and_what_is_locked_stays(store: Locked) -> None:
    """The machine's clock jumps; that of the target, which ends locks, does not."""
    vault = store.vault(LOCKED)
    points = [
        lay(store, LOCKED, point(vault.put("a", [b"locked %d" % n]), age=(9 - n) * DAY, number=n)) for n in range(3)
    ]
    before = list(store.bucket(LOCKED).versions(""))
    done = prune(
        store.target(LOCKED), rule=Rule(keep_last=1, keep_days=0), tell=silent, clock=lambda: NOW + timedelta(days=365)
    )
    assert (done.points, done.chunks, done.hidden) == ((), 0, 0)
    assert done.notes == ("2 points are past their time and stay until their lock ends",)
    assert list(store.bucket(LOCKED).versions("")) == before
    assert [listed.id for listed in store.vault(LOCKED).points()] == [made.id for made in points]
