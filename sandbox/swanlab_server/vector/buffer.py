"""A queue on disk: what was appended is there after SIGKILL, and leaves only when it was committed.

Layout of the directory: segments `00000001.seg`, `00000002.seg`, … of records, and `offset.json`, which says where
the first record begins that was not committed. A record is magic, length, CRC-32, count of events, rows. Segments are
appended to and synced; the offset is replaced as a whole. So a crash leaves at worst a torn record at the end of the
last segment, which nobody was told about, and rows that are delivered a second time.

What is damaged otherwise costs the records that it hit: reading goes on at the next whole one.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server.vector import segments
from sandbox.swanlab_server.vector.segments import Amount, Gap, Position

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_log = logging.getLogger(__name__)
_ROWS_OF_RECORD: Final = 1000
_LARGEST_SEGMENT: Final = 64 * 1024**2
_SMALLEST_SEGMENT: Final = 64 * 1024


class Full(Exception):  # what it says
    """No room within the time that a caller would wait."""


@dataclass(frozen=True)
class Batch:
    """Rows from the head of the queue. end: where the next record begins. amounts: segment → what of it is here.

    gaps: damage between the rows.
    """

    rows: list[bytes]
    end: Position
    amounts: dict[int, Amount]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, kw_only=True)
class Totals:
    """held: not committed. received, sent: since the start. errors, lost: damage passed since the start."""

    held: Amount
    received: Amount
    sent: Amount
    errors: int
    lost: Amount


@dataclass
class _State:
    held: dict[int, Amount] = field(default_factory=dict)
    received: Amount = field(default_factory=Amount)
    sent: Amount = field(default_factory=Amount)
    reserved: int = 0
    errors: int = 0
    lost: Amount = field(default_factory=Amount)
    durable: Position = field(default_factory=Position)


class Buffer:
    """One queue. Any thread may append; one thread waits, reads and commits."""

    def __init__(self, directory: Path, max_bytes: int) -> None:
        """Open or make the queue. max_bytes: of records not committed. Raises OSError."""
        self.max_bytes = max_bytes
        self._segment_bytes = max(_SMALLEST_SEGMENT, min(_LARGEST_SEGMENT, max_bytes // 8))
        self._files = segments.Files(directory)
        recovered = self._files.recover()
        self._head = recovered.head
        self._writer = self._files.writer(recovered.tail)
        self._state = _State(held=dict(recovered.held), durable=self._writer.position)
        self._changed = threading.Condition()
        self._writing = threading.Lock()

    def append(self, rows: Sequence[bytes], patience: float) -> None:
        """Return once the rows are on disk. patience: seconds to wait for room. Raises Full, OSError."""
        records = [
            segments.record(rows[start : start + _ROWS_OF_RECORD]) for start in range(0, len(rows), _ROWS_OF_RECORD)
        ]
        size = sum(map(len, records))
        self._reserve(size, patience)
        try:
            with self._writing:
                if self._writer.position.offset >= self._segment_bytes:
                    self._writer = self._files.next(self._writer)
                self._writer.append(b"".join(records))
                self._appended(Amount(len(rows), size))
        finally:
            with self._changed:
                self._state.reserved -= size
                self._changed.notify_all()

    def _reserve(self, size: int, patience: float) -> None:
        with self._changed:
            room = self._changed.wait_for(
                lambda: self._held().bytes + self._state.reserved + size <= self.max_bytes, patience
            )
            if not room:
                raise Full(f"{self._held().bytes} of {self.max_bytes} bytes are taken, {size} more have no room")
            self._state.reserved += size

    def _appended(self, amount: Amount) -> None:
        with self._changed:
            position = self._writer.position
            self._state.held[position.segment] = self._state.held.get(position.segment, Amount()) + amount
            self._state.received += amount
            self._state.durable = position
            self._changed.notify_all()

    def wait(self, events: int, seconds: float, stop: threading.Event) -> bool:
        """Wait for that many events, or for that many seconds after the first. Whether there is anything to read."""
        with self._changed:
            # By place, not by figures: where a header is damaged, those of its segment are an estimate.
            if not self._changed.wait_for(lambda: self._waiting() or stop.is_set(), timeout=1.0):
                return False
            until = time.monotonic() + seconds
            while self._held().events < events and not stop.is_set() and (left := until - time.monotonic()) > 0:
                self._changed.wait(min(left, 1.0))
            return self._waiting()

    def read(self, events: int) -> Batch:
        """About so many events from the head, at least one record or gap if there is one. Raises OSError."""
        with self._changed:
            durable = self._state.durable
        rows: list[bytes] = []
        amounts: dict[int, Amount] = {}
        gaps: list[Gap] = []
        position = self._head
        while position != durable and len(rows) < events:
            limit = self._files.end(position.segment, durable)
            if position.offset >= limit:
                position = Position(position.segment + 1, 0)
                continue
            try:
                found, end = self._files.read(position)
            except segments.Damaged:
                gaps.append(self._files.gap(position, limit))
                position = gaps[-1].end
                continue
            amount = Amount(len(found), end - position.offset)
            amounts[position.segment] = amounts.get(position.segment, Amount()) + amount
            rows += found
            position = Position(position.segment, end)
        return Batch(rows, position, amounts, tuple(gaps))

    def commit(self, batch: Batch) -> None:
        """Forget what was read. Raises OSError; then it is still there."""
        self._files.save_head(batch.end)
        self._head = batch.end
        with self._changed:
            for segment, amount in batch.amounts.items():
                self._state.held[segment] = self._state.held.get(segment, amount) - amount
                self._state.sent += amount
            for gap in batch.gaps:
                self._pass(gap)
            for segment in [segment for segment in self._state.held if segment < batch.end.segment]:
                del self._state.held[segment]
            if batch.end == self._state.durable:
                self._state.held.clear()
            self._changed.notify_all()

    def totals(self) -> Totals:
        """Figures as they are now."""
        with self._changed:
            state = self._state
            return Totals(
                held=self._held(), received=state.received, sent=state.sent, errors=state.errors, lost=state.lost
            )

    def wake(self) -> None:
        """Let whoever waits look again."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Close the files; nobody may append any more."""
        with self._writing:
            self._writer.close()

    def _held(self) -> Amount:
        return sum(self._state.held.values(), Amount())

    def _waiting(self) -> bool:
        return self._head != self._state.durable

    def _pass(self, gap: Gap) -> None:
        segment, lost = gap.end.segment, gap.lost
        self._state.held[segment] = self._state.held.get(segment, lost) - lost
        self._state.lost += lost
        self._state.errors += 1
        _log.error(
            "segment %d was damaged up to byte %d: %d bytes with about %d events are lost; look at the volume's disk",
            segment,
            gap.end.offset,
            lost.bytes,
            lost.events,
        )
