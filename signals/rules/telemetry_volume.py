"""Alerts about how much comes, against what was planned: before memory, queues and disks say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.otel_collector import GATEWAY
from signals.rules.model import Alert, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import TelemetryPlans
    from signals.thresholds import Thresholds

_GATEWAY: Final = f'job="{GATEWAY.job}"'


def collector_volumes(plans: TelemetryPlans, limits: Thresholds) -> tuple[Alert, ...]:
    """Of log records and spans that the gateway takes."""
    return tuple(
        alert for what, rate, planned in _volumes(plans) for alert in volume_alerts(what, rate, planned, limits)
    )


def _volumes(plans: TelemetryPlans) -> tuple[tuple[str, str, int], ...]:
    """What, its rate per cluster, and what is planned."""
    return tuple(
        (
            f"{items.replace('_', ' ')} per second",
            f"sum by (cluster, environment) (rate(otelcol_receiver_accepted_{items}{{{_GATEWAY}}}[15m]))",
            planned,
        )
        for items, planned in (("log_records", plans.log_records_per_second), ("spans", plans.spans_per_second))
    )


def volume_alerts(what: str, rate: str, planned: int, limits: Thresholds) -> tuple[Alert, Alert]:
    """One before the plan is passed, one beyond it. what: unit in words. rate: by cluster and environment."""
    share, labels = f"{rate}\n/ {planned}", {"volume": what}
    causes = (
        "Likely causes: a debug level that was left on, a workload that logs every step or traces every token, more "
        "workloads than `plumbline:sizing` says."
    )
    return (
        Alert(
            alert="TelemetryVolumeNearPlan",
            expr=f"{share}\n> {limits.telemetry_volume_high}\n<= 1",
            wait="30m",
            severity=Severity.P3,
            labels=labels,
            summary=f"Nearly as many {what} as planned",
            description=f"Cluster {{{{ $labels.cluster }}}}: {{{{ $value | humanizePercentage }}}} of the {planned} "
            f"{what} that are planned. {causes}",
            runbook="telemetry-collector",
        ),
        Alert(
            alert="TelemetryVolumeAbovePlan",
            expr=f"{share}\n> 1",
            wait="15m",
            severity=Severity.P2,
            labels=labels,
            summary=f"More {what} than planned",
            description=f"Cluster {{{{ $labels.cluster }}}}: {{{{ $value | humanizePercentage }}}} of the {planned} "
            f"{what} that are planned. Memory, queues and disks are made for those; refusals and a shorter history "
            f"come next. {causes}",
            runbook="telemetry-collector",
        ),
    )
