"""Files of the queue on disk, see `buffer`."""

from __future__ import annotations

import json
import logging
import os
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_log = logging.getLogger(__name__)
_HEADER: Final = struct.Struct("<4sIII")
_MAGIC: Final = b"PBR1"
_SUFFIX: Final = ".seg"
_NEWLINE: Final = b"\n"


class Damaged(ValueError):  # what it says
    """There is no whole record here."""


@dataclass(frozen=True, order=True)
class Position:
    """A place in the queue. segment: from 1. offset: in bytes."""

    segment: int = 1
    offset: int = 0


@dataclass(frozen=True)
class Amount:
    """How much: rows, and bytes of their records."""

    events: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        """Both together."""
        return Amount(self.events + other.events, self.bytes + other.bytes)

    def __sub__(self, other: Amount) -> Amount:
        """What is left, never less than nothing."""
        return Amount(max(0, self.events - other.events), max(0, self.bytes - other.bytes))


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """What was found at start. head: first record not committed. tail: where to append. held: by segment."""

    head: Position
    tail: Position
    held: Mapping[int, Amount] = field(default_factory=dict)


def record(rows: Sequence[bytes]) -> bytes:
    """Rows, none of which holds a newline, as one record."""
    content = b"\n".join(rows)
    return _HEADER.pack(_MAGIC, len(content), _checksum(len(rows), content), len(rows)) + content


def _checksum(count: int, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(count.to_bytes(4, "little")))


class Writer:
    """The end of the last segment."""

    def __init__(self, path: Path, position: Position) -> None:
        """Append to the segment from this place on; what is behind it is cut off."""
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._descriptor, position.offset)
        os.fsync(self._descriptor)
        sync_directory(path.parent)
        self.position = position

    def append(self, data: bytes) -> None:
        """Return once the data is on disk. Raises OSError; then nothing of it is there."""
        begin = self.position.offset
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self._descriptor, memoryview(data)[written:], begin + written)
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, begin)
            raise
        self.position = Position(self.position.segment, begin + len(data))

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


@dataclass(frozen=True)
class Gap:
    """Bytes that are no record. end: where the next whole record begins, or the end of what may be read.

    lost: events as far as headers are still there to say it, as counted lines where they are not.
    torn: it is nothing but the begin of a record, as a crash leaves it that nobody was told about.
    """

    end: Position
    lost: Amount
    torn: bool


