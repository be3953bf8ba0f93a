"""Rows of the telemetry board about room: queues, memory, and volume against what was planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.otel_collector import AGENT, GATEWAY
from signals.catalogue.victoria_logs import PRODUCER as LOGS
from signals.dashboards.links import runbook
from signals.dashboards.model import Limits, Row, Unit
from signals.dashboards.panels import timeseries
from signals.dashboards.telemetry_losses import COLLECTORS
from signals.dashboards.variables import chosen

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Link, Panel
    from signals.rules.inputs import TelemetryPlans
    from signals.thresholds import Thresholds

_QUEUE: Final = "cluster, job, exporter, data_type"
_STACK: Final = "cluster, environment"


def room(inputs: BoardInputs, plans: TelemetryPlans) -> Row:
    """How near collectors are to losing something."""
    found, high = runbook(inputs, "telemetry-collector"), inputs.rules.thresholds.telemetry_memory_high
    sizes = [(GATEWAY.job, plans.gateway_memory_bytes), (AGENT.job, plans.agent_memory_bytes)]
    uptime = chosen("otelcol_process_uptime", COLLECTORS)
    return Row(
        title="Room",
        panels=(
            _queues(inputs),
            *(_memory(job, high * size, found) for job, size in sizes if job in inputs.rules.jobs),
            timeseries(
                "Youngest collector",
                {"{{cluster}} {{job}}": f"min by (cluster, job) ({uptime})"},
                "Age of the process that was started last. A gateway that was killed has lost the traces that waited "
                "for their decision.",
                Unit.SECONDS,
                links=runbook(inputs, "telemetry-loss"),
            ),
        ),
    )


def _queues(inputs: BoardInputs) -> Panel:
    size, most = (
        f"max_over_time({chosen(f'otelcol_exporter_queue_{what}', COLLECTORS)}[5m])" for what in ("size", "capacity")
    )
    return timeseries(
        "Queues",
        {"{{cluster}} {{job}} {{exporter}} {{data_type}}": f"max by ({_QUEUE}) ({size} / {most})"},
        "The fullest of each kind. A line that rises says how long there is: look at its backend.",
        Unit.RATIO,
        Limits(warn=inputs.rules.thresholds.telemetry_queue_high),
        links=runbook(inputs, "telemetry-loss"),
        high=1,
    )


def _memory(job: str, most: float, found: tuple[Link, ...]) -> Panel:
    used = chosen("otelcol_process_memory_rss", f'job="{job}"')
    return timeseries(
        f"Memory of {job}",
        {"{{cluster}}": f"max by (cluster) (avg_over_time({used}[5m]))"},
        "Of the one that has most. Above the line its limiter no longer helps, and its container is killed.",
        Unit.BYTES,
        Limits(warn=most),
        links=found,
    )


def volume(inputs: BoardInputs, plans: TelemetryPlans, limits: Thresholds) -> Row:
    """What comes, against what memory, queues and disks were made for."""
    gateway = f'job="{GATEWAY.job}"'
    kinds = [
        (
            "Log records",
            "otelcol_receiver_accepted_log_records",
            gateway,
            Unit.PER_SECOND,
            plans.log_records_per_second,
        ),
        ("Spans", "otelcol_receiver_accepted_spans", gateway, Unit.PER_SECOND, plans.spans_per_second),
    ]
    if LOGS.job in inputs.rules.jobs:
        stored, job = "vl_bytes_ingested_total", f'job="{LOGS.job}"'
        kinds.append(("Log bytes", stored, job, Unit.BYTES_PER_SECOND, plans.log_bytes_per_second))
    panels = tuple(
        timeseries(
            f"{what} against the plan",
            {"{{cluster}}": f"sum by ({_STACK}) (rate({chosen(counter, job)}[15m]))"},
            "The second colour begins at what is planned. Look for a debug level that was left on, or for a workload "
            "that logs every step; else plan for more.",
            unit,
            Limits(warn=limits.telemetry_volume_high * planned, bad=planned),
            links=runbook(inputs, "telemetry-collector"),
            empty="the first of that signal",
            width=8,
        )
        for what, counter, job, unit, planned in kinds
    )
    return Row(title="Volume", panels=panels)
