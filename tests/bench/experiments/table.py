"""The report for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.experiments.figures import Report, Stored


def table(report: Report) -> str:
    """All figures, SwanLab's beside those of its stores. Ratios are SwanLab's figure by the store's."""
    parts = (_head(report), _points(report), _beside(report), _phases(report))
    return "\n".join(line for part in parts for line in part)


def _head(report: Report) -> Iterator[str]:
    before, after = report.load
    yield f"\n  SwanLab beside its stores, {report.cores} cores; load average {before:.1f} before, {after:.1f} after"


def _points(report: Report) -> Iterator[str]:
    columns = f"{'points':>8} {'intact':>8} {'sent, s':>8} {'taken/s':>9} {'readable':>10} {'end to end/s':>13}"
    yield f"\n  {'':<44} {columns}"
    yield from (_stored(way) for way in (report.sdk, report.raw))
    own = report.sender
    yield f"  (of the SDK's time, calls of log() took {own.calls:.1f} s; its process computed for {own.computed:.1f} s)"


def _stored(way: Stored) -> str:
    times = f"{way.sending:>8.1f} {way.taken:>9.0f} {f'+{way.lag:.1f} s':>10} {way.end_to_end:>13.0f}"
    return f"  {way.name:<44} {way.acknowledged:>8} {way.intact:>8} {times}"


def _beside(report: Report) -> Iterator[str]:
    yield f"\n  {'':<44} {'SwanLab':>9} {'store':>9} {'ratio':>7}"
    one, many, side = report.inserted.one.per_second, report.inserted.many.per_second, f"{report.threads} threads"
    yield _row("points taken/s by SDK; INSERT, rows/s", report.sdk.taken, one, ".0f")
    yield _row(f"points taken/s, {side}; INSERT, rows/s", report.raw.taken, many, ".0f")
    yield _row(f"points end to end/s, {side}; INSERT, rows/s", report.raw.end_to_end, many, ".0f")
    for name, both in (
        (f"{report.series} points as CSV; SELECT", report.export),
        ("summaries of the run; SELECT", report.summaries),
        (f"object of {report.media.size // 1024} KiB; GET", report.media.latency),
    ):
        for label, share in (("p50", 0.5), ("p95", 0.95)):
            yield _row(f"{name}, {label} ms", both.ours.at(share), both.store.at(share), ".1f")
    for name, (ours, store) in (("PUT", report.media.put), ("GET", report.media.get)):
        yield _row(f"objects/s, {side}; {name}", ours.per_second, store.per_second, ".0f")


def _row(name: str, ours: float, store: float, form: str) -> str:
    ratio = f"{ours / store:>7.2f}" if store else f"{'none':>7}"
    return f"  {name:<44} {ours:>9{form}} {store:>9{form}} {ratio}"


def _phases(report: Report) -> Iterator[str]:
    yield f"\n  {'':<44} {'seconds':>9} {'cores busy':>10}"
    for phase in report.phases:
        yield f"  {phase.name:<44} {phase.seconds:>9.1f} {phase.busy:>10.0%}"
    yield f"  {'all of it':<44} {sum(phase.seconds for phase in report.phases):>9.1f}"
