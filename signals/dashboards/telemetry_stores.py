"""Rows of the telemetry board about the store of logs, and about the services that send traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.span_metrics import PRODUCER as SPANS
from signals.catalogue.victoria_logs import PRODUCER as LOGS
from signals.dashboards.links import run_traces, runbook
from signals.dashboards.model import Good, Limits, Row, Unit
from signals.dashboards.panels import stat, timeseries
from signals.dashboards.telemetry_losses import grown
from signals.dashboards.variables import chosen

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Panel
    from signals.rules.inputs import TelemetryPlans

_JOB: Final = f'job="{LOGS.job}"'
_STORE: Final = "cluster, environment, job"
_DAY: Final = 86_400
_FIRST_SPAN: Final = "the first span after a start of the gateway"


def log_store(inputs: BoardInputs, plans: TelemetryPlans) -> Row:
    """How long logs last, and what is thrown away."""
    free, size = (chosen(f"vl_{what}_disk_space_bytes", _JOB) for what in ("free", "total"))
    data, most = (chosen(f"vl_{what}_bytes", _JOB) for what in ("data_size", "max_disk_space_usage"))
    found = runbook(inputs, "logs-store")
    dropped = chosen("vl_rows_dropped_total", _JOB)
    return Row(
        title="Store of logs",
        panels=(
            _history(inputs, plans),
            timeseries(
                "Logs on disk",
                {
                    "{{cluster}} records and index": f"sum by ({_STORE}) ({data})",
                    "{{cluster}} where the oldest day goes": f"max by ({_STORE}) ({most} > 0)",
                },
                "When the size reaches the line the oldest day goes, whatever its age.",
                Unit.BYTES,
                links=found,
                rare={"{{cluster}} where the oldest day goes": "a size is set for the store"},
                width=7,
            ),
            timeseries(
                "Free disk of the store",
                {"{{cluster}}": f"min by ({_STORE}) ({free}) / max by ({_STORE}) ({size} > 0)"},
                "At 5 % it takes nothing any more, and logs wait in the gateway's queue.",
                Unit.RATIO,
                Limits(warn=inputs.rules.thresholds.volume_free_low, good=Good.HIGH),
                links=found,
                width=7,
                high=1,
            ),
            timeseries(
                "Thrown away, within an hour",
                {"{{cluster}} {{reason}}": f"sum by (cluster, reason) (\n  {grown(dropped, '1h')}\n)"},
                "Records that the store had answered for: too old or too far ahead (a wrong clock), too many fields.",
                Unit.COUNT,
                Limits(warn=1.0),
                links=found,
                width=6,
            ),
        ),
        needs=frozenset({LOGS.job}),
    )


def _history(inputs: BoardInputs, plans: TelemetryPlans) -> Panel:
    """At the pace of the days that are kept. Of one day alone, nobody knows the pace."""
    data = f"sum by ({_STORE}) (max by ({_STORE}, type) ({chosen('vl_data_size_bytes', _JOB)}))"
    days = f"max by ({_STORE}) ({chosen('vl_partitions', _JOB)} > 1)"
    most = f"max by ({_STORE}) ({chosen('vl_max_disk_space_usage_bytes', _JOB)} > 0)"
    promised = plans.logs_retention_seconds
    return stat(
        "Logs that fit",
        f"min({most} / ({data} / {days}) * {_DAY})",
        "How long a history fits the size that is kept. Less than promised: logs go before their time.",
        Unit.SECONDS,
        None if promised is None else Limits(warn=promised, good=Good.HIGH),
        links=runbook(inputs, "logs-store"),
        empty="the store keeps up to a size, and more than one day is there",
    )


def services(inputs: BoardInputs) -> Row:
    """Requests as services see them, from every span, kept or not."""
    requests, errors = (chosen(f"service:span_{what}:rate5m") for what in ("requests", "errors"))
    traces = run_traces(inputs, "${__field.labels.service_name}")
    slow = chosen("service:span_duration_seconds:p95")
    by, legend = "cluster, service_name", "{{cluster}} {{service_name}}"
    return Row(
        title="Services",
        panels=(
            stat(
                "Requests with an error",
                f"sum({errors}) / (sum({requests}) > 0)",
                "Of all services that send traces, in the last five minutes. Which: beside it.",
                Unit.RATIO,
                empty=_FIRST_SPAN,
            ),
            timeseries(
                "Requests",
                {legend: f"sum by ({by}) ({requests})"},
                "Answered by each service. A line that ends: the service is gone, or no longer sends spans.",
                Unit.PER_SECOND,
                links=traces,
                empty=_FIRST_SPAN,
                width=7,
            ),
            timeseries(
                "Errors",
                {legend: f"sum by ({by}) ({errors}) / (sum by ({by}) ({requests}) > 0)"},
                "Share of the requests of each service. Traces with an error are kept: look at one.",
                Unit.RATIO,
                links=traces,
                empty=_FIRST_SPAN,
                width=7,
                high=1,
            ),
            timeseries(
                "Slowest twentieth",
                {legend: f"max by ({by}) ({slow})"},
                "A twentieth of a service's requests take longer than this (p95), as far as its buckets tell.",
                Unit.SECONDS,
                links=traces,
                empty=_FIRST_SPAN,
                width=6,
            ),
        ),
        needs=frozenset({SPANS.job}),
    )
