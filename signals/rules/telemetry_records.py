"""What becomes of what collectors take, by signal and stage; and requests, errors and durations of services."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from signals.catalogue.otel_collector import AGENT, GATEWAY, ITEMS
from signals.catalogue.span_metrics import PRODUCER as SPANS
from signals.rules.model import Group, Record

INSTANCE: Final = "cluster, environment, job, instance"
FILES: Final = "file_?log(/.*)?"
"""Receivers of log files, by either of their names."""
UNACCOUNTED: Final = "instance:telemetry_unaccounted:items"
"""Taken, and neither dropped on purpose, sent, counted as lost nor in memory: what waits in a queue, or vanished.

Since the start of the process. Below zero after a start that found a queue on disk: that was taken by another process.
"""
WITHHELD: Final = "instance:telemetry_withheld:items"
"""Given to redaction and not passed on, which it does only when it fails."""
REDACTION: Final = "transform/redaction|redaction/numbers"
"""The two processors of redaction. They pass on everything they are given, unless they fail."""
_TAKEN: Final = "instance:telemetry_taken:items"
_JOBS: Final = f'job=~"{AGENT.job}|{GATEWAY.job}"'
_JOB: Final = "cluster, environment, job"
_STAGES: Final[dict[str, str]] = {
    "accepted": "receiver_accepted",
    "refused": "receiver_refused",
    "failed": "receiver_failed",
    "sent": "exporter_sent",
    "lost_by_backend": "exporter_send_failed",
    "lost_by_queue": "exporter_enqueue_failed",
}
_SERVICE: Final = "cluster, environment, service_name"
_REQUESTS: Final = f'job="{SPANS.job}", span_kind=~"SPAN_KIND_SERVER|SPAN_KIND_CONSUMER"'
"""Spans with which a service answers somebody; those inside of it and its own calls would count a request twice."""
_QUANTILES: Final[dict[str, float]] = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def telemetry_records(jobs: tuple[str, ...]) -> Group:
    """Rates by stage, what is in nobody's books, and starts of the gateway."""
    rates = tuple(
        Record(
            record="job:telemetry_items:rate5m",
            expr=f"sum by ({_JOB}) (rate(otelcol_{metric}_{items}{{{_JOBS}}}[5m]))",
            labels={"signal": signal, "stage": stage},
        )
        for signal, items in ITEMS.items()
        for stage, metric in _STAGES.items()
    )
    filtered = tuple(
        Record(
            record="job:telemetry_items:rate5m",
            expr=" - ".join(f"sum by ({_JOB}) (rate({each}[5m]))" for each in _filtered(signal)),
            labels={"signal": signal, "stage": "filtered"},
        )
        for signal in ITEMS
    )
    decided = Record(
        record="cluster:telemetry_traces:rate5m",
        expr="sum by (cluster, environment, decision) "
        f'(rate(otelcol_processor_tail_sampling_global_count_traces_sampled{{job="{GATEWAY.job}"}}[5m]))',
    )
    starts = Record(
        record="cluster:telemetry_gateway_restarts:sum1h",
        expr=f'sum by (cluster, environment) (resets(otelcol_process_uptime{{job="{GATEWAY.job}"}}[1h]))',
    )
    traces = _traces()
    if AGENT.job in jobs:
        traces = _either(traces, _accounts("traces", f'job="{AGENT.job}"'))
    own = (*_accounts("logs", _JOBS), *traces, _withheld())
    return Group(name="plumbline-telemetry-records", rules=(*rates, *filtered, decided, starts, *own))


def _either(gateway: tuple[Record, Record], agents: tuple[Record, Record]) -> tuple[Record, Record]:
    """Both in one rule each: two of one name and the same labels are refused."""
    (taken, unaccounted), (also_taken, also_unaccounted) = gateway, agents
    return (
        replace(taken, expr=f"{taken.expr}\nor\n{also_taken.expr}"),
        replace(unaccounted, expr=f"{unaccounted.expr}\nor\n{also_unaccounted.expr}"),
    )


