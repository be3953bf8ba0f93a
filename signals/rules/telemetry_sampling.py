"""Alerts about traces that are decided wrongly or not at all, and about metrics of spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.otel_collector import GATEWAY
from signals.catalogue.span_metrics import OVERFLOW
from signals.catalogue.span_metrics import PRODUCER as SPANS
from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity
from signals.rules.telemetry_records import INSTANCE, service_records

if TYPE_CHECKING:
    from signals.rules.inputs import TelemetryPlans
    from signals.thresholds import Thresholds

_JOB: Final = f'job="{GATEWAY.job}"'
_AGE: Final = "otelcol_process_uptime"
_SAMPLING: Final = "otelcol_processor_tail_sampling"
_WHERE: Final = "{{ $labels.instance }} (cluster {{ $labels.cluster }})"
_RUNBOOK: Final = "telemetry-sampling"
ROOM_USED: Final = 0.9
"""Share of the traces that may wait, beyond which there is hardly room."""


def sampling_alerts(limits: Thresholds, plans: TelemetryPlans) -> tuple[Alert, ...]:
    """Alerts about what the gateway decides."""
    return (_too_early(), _full(plans), _too_large(), _undecided(), _late(limits))


def span_metric_groups() -> tuple[Group, ...]:
    """Every group of the file about metrics of spans."""
    return (service_records(), Group(name="plumbline-span-metrics", rules=(_overflow(),)))


def _too_early() -> Alert:
    return Alert(
        alert="TracesDroppedTooEarly",
        expr=grew(f"{_SAMPLING}_sampling_trace_dropped_too_early{{{_JOB}}}", "15m", _AGE),
        wait="0s",
        severity=Severity.P2,
        summary="The gateway drops traces before it has decided on them",
        description=f"{_WHERE} had more traces in memory than it may, and dropped the oldest undecided; traces with an "
        "error may be among them. Likely causes: more traces than planned, a time to decide that is too long for them, "
        "too few traces in memory.",
        runbook=_RUNBOOK,
    )


def _full(plans: TelemetryPlans) -> Alert:
    """Nothing is dropped then: whoever sends is made to wait, and waits with roots that would end the waiting."""
    return Alert(
        alert="SamplingRoomFull",
        expr=f"{_SAMPLING}_sampling_traces_on_memory{{{_JOB}}}\n> {ROOM_USED} * {plans.traces_in_memory}",
        wait="2m",
        severity=Severity.P2,
        summary="Almost as many traces wait for their decision as may",
        description=f"{_WHERE}: {{{{ $value }}}} traces wait. With `traces_in_memory` of them the gateway takes no "
        "more spans, and senders keep theirs for as long as they can. Likely causes: traces whose root is sent "
        "elsewhere or never, more traces than planned, a time to decide that is too long for them.",
        runbook=_RUNBOOK,
    )


def _too_large() -> Alert:
    return Alert(
        alert="TracesTooLarge",
        expr=grew(f"{_SAMPLING}_traces_dropped_too_large{{{_JOB}}}", "15m", _AGE),
        wait="0s",
        severity=Severity.P3,
        summary="A trace was dropped because it is too large",
        description=f"{_WHERE} dropped a trace with more bytes than one may have, whatever its spans say, so that "
        "others are kept. Likely causes: a loop that opens a span for each step, one trace for a whole run, very large "
        "attributes.",
        runbook=_RUNBOOK,
    )


def _undecided() -> Alert:
    return Alert(
        alert="SamplingPolicyFailing",
        expr=grew(f"{_SAMPLING}_sampling_policy_evaluation_error{{{_JOB}}}", "15m", _AGE),
        wait="0s",
        severity=Severity.P2,
        summary="A policy of sampling cannot decide",
        description=f"{_WHERE}: a policy of sampling failed on traces, and does not keep those. Likely causes: a "
        "policy that expects an attribute of another type, as after a change of the policies or of the version.",
        runbook=_RUNBOOK,
    )


def _late(limits: Thresholds) -> Alert:
    late = f'{_SAMPLING}_early_releases_from_cache_decision{{{_JOB}, sampled="false"}}'
    return Alert(
        alert="TracesLateSpans",
        expr=f"sum by ({INSTANCE}) (rate({late}[15m]))\n"
        f"/ sum by ({INSTANCE}) (rate(otelcol_receiver_accepted_spans{{{_JOB}}}[15m]) > 0)\n"
        f"> {limits.telemetry_late_spans_high}",
        wait="15m",
        severity=Severity.P3,
        summary="Many spans come after their trace was decided",
        description=f"{_WHERE}: {{{{ $value | humanizePercentage }}}} of the spans came after their trace was decided "
        "against, and went with it, also those with an error. Likely causes: requests that take longer than "
        "`decision_wait`, senders that hold spans back for longer than `decision_wait_after_root`, spans that outlive "
        "their root, an agent that empties its queue.",
        runbook=_RUNBOOK,
    )


def _overflow() -> Alert:
    """The series lives as long as the gateway that had too many."""
    return Alert(
        alert="SpanMetricsOverflow",
        expr="max by (cluster, environment, service_name) "
        f'(traces_span_metrics_calls_total{{job="{SPANS.job}", {OVERFLOW}}})\n> 0',
        wait="5m",
        severity=Severity.P3,
        summary="Service {{ $labels.service_name }} has too many kinds of spans for their metrics",
        description="Service {{ $labels.service_name }} (cluster {{ $labels.cluster }}) has more combinations of "
        "operation, kind, status and team than are counted by themselves: the rest is counted as one, without a "
        "name. Likely causes: names of spans that hold an id, a path or a prompt.",
        runbook=_RUNBOOK,
    )
