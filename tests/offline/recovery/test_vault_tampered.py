"""Whatever somebody lays over what was stored, or hides, is counted; what the program does itself is not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.errors import DamagedError
from recovery.outcome import laid_over, newest
from recovery.vault.covered import Covered
from recovery.vault.envelope import seal
from recovery.vault.names import chunk_key, manifest_key, verified_key
from recovery.vault.prune import prune
from recovery.vault.retention import Rule
from tests.offline.recovery.locked import SIGNING_KEY, Locked, locked
from tests.offline.recovery.vault_points import NOW, lay, point, verification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.model import Point

KEEP = Rule(keep_last=9, keep_days=9)
OTHER_KEY = "6" * 64


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("store")) as found:
        yield found


@pytest.fixture
def bucket(store: Locked) -> str:
    """Another one for each test."""
    return store.fresh()


def silent(line: str) -> None:
    """Nobody listens."""
    del line


def taken(store: Locked, bucket: str, age: timedelta, content: bytes = b"one") -> tuple[Point, str]:
    """A point of one chunk, and the chunk's key."""
    file = store.vault(bucket).put("dump", [content])
    return lay(store, bucket, point(file, age=age)), chunk_key(file.chunks[0].sha256)


def seen(store: Locked, bucket: str, made: Point) -> tuple[str, ...]:
    """What a run that reads everything counts."""
    vault = store.vault(bucket)
    vault.points()
    assert b"".join(vault.read(vault.point(made.id).parts[0].files[0])) == b"one", "what was stored first is read"
    return vault.tampered(made)


def pruned(store: Locked, bucket: str) -> int:
    """What `prune` counts."""
    return prune(store.target(bucket), rule=KEEP, tell=silent).tampered


def test_a_target_that_nobody_touched_has_none(store: Locked, bucket: str) -> None:
    made, _ = taken(store, bucket, timedelta(hours=3))
    taken(store, bucket, timedelta(), b"two")
    assert seen(store, bucket, made) == ()
    assert pruned(store, bucket) == 0
    assert laid_over(()) == []


def test_content_over_a_chunk_counts(store: Locked, bucket: str) -> None:
    made, key = taken(store, bucket, timedelta())
    store.bucket(bucket, "writer").put(key, b"two", absent=False)
    assert seen(store, bucket, made) == (key,)
    assert key in laid_over((key,))[0]


def test_the_same_content_once_more_is_what_the_program_does_itself(store: Locked, bucket: str) -> None:
    made, key = taken(store, bucket, timedelta())
    store.bucket(bucket, "writer").put(key, b"one", absent=False)
    assert seen(store, bucket, made) == ()


def test_a_chunk_that_is_hidden_after_its_point_was_made_counts(store: Locked, bucket: str) -> None:
    made, key = taken(store, bucket, timedelta(hours=3))
    store.bucket(bucket, "pruner").delete(key)
    assert seen(store, bucket, made) == (key,)
    assert pruned(store, bucket) == 1
    assert seen(store, bucket, made) == (), "it is shown again"


def test_a_chunk_that_prune_may_have_hidden_while_the_point_was_made_does_not(store: Locked, bucket: str) -> None:
    made, key = taken(store, bucket, timedelta())
    store.bucket(bucket, "pruner").delete(key)
    assert seen(store, bucket, made) == ()
    assert pruned(store, bucket) == 0


def test_hours_in_which_prune_may_hide() -> None:
    """From an hour before the point's beginning to an hour after its end."""
    began, ended = NOW, NOW + timedelta(minutes=10)
    for minutes, counts in ((-61, True), (-59, False), (5, False), (69, False), (71, True)):
        covered = Covered()
        covered.add("chunks/x", began + timedelta(minutes=minutes))
        assert bool(covered.tampered(began, ended)) is counts, minutes
        assert covered.tampered() == ()


@pytest.mark.parametrize("hide", [False, True], ids=["laid over", "hidden"])
def test_what_is_over_a_manifest_counts(store: Locked, bucket: str, *, hide: bool) -> None:
    made, _ = taken(store, bucket, timedelta())
    key = manifest_key(made.id)
    if hide:
        store.bucket(bucket, "pruner").delete(key)
    else:
        store.bucket(bucket, "writer").put(key, b"{}", absent=False)
    assert seen(store, bucket, made) == (key,)
    assert pruned(store, bucket) == 1


def test_a_verification_that_nobody_here_signed_counts(store: Locked, bucket: str) -> None:
    made, _ = taken(store, bucket, timedelta(hours=3))
    forged = verification(made)
    key = verified_key(made.id, forged.started.strftime("%Y%m%dT%H%M%SZ"))
    store.bucket(bucket, "writer").put(key, seal("verification", forged, OTHER_KEY.encode()))
    assert seen(store, bucket, made) == (key,)


def test_content_in_the_place_of_a_chunk_counts_where_it_is_stored_again(store: Locked, bucket: str) -> None:
    _, key = taken(store, bucket, timedelta())
    store.replace(key, b"else", bucket)
    vault = store.vault(bucket)
    vault.put("dump", [b"one"])
    assert vault.tampered() == (key,)


def test_another_signing_key_is_named_before_any_damage(store: Locked, bucket: str) -> None:
    for number in (1, 2):
        lay(store, bucket, point(number=number), key=OTHER_KEY)
    vault = store.vault(bucket)
    for latest in (vault.latest(), vault.latest_verified()):
        with pytest.raises(DamagedError) as caught:
            newest(vault, latest)
        assert str(caught.value).startswith(
            "none of the 2 manifests was signed with this key; is it the signing key of another stack or root secret?"
        )
        assert "create" not in str(caught.value)


def test_one_manifest_that_fits_the_key_says_that_the_key_is_right(store: Locked, bucket: str) -> None:
    lay(store, bucket, point(number=1), key=OTHER_KEY)
    made = lay(store, bucket, point(number=2), key=SIGNING_KEY)
    vault = store.vault(bucket)
    assert newest(vault, vault.latest())[0] == made
    with pytest.raises(DamagedError, match="there is no such restore point, and 1 are damaged"):
        newest(vault, vault.latest_verified())
