"""How much the bench of telemetry measures with, and what that needs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.bench.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SPANS, RECORDS, LINES = "BENCH_SPANS", "BENCH_RECORDS", "BENCH_LINES"
SPANS_OF_A_TRACE: Final = 20
_BYTES: Final = 4_000
"""Of a span, record or line on the disk at most: its file or queue, the queue's free pages, and room."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """spans, records, lines: sent as fast as each side takes them, the first two for `longest` seconds at most.

    seconds: at a fixed rate, for latency. senders: connections at a time. ticks: sends per second at the fixed rate,
    each of one trace and `tick_records` log records, or as many lines. wait, scrape: seconds of tail sampling and
    between scrapes, None as the stack has them. patience: seconds after which what has not arrived counts as lost.
    """

    spans: int = 200_000
    records: int = 200_000
    lines: int = 100_000
    longest: float = 20.0
    seconds: float = 15.0
    senders: int = 4
    ticks: int = 20
    tick_records: int = 5
    wait: int | None = None
    scrape: int | None = None
    patience: float = 60.0

    @property
    def traces(self) -> int:
        """Whole ones."""
        return max(1, self.spans // SPANS_OF_A_TRACE)

    @property
    def room(self) -> int:
        """Bytes that must be free on the disk."""
        return (self.spans + self.records + self.lines) * _BYTES


def plan(environment: Mapping[str, str]) -> Plan:
    """What BENCH_SPANS, BENCH_RECORDS and BENCH_LINES ask for. Raises BenchError."""
    return Plan(
        spans=_number(environment, SPANS, Plan.spans),
        records=_number(environment, RECORDS, Plan.records),
        lines=_number(environment, LINES, Plan.lines),
    )


def check_room(found: Plan, directory: Path) -> None:
    """Raises BenchError unless the bench fits. directory: where its files will be."""
    free = shutil.disk_usage(directory).free
    if free < found.room:
        raise BenchError(
            f"{directory} has {free / 1e9:.1f} GB free, the bench needs {found.room / 1e9:.1f} GB; free some, or set "
            f"TMPDIR to a directory on a larger disk, or ask for less with {SPANS}, {RECORDS} and {LINES}"
        )


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and SPANS_OF_A_TRACE <= int(text) <= 10**7):
        raise BenchError(f"{name} is {text!r}; accepted is a number from {SPANS_OF_A_TRACE} to 10000000")
    return int(text)
