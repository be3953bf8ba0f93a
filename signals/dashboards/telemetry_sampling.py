"""Row of the telemetry board about traces that wait, are kept, or go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.otel_collector import GATEWAY
from signals.dashboards.links import runbook
from signals.dashboards.model import Limits, Row, Unit
from signals.dashboards.panels import timeseries
from signals.dashboards.telemetry_losses import grown, zero
from signals.dashboards.variables import chosen
from signals.rules.telemetry_sampling import ROOM_USED

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Link, Panel
    from signals.rules.inputs import TelemetryPlans

_JOB: Final = f'job="{GATEWAY.job}"'
_SAMPLING: Final = "otelcol_processor_tail_sampling"
_DECIDED: Final = "the first trace is decided"
_BY: Final = " by (cluster, job)"


def sampling(inputs: BoardInputs, plans: TelemetryPlans) -> Row:
    """What the gateway decides."""
    found = runbook(inputs, "telemetry-sampling")
    waiting = chosen(f"{_SAMPLING}_sampling_traces_on_memory", _JOB)
    traces = chosen("cluster:telemetry_traces:rate5m")
    return Row(
        title="Sampling",
        panels=(
            timeseries(
                "Traces decided",
                {"{{cluster}} {{decision}}": f"sum by (cluster, decision) ({traces})"},
                "Kept traces have an error, are slow, or were drawn; the rest is gone on purpose, after its spans were "
                "counted.",
                Unit.PER_SECOND,
                links=found,
                empty=_DECIDED,
            ),
            timeseries(
                "Traces that wait for a decision",
                {"{{cluster}} {{instance}}": f"max by (cluster, instance) ({waiting})"},
                "Above the line there is hardly room for more, and senders are made to wait: traces whose root is "
                "sent elsewhere or never, or more than planned.",
                Unit.COUNT,
                Limits(warn=ROOM_USED * plans.traces_in_memory),
                links=found,
                empty=_DECIDED,
            ),
            _undecided(found),
            _late(inputs, found),
        ),
    )


def _undecided(found: tuple[Link, ...]) -> Panel:
    kinds = (
        ("sampling_trace_dropped_too_early", "too many waited"),
        ("traces_dropped_too_large", "too large"),
        ("sampling_policy_evaluation_error", "a policy failed"),
    )
    return timeseries(
        "Traces not decided, within five minutes",
        {
            f"{{{{cluster}}}} {why}": (
                f"sum{_BY} (\n  {grown(chosen(f'{_SAMPLING}_{name}', _JOB), '5m')}\n)\nor {zero(_BY, _JOB)}"
            )
            for name, why in kinds
        },
        "They went without a look at what is in them: an error may have been.",
        Unit.COUNT,
        Limits(warn=1.0),
        links=found,
    )


def _late(inputs: BoardInputs, found: tuple[Link, ...]) -> Panel:
    late = chosen(f"{_SAMPLING}_early_releases_from_cache_decision", f'{_JOB}, sampled="false"')
    taken = chosen("otelcol_receiver_accepted_spans", _JOB)
    return timeseries(
        "Spans that came too late",
        {
            "{{cluster}} {{instance}}": f"sum by (cluster, instance) (rate({late}[15m]))\n"
            f"/ (sum by (cluster, instance) (rate({taken}[15m])) > 0)"
        },
        "Share of spans whose trace had been decided against; they went with it, also those with an error.",
        Unit.RATIO,
        Limits(warn=inputs.rules.thresholds.telemetry_late_spans_high),
        links=found,
        empty="a span comes late",
    )
