"""What makes the figures worthless. Times are never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.bench.telemetry.figures import Report


def problems(report: Report) -> list[str]:
    """One line for each reason; empty when all that was sent is accounted for."""
    return [
        f"{one.collector}, {one.side}: {what}: {line}"
        for one in report.measured
        for what, lines in (
            (one.signal, one.throughput.problems),
            (f"{one.signal} at a fixed rate", one.latency.problems),
        )
        for line in lines
    ]
