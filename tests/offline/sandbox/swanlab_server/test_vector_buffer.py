"""The queue on disk: what was appended stays until it was committed, whatever happens to the process."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

import pytest

from sandbox.swanlab_server.vector.buffer import Buffer, Full

if TYPE_CHECKING:
    from pathlib import Path

_LARGE = 2**30
_NOW = 0.0


def _rows(start: int, end: int) -> list[bytes]:
    return [b'{"n":%d}' % number for number in range(start, end)]


def _last_segment(directory: Path) -> Path:
    return max(directory.glob("*.seg"))


def test_rows_come_in_their_order_and_leave_when_committed(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append(_rows(0, 2500), _NOW)
    first = buffer.read(1500)
    assert first.rows == _rows(0, 2000), "whole records of at most 1000 rows"
    assert buffer.totals().held.events == 2500
    buffer.commit(first)
    assert buffer.totals().held.events == 500
    second = buffer.read(1500)
    assert second.rows == _rows(2000, 2500)
    buffer.commit(second)
    totals = buffer.totals()
    assert (totals.held.events, totals.held.bytes) == (0, 0)
    assert (totals.received, totals.sent.events) == (totals.sent, 2500)


def test_another_process_goes_on_where_the_last_commit_was(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append(_rows(0, 1000), _NOW)
    buffer.append(_rows(1000, 1010), _NOW)
    buffer.commit(buffer.read(1))
    again = Buffer(tmp_path, _LARGE)  # nothing was closed: as after SIGKILL
    assert again.totals().held.events == 10
    assert again.read(100).rows == _rows(1000, 1010)


@pytest.mark.parametrize("cut", [1, 15, 16, 20])
def test_a_torn_record_at_the_end_is_cut_off(tmp_path: Path, cut: int) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append(_rows(0, 3), _NOW)
    whole = _last_segment(tmp_path).read_bytes()
    buffer.append(_rows(3, 6), _NOW)
    torn = _last_segment(tmp_path).read_bytes()[: len(whole) + cut]
    _last_segment(tmp_path).write_bytes(torn)
    again = Buffer(tmp_path, _LARGE)
    again.append(_rows(6, 8), _NOW)
    assert again.read(100).rows == [*_rows(0, 3), *_rows(6, 8)]
    assert _last_segment(tmp_path).read_bytes().startswith(whole)


def _damage(path: Path, *places: int) -> None:
    content = bytearray(path.read_bytes())
    for place in places:
        content[place] ^= 0x41
    path.write_bytes(content)


_RECORD = 16 + 23
"""Bytes of a record of three rows `{"n":1}`: magic, length, checksum and count of four bytes each, then the rows."""


@pytest.mark.parametrize("again", [False, True], ids=["running", "started again"])
@pytest.mark.parametrize("place", [0, 4, 7, 8, 12, 20], ids=["magic", "length", "huge", "checksum", "count", "rows"])
@pytest.mark.parametrize("number", [0, 1, 2], ids=["first", "middle", "last but one"])
def test_a_damaged_record_costs_only_itself_and_is_counted(
    tmp_path: Path, number: int, place: int, caplog: pytest.LogCaptureFixture, *, again: bool
) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    for start in range(0, 12, 3):
        buffer.append([b'{"n":%d}' % (row % 10) for row in range(start, start + 3)], _NOW)
    _damage(_last_segment(tmp_path), number * _RECORD + place)
    if again:
        buffer = Buffer(tmp_path, _LARGE)
    whole = [b'{"n":%d}' % (row % 10) for row in range(12) if row // 3 != number]
    assert buffer.read(100).rows == whole
    batch = buffer.read(100)
    assert (batch.rows, buffer.totals().errors) == (whole, 0), "counted when it is passed, not when it is read"
    buffer.commit(batch)
    totals = buffer.totals()
    assert (totals.held.events, totals.sent.events, totals.errors) == (0, 9, 1)
    assert (totals.lost.events, totals.lost.bytes) == (3, _RECORD)
    assert f"{_RECORD} bytes with about 3 events are lost" in caplog.text
    buffer.append([b"next"], _NOW)
    assert buffer.read(100).rows == [b"next"]


def test_damage_at_the_end_is_counted_and_what_comes_after_it_is_kept(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append(_rows(0, 3), _NOW)
    buffer.append(_rows(3, 6), _NOW)
    _damage(_last_segment(tmp_path), 2 * _RECORD - 1)
    again = Buffer(tmp_path, _LARGE)
    again.append(_rows(6, 9), _NOW)
    batch = again.read(100)
    assert batch.rows == [*_rows(0, 3), *_rows(6, 9)]
    again.commit(batch)
    assert (again.totals().errors, again.totals().lost.events, again.totals().held.events) == (1, 3, 0)


def test_rows_that_look_like_a_record_are_none(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append([b"PBR1PBR1" * 9, b"PBR1"], _NOW)
    buffer.append(_rows(0, 3), _NOW)
    _damage(_last_segment(tmp_path), 0)
    assert buffer.read(100).rows == _rows(0, 3)


def test_a_buffer_of_nothing_but_damage_is_passed(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append(_rows(0, 3), _NOW)
    _damage(_last_segment(tmp_path), 0, 20)
    told = threading.Event()
    assert buffer.wait(1, _NOW, told)
    buffer.commit(buffer.read(100))
    told.set()
    assert not buffer.wait(1, _NOW, told), "nothing is left to read"
    assert buffer.totals().errors == 1


def test_a_segment_that_is_damaged_to_its_end_does_not_hold_up_the_next(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, 8 * 64 * 1024)  # the smallest segments: 64 KiB
    for number in range(3):
        buffer.append([b"%d" % number * 70_000], _NOW)
    first, *_ = sorted(tmp_path.glob("*.seg"))
    first.write_bytes(first.read_bytes()[:100])
    batch = Buffer(tmp_path, 8 * 64 * 1024).read(100)
    assert batch.rows == [b"1" * 70_000, b"2" * 70_000]
    assert [gap.lost.events for gap in batch.gaps] == [1]


def test_segments_go_when_they_are_done_with(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, 8 * 64 * 1024)
    for _ in range(4):
        buffer.append([b"x" * 70_000], _NOW)
    assert len(list(tmp_path.glob("*.seg"))) == 4
    buffer.commit(buffer.read(3))
    assert [path.name for path in sorted(tmp_path.glob("*.seg"))] == ["00000003.seg", "00000004.seg"]


def test_an_unreadable_offset_delivers_again_rather_than_nothing(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append(_rows(0, 3), _NOW)
    buffer.commit(buffer.read(1))
    offset = tmp_path / "offset.json"
    assert json.loads(offset.read_text())["segment"] == 1
    offset.write_text("{")
    assert Buffer(tmp_path, _LARGE).read(100).rows == _rows(0, 3)


def test_full_means_wait_then_no(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path, 300)
    buffer.append([b"x" * 200], _NOW)
    with pytest.raises(Full, match="216 of 300 bytes are taken"):
        buffer.append([b"y" * 200], _NOW)
    waiting = threading.Thread(target=buffer.append, args=([b"y" * 200], 60.0))
    waiting.start()
    buffer.commit(buffer.read(1))
    waiting.join()
    assert buffer.read(1).rows == [b"y" * 200]


def test_a_failing_disk_is_told_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = Buffer(tmp_path, _LARGE)
    buffer.append(_rows(0, 2), _NOW)
    before = _last_segment(tmp_path).read_bytes()

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            buffer.append(_rows(2, 4), _NOW)
    assert _last_segment(tmp_path).read_bytes() == before
    buffer.append(_rows(4, 6), _NOW)
    assert buffer.read(100).rows == [*_rows(0, 2), *_rows(4, 6)]
    assert buffer.totals().received.events == 4
