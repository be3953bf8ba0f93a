"""Which chunks are needed, held in files: the same as a dictionary would say, in whatever order it is asked."""

from __future__ import annotations

import hashlib
import os
import resource
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.vault import needed
from recovery.vault.needed import needed_in

if TYPE_CHECKING:
    from pathlib import Path


def digest(number: int) -> bytes:
    return hashlib.sha256(b"%d" % number).digest()


@pytest.mark.parametrize("few", [1, 3, 50_000])
def test_newest_point_counts_and_points_share_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """Three points of 2000 chunks, the first half of which is in the point before. few: rows that are looked at."""
    monkeypatch.setattr(needed, "_FEW", few)
    expected = dict[bytes, float]()
    with needed_in(tmp_path) as found:
        for point in range(3):
            for number in range(1000 * point, 1000 * point + 2000):
                found.add(digest(number), 100.5 + point)
                expected[digest(number)] = 100.5 + point
        assert found.began(digest(0)) == 100.5
        found.add(digest(0), 200.0)
        expected[digest(0)] = 200.0
        assert found.count() == len(expected) == 4000
        for numbers in (sorted(range(4000), key=digest), range(4000)):
            assert [found.began(digest(number)) for number in numbers] == [
                expected[digest(number)] for number in numbers
            ]
        assert [found.began(digest(number)) for number in range(4000, 4100)] == [None] * 100
        assert found.count() == 4000
    assert list(tmp_path.iterdir()) == []


def test_neither_end_of_the_hashes_is_lost(tmp_path: Path) -> None:
    with needed_in(tmp_path) as found:
        ends = [bytes(32), b"\xff" * 32, b"\x03" + b"\xff" * 31, b"\x04" + bytes(31)]
        for began, end in enumerate(ends):
            found.add(end, began)
        assert found.count() == 4
        assert [found.began(end) for end in ends] == [0, 1, 2, 3]
        assert found.began(bytes(31) + b"\x01") is None


def test_memory_does_not_grow_with_the_chunks(tmp_path: Path) -> None:
    """100 000 of them take 15 MB in a dictionary."""
    with needed_in(tmp_path) as found:
        tracemalloc.start()
        try:
            for _ in range(100_000):
                found.add(os.urandom(32), 1.0)
            assert found.count() == 100_000
            found.began(bytes(32))
            assert tracemalloc.get_traced_memory()[1] < 5 * 2**20
        finally:
            tracemalloc.stop()


def test_a_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecoveryError, match=r"no chunk is deleted; .*then run again"), needed_in(tmp_path / "none"):
        pass


def test_no_room_is_told(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(RecoveryError, match=r"cannot be kept in .* \(File too large\)"):
            _fill(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def _fill(directory: Path) -> None:
    with needed_in(directory) as found:
        for number in range(200_000):
            found.add(digest(number), 1.0)
