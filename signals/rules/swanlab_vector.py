"""Alerts about the delivery buffer of SwanLab: what it holds was acknowledged to a run, and is nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_JOB = 'job="swanlab-vector"'
_DISK = f'{{{_JOB}, buffer_type="disk"}}'
_BUFFER = "cluster, environment, job, instance, component_id"
_AGE = "vector_uptime_seconds"
"""Vector tells how old it is, and not since when."""
_WHERE = "{{ $labels.instance }}, sink {{ $labels.component_id }} (cluster {{ $labels.cluster }})"


def swanlab_vector_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file."""
    high = inputs.thresholds.swanlab_buffer_high
    return (Group(name="plumbline-swanlab-buffer", rules=(_filling(high), _not_draining(), _discarded(), _damaged())),)


def _of_buffers(expression: str) -> str:
    """One value for each buffer: a label that another version adds must not break a match."""
    return f"max by ({_BUFFER}) ({expression})"


def _filling(high: float) -> Alert:
    """A level, or a line: half full, and full within the hour at the pace of the last quarter of one.

    The level is that of the last five minutes, so that a process which is started over and over does not hide it.
    """
    most = _of_buffers(f"max_over_time(vector_buffer_max_byte_size{_DISK}[5m])")
    share = f"{_of_buffers(f'max_over_time(vector_buffer_byte_size{_DISK}[5m])')}\n/ {most}"
    soon = _of_buffers(f"predict_linear(vector_buffer_byte_size{_DISK}[15m], 3600)")
    return Alert(
        alert="SwanlabBufferFilling",
        expr=f"{share}\n> {high}\nor\n({share}\n> {high / 2} and {soon} >= {most})",
        wait="5m",
        severity=Severity.P1,
        summary="The delivery buffer {{ $labels.component_id }} of SwanLab runs full",
        description=f"{_WHERE}: {{{{ $value | humanizePercentage }}}} of the buffer are used. When it is full, SwanLab "
        "accepts no more points: runs keep them in memory, and lose them when they end. Likely causes: ClickHouse is "
        "down, slow or refuses inserts; more is logged than it can store.",
        runbook="swanlab-buffer",
    )


def _not_draining() -> Alert:
    """Both look at five minutes and never at the last sample, so that a crash loop does not end the wait."""
    held = _of_buffers(f"min_over_time(vector_buffer_events{_DISK}[5m])")
    return Alert(
        alert="SwanlabBufferNotDraining",
        expr=f"{held} > 0\nunless on ({_BUFFER})\nincrease(vector_buffer_sent_events_total{_DISK}[5m]) > 0",
        wait="5m",
        severity=Severity.P1,
        summary="The delivery buffer {{ $labels.component_id }} of SwanLab does not empty",
        description=f"{_WHERE} has held {{{{ $value }}}} events or more for 10 minutes, and stored none. They were "
        "acknowledged to runs that may have ended: nothing else has them. Likely causes: ClickHouse is down, its "
        "password was changed, a table is missing, one batch is refused for ever.",
        runbook="swanlab-buffer",
    )


def _discarded() -> Alert:
    return Alert(
        alert="SwanlabPointsDiscarded",
        expr=grew(f'vector_component_discarded_events_total{{{_JOB}, intentional="false"}}', "15m", _AGE),
        wait="0s",
        severity=Severity.P1,
        summary="SwanLab has thrown points away",
        description="{{ $labels.instance }}, component {{ $labels.component_id }} (cluster {{ $labels.cluster }}) "
        "dropped events that were acknowledged. They are lost, and the runs do not know. Likely causes: ClickHouse "
        "refuses their form, as after an upgrade of one side; retries ran out.",
        runbook="swanlab-points-lost",
    )


def _damaged() -> Alert:
    return Alert(
        alert="SwanlabBufferDamaged",
        expr=grew(f"vector_buffer_errors_total{{{_JOB}}}", "15m", _AGE),
        wait="0s",
        severity=Severity.P1,
        summary="A delivery buffer of SwanLab is damaged",
        description="{{ $labels.instance }} (cluster {{ $labels.cluster }}) found a place in a buffer that it cannot "
        "read ({{ $labels.error_type }}). Acknowledged events are lost. Likely causes: the node crashed, the disk "
        "fails, two processes had the claim open.",
        runbook="swanlab-points-lost",
    )
