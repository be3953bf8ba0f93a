"""Delivery: bad rows alone are discarded, everything else is tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.swanlab_server import tables
from sandbox.swanlab_server.clickhouse_client import ClickHouseError, Unavailable
from sandbox.swanlab_server.vector import sink as sink_module
from sandbox.swanlab_server.vector.buffer import Buffer
from sandbox.swanlab_server.vector.sink import Sink
from sandbox.swanlab_server.vector.telemetry import Component, Counters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Store:
    """Refuses inserts with a bad row, and fails first as often as it is told."""

    def __init__(self, failures: Sequence[OSError] = ()) -> None:
        self.failures = list(failures)
        self.rows: list[bytes] = []
        self.asked = 0
        self.sink: Sink | None = None

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[bytes]) -> None:
        assert table == "scalar"
        assert list(columns) == list(tables.SCALAR.columns)
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        if b"bad" in rows:
            raise ClickHouseError(400, 27, "Code: 27. DB::Exception: Cannot parse input")
        self.rows += rows


def _run(directory: Path, store: Store, rows: list[bytes]) -> tuple[Buffer, Sink]:
    buffer = Buffer(directory, 2**20)
    buffer.append(rows, 0.0)
    counters = Counters(Component("clickhouse_scalar", "sink", "clickhouse"))
    sink = Sink("clickhouse_scalar", tables.SCALAR, buffer, store, counters, flush_seconds=0.01, flush_events=10_000)
    sink.start()
    while buffer.totals().held.events:
        sink.join(0.01)
    sink.stop()
    sink.join()
    return buffer, sink


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "_FIRST_PAUSE", 0.001)


def test_one_bad_row_costs_that_row(tmp_path: Path) -> None:
    rows = [b"%d" % number for number in range(1000)]
    rows[371] = b"bad"
    store = Store()
    _, sink = _run(tmp_path, store, rows)
    totals, errors = sink.counters.totals()
    assert store.rows == [row for row in rows if row != b"bad"]
    assert (totals["received"], totals["sent"], totals["lost"]) == (1000, 999, 1)
    assert errors == {("request_failed", "sending"): 1}
    assert store.asked <= 2 * 10 + 1, "halved ten times, not asked row by row"


@pytest.mark.parametrize(
    "failure",
    [
        Unavailable("refused"),
        ClickHouseError(403, 516, "Code: 516. DB::Exception: Authentication failed"),
        ClickHouseError(404, 60, "Code: 60. DB::Exception: Unknown table"),
        ClickHouseError(500, 241, "Code: 241. DB::Exception: Memory limit exceeded"),
        ClickHouseError(502, 0, "<html>"),
    ],
)
def test_whatever_says_nothing_about_rows_is_tried_again(tmp_path: Path, failure: OSError) -> None:
    store = Store([failure, failure])
    _, sink = _run(tmp_path, store, [b"1", b"2"])
    totals, errors = sink.counters.totals()
    assert (store.rows, totals["lost"], store.asked) == ([b"1", b"2"], 0, 3)
    assert errors == {("request_failed", "sending"): 2}


def test_what_is_not_delivered_when_it_stops_stays(tmp_path: Path) -> None:
    class Away(Store):
        def insert(self, table: str, columns: Sequence[str], rows: Sequence[bytes]) -> None:
            if self.sink is not None:
                self.sink.stop()
            super().insert(table, columns, rows)

    store = Away([Unavailable("refused")])
    buffer = Buffer(tmp_path, 2**20)
    counters = Counters(Component("clickhouse_scalar", "sink", "clickhouse"))
    store.sink = Sink("s", tables.SCALAR, buffer, store, counters, flush_seconds=0.01, flush_events=1)
    buffer.append([b"1"], 0.0)
    store.sink.start()
    store.sink.join()
    assert Buffer(tmp_path, 2**20).read(10).rows == [b"1"]
