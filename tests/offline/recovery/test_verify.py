"""A verification is good only if every part was restored or read, and every figure was equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.create import create
from recovery.errors import DamagedError, RecoveryError
from recovery.model import File, Part
from recovery.verify import files, read_back, verify
from tests.offline.recovery.examples import config
from tests.offline.recovery.shelves import Shelf
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from pydantic import JsonValue

    from recovery.model import Point
    from recovery.ports import Reader

LIVE = (Shelf("runs", {"a": "one", "b": "two"}), Shelf("points", {"c": "three"}))


def silent(line: str) -> None:
    """Nobody listens."""
    del line


@pytest.fixture
def vault() -> Memory:
    """An empty vault."""
    return Memory()


@pytest.fixture
def point(vault: Memory) -> Point:
    """A point of both stores."""
    return create(config(), LIVE, vault, lambda _: None, mode="online", quiet=None, tell=silent).point


def damaged(vault: Memory, content: bytes) -> None:
    """Alter the one chunk that holds this."""
    (key,) = (key for key, value in vault.kept.items() if value == content)
    vault.kept[key] = content[:-1] + b"?"


def test_every_part_is_restored_and_compared(point: Point, vault: Memory) -> None:
    scratch = (Shelf("runs"), Shelf("points"))
    found = verify(point, scratch, vault, silent)
    assert found.good
    assert found.figures == {"runs": {"texts": 2}, "points": {"texts": 1}, "between stores": {"checked": False}}
    assert scratch[0].beside == LIVE[0].held


def test_part_without_a_scratch_store_is_read_back(point: Point, vault: Memory) -> None:
    found = verify(point, (Shelf("runs"),), vault, silent)
    assert found.good
    assert found.figures["points"] == {"read_back": True, "bytes": len("three")}


def test_damage_of_a_part_that_is_read_back_is_seen(point: Point, vault: Memory) -> None:
    damaged(vault, b"three")
    found = verify(point, (Shelf("runs"),), vault, silent)
    assert [line for line in found.differences if line.startswith("points: c: chunk 1 of 1")] == list(found.differences)
    assert len(found.differences) == 1


def test_damage_of_one_part_does_not_hide_that_of_another(point: Point, vault: Memory) -> None:
    damaged(vault, b"one")
    damaged(vault, b"three")
    found = verify(point, (Shelf("runs"), Shelf("points")), vault, silent)
    assert [line.partition(":")[0] for line in found.differences] == ["runs", "points"]


def test_missing_chunk_is_a_difference(point: Point, vault: Memory) -> None:
    vault.kept.clear()
    assert len(verify(point, (), vault, silent).differences) == 2


def test_figure_that_differs_is_a_difference(point: Point, vault: Memory) -> None:
    class Losing(Shelf):
        def restore(self, part: Part, reader: Reader, tell: object) -> None:
            del part, reader, tell
            self.beside = {"a": "one"}

    found = verify(point, (Losing("runs"),), vault, silent)
    assert found.differences == ("runs: 1 texts instead of 2",)


def test_scratch_store_that_fails_is_no_verdict(point: Point, vault: Memory) -> None:
    with pytest.raises(RecoveryError, match="restore of runs fails"):
        verify(point, (Shelf("runs", fails={"restore"}),), vault, silent)


def test_differences_between_stores_count(point: Point, vault: Memory) -> None:
    def cross(_: Point, __: Reader) -> tuple[tuple[str, ...], dict[str, JsonValue]]:
        return ("2 runs without points",), {"runs": 2}

    found = verify(point, (Shelf("runs"), Shelf("points")), vault, silent, cross)
    assert found.differences == ("between stores: 2 runs without points",)
    assert found.figures["between stores"] == {"runs": 2}


def test_files_of_an_index_are_read_too(vault: Memory) -> None:
    inner = vault.put("object", [b"content"])
    index = vault.put("index", [inner.model_dump_json().encode(), b"\n"])
    part = Part(store="s", kind="objects", version="1", index=index)
    assert [file.path for file in files(part, vault)] == ["index", "object"]
    damaged(vault, b"content")
    with pytest.raises(DamagedError, match="object: chunk 1 of 1"):
        read_back(part, vault)


def test_index_that_is_none_is_damage(vault: Memory) -> None:
    part = Part(store="s", kind="objects", version="1", index=vault.put("index", [b'{"path": "x"}\n']))
    with pytest.raises(DamagedError, match="index: a line of it is no entry"):
        read_back(part, vault)


def test_whole_that_is_shorter_than_the_manifest_says_is_damage(vault: Memory) -> None:
    file = vault.put("dump", [b"0123456789"])
    longer = File(path="dump", size=11, sha256=file.sha256, chunks=file.chunks)
    with pytest.raises(DamagedError, match="its chunks make 10 bytes, the manifest says 11"):
        read_back(Part(store="s", kind="k", version="1", files=(longer,)), vault)
