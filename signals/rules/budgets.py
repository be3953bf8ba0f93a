"""Records and alerts about series: how many each job stores against what was planned, and which are not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.catalogue.labels import DROPPED_LABEL
from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Record, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_BY = "cluster, environment, job"
_JOB = "Job {{ $labels.job }} (cluster {{ $labels.cluster }})"
_RATIO = "job:series_budget:ratio"
_REFUSED = (
    ("duplicate", "prometheus_target_scrapes_sample_duplicate_timestamp_total"),
    ("out of order", "prometheus_target_scrapes_sample_out_of_order_total"),
    ("out of bounds", "prometheus_target_scrapes_sample_out_of_bounds_total"),
)


def budget_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file. The records come first in their group, so that alerts see this very evaluation."""
    budgets = inputs.budgets if set(inputs.budgets) & set(inputs.jobs) else {}
    alerts = (_nearly_spent(inputs.thresholds.series_budget_high), _exceeded()) if budgets else ()
    refused = tuple(_refused(why, metric) for why, metric in _REFUSED) if "prometheus" in inputs.jobs else ()
    return (
        *((Group(name="plumbline-budgets", rules=(*_records(inputs), *alerts)),) if budgets else ()),
        Group(name="plumbline-series", rules=(_banned(), *refused)),
    )


def _records(inputs: RuleInputs) -> tuple[Record, ...]:
    """One record per job: the budget is a number of the stack, and no series of its own."""
    stored = "scrape_samples_post_metric_relabeling"
    return tuple(
        Record(record=_RATIO, expr=f'sum by ({_BY}) ({stored}{{job="{job}"}}) / {budget}', labels={"job": job})
        for job, budget in inputs.budgets.items()
        if job in inputs.jobs
    )


def _nearly_spent(high: float) -> Alert:
    """With a trend: a job that has always needed most of its budget is planned for."""
    return Alert(
        alert="SeriesBudgetNearlySpent",
        expr=f"{_RATIO} > {high} and {_RATIO} <= 1\nand\npredict_linear({_RATIO}[6h], 86400) > 1",
        wait="30m",
        severity=Severity.P3,
        summary="Job {{ $labels.job }} will pass its series budget within a day",
        description=f"{_JOB} stores {{{{ $value | humanizePercentage }}}} of the series that are planned for it, and "
        "at the pace of the last six hours passes its budget within a day. Likely causes: more nodes, GPUs or pods "
        "than `plumbline:sizing` says, a new label with many values.",
        runbook="series-budget",
    )


def _exceeded() -> Alert:
    return Alert(
        alert="SeriesBudgetExceeded",
        expr=f"{_RATIO} > 1",
        wait="15m",
        severity=Severity.P2,
        summary="Job {{ $labels.job }} stores more series than planned",
        description=f"{_JOB} stores {{{{ $value | humanizePercentage }}}} of the series that are planned for it. "
        "Scrapes are thrown away whole once one target passes its limit. Likely causes: more nodes, GPUs or pods than "
        "`plumbline:sizing` says, a new label with many values.",
        runbook="series-budget",
    )


def _banned() -> Alert:
    """Under another label: an alert with the mark itself would be counted, and would never end."""
    marked = f'label_replace({{{DROPPED_LABEL}!=""}}, "dropped_label", "$1", "{DROPPED_LABEL}", "(.+)")'
    return Alert(
        alert="SeriesBannedLabel",
        expr=f"count by ({_BY}, dropped_label) ({marked}) > 0",
        wait="5m",
        severity=Severity.P3,
        summary="Job {{ $labels.job }} exposes label {{ $labels.dropped_label }}",
        description=f"{_JOB}: label {{{{ $labels.dropped_label }}}} was taken off {{{{ $value }}}} series, because "
        "its values are unbounded or personal. Series that differ in it alone are one series now. Likely causes: a "
        "release that labels metrics by request or by user.",
        runbook="series-labels",
    )


def _refused(why: str, metric: str) -> Alert:
    return Alert(
        alert="SeriesSamplesRefused",
        expr=grew(f'{metric}{{job="prometheus"}}', "15m"),
        wait="15m",
        severity=Severity.P3,
        labels={"reason": why},
        summary=f"{{{{ $labels.instance }}}} refuses samples: {why}",
        description="{{ $labels.instance }} (cluster {{ $labels.cluster }}) refuses samples of a scrape: "
        f"{why}. Part of what a target says is lost. Likely causes: one target scraped twice, two label sets that "
        "relabelling made one, a producer with wrong timestamps, a clock that is off.",
        runbook="series-labels",
    )
