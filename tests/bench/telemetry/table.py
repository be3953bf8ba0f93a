"""The report for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.bench.telemetry.figures import LINES, RECORDS, SPANS, ratios
from tests.bench.telemetry.sides import AS_RENDERED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.telemetry.figures import Measured, Report

_WIDE: Final = 26
_SIGNALS: Final = (SPANS, RECORDS, LINES)


def table(report: Report) -> str:
    """All figures, those of the stack's configuration beside the others."""
    parts = (_head(report), *(_signal(report, signal) for signal in _SIGNALS), _ratios(report))
    return "\n".join(line for part in parts for line in part)


def _head(report: Report) -> Iterator[str]:
    before, after = report.load
    limits = ", ".join(f"{name} {size / 2**20:.0f} MiB" for name, size in report.memory.items())
    yield f"\n  collectors beside the same program without processors, {report.cores} cores; {report.seconds:.0f} s"
    yield f"  load average {before:.1f} before, {after:.1f} after; containers may have: {limits}"
    yield "  CPU s: of the collector until all was delivered; MiB: its largest resident memory; kept: at the sink"
    yield "  median, p99: seconds from sending to arrival at a fixed rate; of spans, until traces with errors are whole"
    yield f"  and as rendered less the {report.wait} s that sampling waits by its configuration"


def _signal(report: Report, signal: str) -> Iterator[str]:
    found = [one for one in report.measured if one.signal == signal]
    for name in {one.collector: None for one in found}:
        yield f"\n  {name}: {signal}"
    columns = f"{'sent':>8} {'per s':>8} {'per CPU s':>10} {'CPU s':>7} {'MiB':>6} {'refused':>8} {'kept':>8}"
    yield f"  {'':<{_WIDE}} {columns} {'median, s':>10} {'p99, s':>8}"
    for one in found:
        yield _row(one)


def _row(one: Measured) -> str:
    fast, slow = one.throughput, one.latency
    rates = f"{fast.count:>8} {fast.per_second:>8.0f} {fast.per_cpu_second:>10.0f} {fast.cpu:>7.1f} {fast.peak:>6.0f}"
    counts = f"{fast.refused:>8} {fast.kept:>8}"
    return f"  {one.side:<{_WIDE}} {rates} {counts} {slow.median:>10.3f} {slow.p99:>8.3f}"


def _ratios(report: Report) -> Iterator[str]:
    yield f"\n  {f'{AS_RENDERED} / beside':<40} {'per s':>8} {'per CPU s':>10} {'MiB':>6} {'median':>12} {'p99':>12}"
    for one in ratios(report, AS_RENDERED):
        what = f"{one.signal} / {one.beside}"
        rates = f"{one.per_second:>8.2f} {one.per_cpu_second:>10.2f} {one.peak:>6.2f}"
        yield f"  {what:<40} {rates} {one.added_median:>+10.3f} s {one.added_p99:>+10.3f} s"
