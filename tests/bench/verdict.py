"""What makes the figures worthless. Times are never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.bench import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.figures import Asked, Report

APART: Final = 0.05
"""Records are up to a minute older than what they are compared with, and GPUs change what they do."""


def problems(report: Report) -> list[str]:
    """One line for each reason why nothing was measured; empty when the figures stand for something."""
    return [*_fleet(report), *_allocation(report), *_rules(report), *_load(report), *_panels(report)]


def _fleet(report: Report) -> Iterator[str]:
    truth, boards = report.truth, report.nodes * report.gpus_per_node
    if truth.targets_up != report.nodes:
        yield f"{truth.targets_up} of {report.nodes} targets are up"
    if truth.scrapes_failed:
        yield f"{truth.scrapes_failed} targets failed a scrape in the steady time"
    if truth.gpus != boards:
        yield f"{truth.gpus} GPUs are scraped, not {boards}"
    if truth.gpus_recorded != boards:
        yield f"fleet:gpus:count says {truth.gpus_recorded} GPUs, not {boards}"
    if truth.gpu_series < boards * len(report.fields):
        yield f"{truth.gpu_series} series of GPUs, fewer than {len(report.fields)} fields of {boards}"


def _allocation(report: Report) -> Iterator[str]:
    """Without the joins with Kubernetes objects the most expensive rules would have had nothing to do."""
    held = kubernetes.allocated(report.nodes, report.gpus_per_node)
    if report.truth.allocated != held:
        yield f"fleet:gpu_allocated:sum says {report.truth.allocated} GPUs, not {held}"
    teams = kubernetes.teams(report.nodes, report.gpus_per_node)
    if set(report.truth.teams) != teams:
        yield f"GPUs are counted for {', '.join(report.truth.teams) or 'no team'}, not for {', '.join(sorted(teams))}"


def _rules(report: Report) -> Iterator[str]:
    if not report.groups:
        yield "no rule group was evaluated"
    for rule in report.truth.unhealthy:
        yield f"rule {rule}"
    if report.truth.evaluation_failures:
        yield f"{report.truth.evaluation_failures:.0f} evaluations failed"
    for group in report.groups:
        if group.missed:
            yield f"{group.name} missed {group.missed:.0f} evaluations: they take up to {group.worst:.1f} s"


def _load(report: Report) -> Iterator[str]:
    if not report.with_rules.rules:
        yield "no rule was loaded in the span with rules"
    if report.without_rules.rules:
        yield f"{report.without_rules.rules} rules were loaded in the span without rules"
    least = report.nodes * report.gpus_per_node * len(report.fields) / report.interval
    for name, span in (("with", report.with_rules), ("without", report.without_rules)):
        if span.samples_per_second < 0.9 * least:
            yield f"{span.samples_per_second:.0f} samples/s {name} rules, of at least {least:.0f} that are exposed"


def _panels(report: Report) -> Iterator[str]:
    if not report.board:
        yield "no panel of a board was asked"
    for panel in (*report.panels, *report.rival, *report.board):
        if not panel.raw.series and not panel.may_be_empty:
            yield f"panel {panel.title!r} has no series"
        if panel.recorded is not None:
            yield from _both_ways(panel, panel.recorded.series)


def _both_ways(panel: Asked, series: int) -> Iterator[str]:
    if series != panel.raw.series:
        yield f"panel {panel.title!r} has {series} series by records and {panel.raw.series} without"
    apart = abs(panel.recorded_total - panel.raw_total)
    if apart > APART * max(abs(panel.recorded_total), abs(panel.raw_total)):
        yield f"panel {panel.title!r} sums to {panel.recorded_total:g} by records and {panel.raw_total:g} without"