class Files:
    """One directory of segments."""

    def __init__(self, directory: Path) -> None:
        """Make the directory if missing."""
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._offset = directory / "offset.json"

    def recover(self) -> Recovered:
        """Look at what a former process left; remove what it had committed."""
        numbers = self._numbers()
        head = self._load_head(numbers)
        self._remove_before(head.segment)
        numbers = [number for number in numbers if number >= head.segment] or [head.segment]
        held: dict[int, Amount] = {}
        tail = head
        for number in numbers:
            last = number == numbers[-1]
            tail, held[number] = self._scan(Position(number, head.offset if number == head.segment else 0), last=last)
        return Recovered(head=head, tail=tail, held=held)

    def writer(self, tail: Position) -> Writer:
        """Append behind what is whole."""
        return Writer(self._path(tail.segment), tail)

    def next(self, writer: Writer) -> Writer:
        """Go on in a new segment."""
        following = self.writer(Position(writer.position.segment + 1, 0))
        writer.close()
        return following

    def end(self, segment: int, durable: Position) -> int:
        """Bytes of a segment that may be read. durable: the end of what is on disk."""
        if segment == durable.segment:
            return durable.offset
        path = self._path(segment)
        return path.stat().st_size if path.exists() else 0

    def read(self, position: Position) -> tuple[list[bytes], int]:
        """Rows of the record that begins here, and where it ends. Raises Damaged."""
        with self._path(position.segment).open("rb") as file:
            file.seek(position.offset)
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                raise Damaged(f"segment {position.segment} ends within a header")
            magic, length, checksum, count = _HEADER.unpack(header)
            content = file.read(length) if magic == _MAGIC else b""
        if magic != _MAGIC or len(content) != length or _checksum(count, content) != checksum:
            raise Damaged(f"segment {position.segment} is damaged at byte {position.offset}")
        return content.split(_NEWLINE), position.offset + _HEADER.size + length

    def gap(self, position: Position, end: int) -> Gap:
        """What is damaged from here on. end: bytes of the segment that may be read. Raises OSError."""
        with self._path(position.segment).open("rb") as file:
            file.seek(position.offset)
            content = file.read(end - position.offset)
        size = _next_record(content)
        lost, torn = _told(content, size)
        return Gap(
            Position(position.segment, position.offset + size), Amount(lost, size), torn and size == len(content)
        )

    def save_head(self, head: Position) -> None:
        """Remember what is committed, then remove segments that are done with. Raises OSError."""
        draft = self._offset.with_suffix(".new")
        with draft.open("w") as file:
            json.dump({"segment": head.segment, "offset": head.offset}, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._offset)
        sync_directory(self._directory)
        self._remove_before(head.segment)

    def _scan(self, position: Position, *, last: bool) -> tuple[Position, Amount]:
        """Where a segment ends, and what it holds, damage included: whoever reads it counts that."""
        path = self._path(position.segment)
        size = path.stat().st_size if path.exists() else position.offset
        amount = Amount()
        while position.offset < size:
            try:
                rows, end = self.read(position)
            except Damaged:
                gap = self.gap(position, size)
                if gap.torn and last:
                    _log.warning("segment %d ends in %d bytes of a record", position.segment, gap.lost.bytes)
                    break
                amount += gap.lost
                position = gap.end
                continue
            amount += Amount(len(rows), end - position.offset)
            position = Position(position.segment, end)
        return position, amount

    def _load_head(self, numbers: Sequence[int]) -> Position:
        first = Position(min(numbers, default=1), 0)
        try:
            stored = json.loads(self._offset.read_text())
            head = Position(int(stored["segment"]), int(stored["offset"]))
        except FileNotFoundError:
            return first
        except (ValueError, KeyError, TypeError):
            _log.error(
                "%s cannot be read; everything that is still there is delivered again", self._offset
            )  # the file's content is the cause
            return first
        return max(head, first)

    def _numbers(self) -> list[int]:
        return sorted(int(path.stem) for path in self._directory.glob(f"*{_SUFFIX}") if path.stem.isdigit())

    def _remove_before(self, segment: int) -> None:
        for number in self._numbers():
            if number < segment:
                self._path(number).unlink(missing_ok=True)

    def _path(self, segment: int) -> Path:
        return self._directory / f"{segment:08d}{_SUFFIX}"


def _next_record(content: bytes) -> int:
    """Where the first whole record behind the first byte begins; the length, if there is none."""
    start = content.find(_MAGIC, 1)
    while start >= 0:
        header = content[start : start + _HEADER.size]
        if len(header) == _HEADER.size:
            _, length, checksum, count = _HEADER.unpack(header)
            rows = content[start + _HEADER.size : start + _HEADER.size + length]
            # Rows may hold the magic too: the checksum tells.
            if len(rows) == length and _checksum(count, rows) == checksum:
                return start
        start = content.find(_MAGIC, start + 1)
    return len(content)


def _told(content: bytes, size: int) -> tuple[int, bool]:
    """Events in the first `size` bytes, which are damaged, and whether they are the begin of one record."""
    events = start = 0
    while start < size:
        header = content[start : min(start + _HEADER.size, size)]
        if len(header) < _HEADER.size:
            return events, start == 0
        magic, length, _, count = _HEADER.unpack(header)
        if magic != _MAGIC or not 0 < count <= length + 1:
            return events + content.count(_NEWLINE, start, size) + 1, False
        if start + _HEADER.size + length > size:
            return events + content.count(_NEWLINE, start + _HEADER.size, size) + 1, start == 0
        events += count
        start += _HEADER.size + length
    return events, False


def sync_directory(directory: Path) -> None:
    """Make names of new files survive a loss of power."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
