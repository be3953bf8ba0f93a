"""The report for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.recovery.figures import ratios

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.recovery.figures import Measured, Report, Step

_WIDE, _NAMED = 40, 78


def table(report: Report) -> str:
    """All figures, the program's beside those of the raw tools."""
    parts = (_head(report), *(_store(store) for store in report.stores), _ratios(report))
    return "\n".join(line for part in parts for line in part)


def _head(report: Report) -> Iterator[str]:
    before, after = report.load
    load = f"load average {before:.1f} before, {after:.1f} after"
    yield f"\n  recovery beside the raw tools, {report.cores} cores; {load}"
    yield f"  {report.seconds:.0f} s for all of it; its files took {report.disk / 1e9:.1f} GB at most"
    yield "  MiB: largest resident memory; CPU s: processor seconds; first of the program or tool, then of the servers"


def _store(store: Measured) -> Iterator[str]:
    yield f"\n  {store.name}: {store.kind}, {store.count} {store.unit}, {store.size / 1e6:.1f} MB"
    columns = f"{'seconds':>8} {f'{store.unit}/s':>10} {'MB/s':>7} {'MiB':>7} {'CPU s':>7} {'MiB':>7} {'CPU s':>7}"
    yield f"  {'':<{_WIDE}} {columns} {'sent, MB':>9}"
    for step in store.steps:
        yield _step(step, store)


def _step(step: Step, store: Measured) -> str:
    cost = step.cost
    name = step.name if step.ours else f"  {step.name}"
    rates = f"{store.count / cost.seconds:>10.0f} {store.size / cost.seconds / 1e6:>7.1f}"
    memory = f"{cost.peak:>7.0f} {cost.cpu:>7.1f} {cost.servers_peak:>7.0f} {cost.servers_cpu:>7.1f}"
    sent = "" if step.sent is None else f"{step.sent / 1e6:>9.1f}"
    return f"  {name:<{_WIDE}} {cost.seconds:>8.1f} {rates} {memory} {sent:>9}".rstrip()


def _ratios(report: Report) -> Iterator[str]:
    yield f"\n  {'program by raw tool, servers included':<{_NAMED}} {'seconds':>8} {'MiB':>7} {'CPU s':>7}"
    for store in report.stores:
        for ratio in ratios(store):
            what = f"{store.name}: {ratio.name} / {ratio.raw}"
            yield f"  {what:<{_NAMED}} {ratio.seconds:>8.2f} {ratio.peak:>7.2f} {ratio.cpu:>7.2f}"
