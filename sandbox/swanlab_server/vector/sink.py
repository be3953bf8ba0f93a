"""From one queue into one table, until it is there."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final, Protocol

from sandbox.swanlab_server.clickhouse_client import ClickHouseError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.swanlab_server.tables import Table
    from sandbox.swanlab_server.vector.buffer import Batch, Buffer
    from sandbox.swanlab_server.vector.telemetry import Counters

_log = logging.getLogger(__name__)
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 10.0
_SHOWN: Final = 300
"""Characters of a discarded row that are logged."""


class Target(Protocol):
    """Where rows go, see `clickhouse_client.Client.insert`."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[bytes]) -> None:
        """All rows or, when one cannot be read, none."""
        ...


class _Stopped(Exception):  # what it says
    """The process ends; what is not committed stays in the queue."""


class Sink(threading.Thread):
    """Delivers batches in the order of the queue. flush_seconds, flush_events: what comes first ends a batch."""

    def __init__(
        self,
        name: str,
        table: Table,
        buffer: Buffer,
        target: Target,
        counters: Counters,
        *,
        flush_seconds: float,
        flush_events: int,
    ) -> None:
        """name: id of the component in metrics."""
        super().__init__(name=name, daemon=True)
        self.buffer = buffer
        self.counters = counters
        self._table = table
        self._target = target
        self._flush_seconds = flush_seconds
        self._flush_events = flush_events
        self._told = threading.Event()

    def run(self) -> None:
        """Until told to stop."""
        while not self._told.is_set():
            try:
                if self.buffer.wait(self._flush_events, self._flush_seconds, self._told):
                    self._pass_on()
            except _Stopped:
                return
            except OSError as error:
                # The buffer's own disk: nothing is lost by trying again, and a dead sink would block for good.
                self.counters.error("reader_failed", "processing")
                _log.error("%s: cannot read or advance the buffer: %s", self.name, error)  # every pass
                self._told.wait(_FIRST_PAUSE)

    def stop(self) -> None:
        """End after the request that is under way."""
        self._told.set()
        self.buffer.wake()

    def _pass_on(self) -> None:
        batch = self.buffer.read(self._flush_events)
        self.counters.received(len(batch.rows))
        self._deliver(batch)
        self.buffer.commit(batch)

    def _deliver(self, batch: Batch) -> None:
        parts = [batch.rows] if batch.rows else []
        while parts:
            rows = parts.pop()
            refusal = self._insert(rows)
            if refusal is None:
                self.counters.sent(len(rows), sum(map(len, rows)))
            elif len(rows) == 1:
                self.counters.discarded(1)
                self.counters.error("request_failed", "sending")
                _log.error("%s: a row is discarded, %s: %s", self.name, refusal, rows[0][:_SHOWN])
            else:
                middle = len(rows) // 2
                parts += (rows[middle:], rows[:middle])

    def _insert(self, rows: list[bytes]) -> ClickHouseError | None:
        """None when the rows are stored, the refusal when ClickHouse cannot read one of them. Tries for ever."""
        pause = _FIRST_PAUSE
        while True:
            try:
                self._target.insert(self._table.name, list(self._table.columns), rows)
            except ClickHouseError as error:
                if error.bad_rows:
                    return error
                failure: OSError = error
            except Unavailable as error:
                failure = error
            else:
                return None
            self.counters.error("request_failed", "sending")
            _log.warning("%s: %d rows wait, next try in %.0f s: %s", self.name, len(rows), pause, failure)
            if self._told.wait(pause):
                raise _Stopped
            pause = min(2 * pause, _LONGEST_PAUSE)