def _filtered(signal: str) -> tuple[str, str]:
    """Given to filters, and passed on by them."""
    given, passed = (
        f'otelcol_processor_{way}_items{{{_JOBS}, otel_signal="{signal}", processor=~"filter(/.*)?"}}'
        for way in ("incoming", "outgoing")
    )
    return given, passed


def _withheld() -> Record:
    by, kind = f"{INSTANCE}, processor, otel_signal", f'{{{_JOBS}, processor=~"{REDACTION}"}}'
    given, passed = (f"sum by ({by}) (otelcol_processor_{way}_items{kind})" for way in ("incoming", "outgoing"))
    return Record(record=WITHHELD, expr=f"{given}\n- {passed}")


def _accounts(signal: str, jobs: str) -> tuple[Record, Record]:
    """What was taken of a signal, and what of it is in nobody's books.

    Of several exporters the one that sent most counts: each is given everything. What never happened has no series.
    """
    items = ITEMS[signal]
    taken = f"sum by ({INSTANCE}) (otelcol_receiver_accepted_{items}{{{jobs}}})"
    filtered = " - ".join(f"sum by ({INSTANCE}) ({each.replace(_JOBS, jobs)})" for each in _filtered(signal))
    known = [filtered] + [
        f"max by ({INSTANCE}) (sum by ({INSTANCE}, exporter) (otelcol_exporter_{what}_{items}{{{jobs}}}))"
        for what in ("sent", "send_failed", "enqueue_failed")
    ]
    books = "\n- ".join(f"({each} or {taken} * 0)" for each in known)
    labels = {"signal": signal}
    return (
        Record(record=_TAKEN, expr=taken, labels=labels),
        Record(record=UNACCOUNTED, expr=f"{taken}\n- {books}", labels=labels),
    )


def _traces() -> tuple[Record, Record]:
    """Of the gateway, where spans go with their traces: traces that began, and those that were not decided."""
    kind = f'{{job="{GATEWAY.job}"}}'
    began = f"sum by ({INSTANCE}) (otelcol_processor_tail_sampling_new_trace_id_received{kind})"
    known = (
        f"sum by ({INSTANCE}) (otelcol_processor_tail_sampling_{name}{kind})"
        for name in (
            "global_count_traces_sampled",
            "sampling_trace_dropped_too_early",
            "traces_dropped_too_large",
            "sampling_traces_on_memory",
        )
    )
    books = "\n- ".join(f"({each} or {began} * 0)" for each in known)
    labels = {"signal": "traces"}
    return (
        Record(record=_TAKEN, expr=began, labels=labels),
        Record(record=UNACCOUNTED, expr=f"{began}\n- {books}", labels=labels),
    )


def service_records() -> Group:
    """Rate, errors and duration of each service, from spans before they are sampled."""
    calls = "traces_span_metrics_calls_total"
    every = f"sum by ({_SERVICE}) (rate({calls}{{{_REQUESTS}}}[5m]))"
    errors = f'sum by ({_SERVICE}) (rate({calls}{{{_REQUESTS}, status_code="STATUS_CODE_ERROR"}}[5m]))'
    steps = f"sum by ({_SERVICE}, le) (rate(traces_span_metrics_duration_seconds_bucket{{{_REQUESTS}}}[5m]))"
    durations = tuple(
        Record(record=f"service:span_duration_seconds:{name}", expr=f"histogram_quantile({quantile}, {steps})")
        for name, quantile in _QUANTILES.items()
    )
    return Group(
        name="plumbline-span-metrics-records",
        rules=(
            Record(record="service:span_requests:rate5m", expr=every),
            # A service without an error has no such series, and a ratio of 0.
            Record(record="service:span_errors:rate5m", expr=f"{errors}\nor\n{every} * 0"),
            Record(
                record="service:span_errors:ratio5m",
                expr="service:span_errors:rate5m / (service:span_requests:rate5m > 0)",
            ),
            *durations,
        ),
    )
