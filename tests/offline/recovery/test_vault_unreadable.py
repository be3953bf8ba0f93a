"""What the target holds and does not give: nobody calls it lost or safe, and a point that needs it is not good."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.errors import DamagedError, RecoveryError, StoreError, UnreadableError
from recovery.model import Part
from recovery.vault.names import chunk_key, manifest_key
from recovery.verify import verify
from tests.offline.recovery.locked import Locked, locked
from tests.offline.recovery.refusing import Disk, failing
from tests.offline.recovery.shelves import Shelf
from tests.offline.recovery.vault_points import lay, point, verification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.model import File, Point

SAFE = "nothing that was stored is lost"


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


def shelved(made: Point, *files: File) -> Point:
    """The point with a part that a Shelf reads."""
    part = Part(store="runs", kind="shelf", version="1", files=files, figures={"texts": len(files)})
    return made.model_copy(update={"parts": (part,)})


def two(store: Locked, bucket: str) -> tuple[Point, Point, str]:
    """An older and a newer point, both verified as good; the chunk that only the newer one has."""
    vault = store.vault(bucket)
    shared, own = vault.put("a", [b"shared"]), vault.put("b", [b"own"])
    older = shelved(point(age=timedelta(hours=9), number=1), shared)
    newer = shelved(point(age=timedelta(hours=6), number=2), shared, own)
    for made in (older, newer):
        lay(store, bucket, made, verification(made))
    return older, newer, chunk_key(own.chunks[0].sha256)


def test_a_chunk_that_is_not_given_makes_the_point_doubtful_until_it_is(store: Locked, bucket: str) -> None:
    older, newer, key = two(store, bucket)
    disk = Disk({key})
    vault = failing(store, bucket, disk)
    found = verify(vault.point(newer.id), (Shelf("runs"),), vault, silent)
    assert len(found.differences) == 1
    assert found.differences[0].startswith(f"runs: b: chunk {bucket}/{key} cannot be read, though ")
    assert "nobody knows what it holds" in found.differences[0]
    assert "InternalError (500)" in found.differences[0]
    assert SAFE not in found.differences[0]
    vault.record(found)
    assert [listed.state for listed in vault.points()] == ["verified", "failed"]
    latest = vault.latest_verified().point
    assert latest is not None
    assert latest.id == older.id
    disk.keys.clear()
    good = verify(vault.point(newer.id), (Shelf("runs"),), vault, silent)
    assert good.good
    vault.record(good.model_copy(update={"started": found.started + timedelta(seconds=1)}))
    assert [listed.state for listed in vault.points()] == ["verified", "verified"]


def test_an_outage_of_the_whole_target_says_nothing_of_a_point(store: Locked, bucket: str) -> None:
    _, newer, _ = two(store, bucket)
    disk = Disk()
    vault = failing(store, bucket, disk)
    made = vault.point(newer.id)
    disk.everything = True
    with pytest.raises(StoreError, match=r"InternalError \(500\)") as caught:
        verify(made, (Shelf("runs"),), vault, silent)
    assert SAFE not in str(caught.value)
    with pytest.raises(UnreadableError) as plain:
        verify(made, (), vault, silent)
    assert not isinstance(plain.value, DamagedError)
    disk.everything = False
    assert [listed.state for listed in vault.points()] == ["verified", "verified"]


def test_a_target_that_is_busy_for_a_while_is_asked_again(store: Locked, bucket: str) -> None:
    """Four attempts fail, then the manifest is read, then the chunk."""
    _, newer, key = two(store, bucket)
    disk = Disk({key}, times=4)
    vault = failing(store, bucket, disk)
    assert verify(vault.point(newer.id), (Shelf("runs"),), vault, silent).good
    assert disk.asked == 5


def test_a_version_that_can_be_read_takes_the_place_of_one_that_cannot(store: Locked, bucket: str) -> None:
    """The newest version fails each of its 8 attempts, the one below it is given."""
    _, newer, key = two(store, bucket)
    store.bucket(bucket, "writer").put(key, b"own", absent=False)
    vault = failing(store, bucket, Disk({key}, times=8))
    assert verify(vault.point(newer.id), (Shelf("runs"),), vault, silent).good


def test_a_manifest_that_is_not_given_hides_no_other_point(store: Locked, bucket: str) -> None:
    older, newer, _ = two(store, bucket)
    disk = Disk({manifest_key(newer.id)})
    vault = failing(store, bucket, disk)
    assert [(listed.id, listed.state) for listed in vault.points()] == [(older.id, "verified"), (newer.id, "damaged")]
    assert "InternalError (500)" in vault.points()[1].damage
    latest = vault.latest_verified().point
    assert latest is not None
    assert latest.id == older.id
    with pytest.raises(UnreadableError):
        vault.point(newer.id)
    disk.everything = True
    with pytest.raises(UnreadableError, match=r"InternalError \(500\)"):
        vault.points()


def test_where_nothing_else_was_read_there_is_no_verdict(store: Locked, bucket: str) -> None:
    file = store.vault(bucket).put("a", [b"alone"])
    vault = failing(store, bucket, Disk({chunk_key(file.chunks[0].sha256)}))
    with pytest.raises(RecoveryError) as caught:
        b"".join(vault.read(file))
    assert not isinstance(caught.value, DamagedError)
