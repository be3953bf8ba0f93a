"""Alerts about the stores of logs and traces: what they throw away, refuse or do not get, and how long they last.

How full the claim of Jaeger is, the kubelet tells (signals/rules/volumes.py): Jaeger itself does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.jaeger import PRODUCER as JAEGER
from signals.catalogue.otel_collector import GATEWAY
from signals.catalogue.victoria_logs import PRODUCER as LOGS
from signals.catalogue.victoria_logs import UNCOUNTED, WARNINGS
from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Record, Severity
from signals.rules.telemetry_volume import volume_alerts

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs
    from signals.thresholds import Thresholds

_LOGS: Final = f'job="{LOGS.job}"'
_JAEGER: Final = f'job="{JAEGER.job}"'
_STORE: Final = "cluster, environment, job"
_STACK: Final = "cluster, environment"
_WHERE: Final = "{{ $labels.job }} (cluster {{ $labels.cluster }})"
_DAY: Final = 86_400


def logs_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group about VictoriaLogs."""
    limits, plans = inputs.thresholds, inputs.telemetry
    rules = [*_dropped(), _read_only(), _nearly_full(limits), _failing()]
    if GATEWAY.job in inputs.jobs:
        rules.append(_logs_not_stored())
    if plans is not None:
        rate = f"sum by ({_STACK}) (rate(vl_bytes_ingested_total{{{_LOGS}}}[15m]))"
        rules += volume_alerts("log bytes per second", rate, plans.log_bytes_per_second, limits)
        if plans.logs_retention_seconds is not None:
            rules.append(_cut_by_size(plans.logs_retention_seconds))
    return (
        Group(name="plumbline-logs-records", rules=_log_records()),
        Group(name="plumbline-logs", rules=tuple(rules)),
    )


def traces_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group about Jaeger."""
    rules = [_writes_failing(), _traces_refused()]
    if GATEWAY.job in inputs.jobs:
        rules.append(_traces_not_stored())
    stored = f"sum by ({_STORE}) (rate(otelcol_exporter_sent_spans_total{{{_JAEGER}}}[5m]))"
    record = Record(record="job:telemetry_items:rate5m", expr=stored, labels={"signal": "traces", "stage": "stored"})
    return (
        Group(name="plumbline-traces-records", rules=(record,)),
        Group(name="plumbline-traces", rules=tuple(rules)),
    )


def _log_records() -> tuple[Record, ...]:
    """What was ingested counts what was thrown away as well."""
    taken = f"sum by ({_STORE}) (rate(vl_rows_ingested_total{{{_LOGS}}}[5m]))"
    dropped = f"sum by ({_STORE}) (rate(vl_rows_dropped_total{{{_LOGS}}}[5m]))"
    name = "job:telemetry_items:rate5m"
    return (
        Record(record=name, expr=f"{taken} - {dropped}", labels={"signal": "logs", "stage": "stored"}),
        Record(record=name, expr=dropped, labels={"signal": "logs", "stage": "lost_by_store"}),
    )


def _dropped() -> tuple[Alert, ...]:
    """A reason that is about time appears with the first day that is stored. What is uncounted is in its log alone."""
    uncounted = f'{WARNINGS}{{{_LOGS}, level="warn", location=~"{UNCOUNTED}"}}'

    def alert(metric: str, why: str, labels: dict[str, str]) -> Alert:
        return Alert(
            alert="LogsDropped",
            expr=grew(metric, "15m"),
            wait="0s",
            severity=Severity.P2,
            labels=labels,
            summary="The store of logs throws records away",
            description=f"{_WHERE} answered for records and threw them away ({why}). The collector counts them as "
            "sent. Likely causes: a node or a workload with a wrong clock, an agent that reads old files, records of "
            "another store that are sent again, very long lines, a workload whose names of keys are never the same.",
            runbook="logs-store",
        )

    return (
        alert(f'vl_rows_dropped_total{{{_LOGS}, reason!="debug"}}', "{{ $labels.reason }}", {}),
        alert(f"vl_too_long_lines_skipped_total{{{_LOGS}}}", "too_long", {"reason": "too_long"}),
        alert(uncounted, "{{ $labels.location }}", {"reason": "uncounted"}),
    )


def _read_only() -> Alert:
    return Alert(
        alert="LogsReadOnly",
        expr=f"max by ({_STORE}) (max_over_time(vl_storage_is_read_only{{{_LOGS}}}[5m]))\n> 0",
        wait="2m",
        severity=Severity.P1,
        summary="The store of logs takes nothing",
        description=f"{_WHERE} is read-only, because too little of its disk is free. Log records wait in the gateway's "
        "queue, which runs full. Likely causes: more logs than planned, a retention that does not fit the claim, "
        "something else on the same disk.",
        runbook="logs-store",
    )


def _nearly_full(limits: Thresholds) -> Alert:
    free, size = (f"vl_{kind}_disk_space_bytes{{{_LOGS}}}" for kind in ("free", "total"))
    return Alert(
        alert="LogsNearlyFull",
        expr=f"min by ({_STORE}) ({free})\n/ max by ({_STORE}) ({size} > 0)\n< {limits.volume_free_low}",
        wait="15m",
        severity=Severity.P2,
        summary="The disk of the store of logs is nearly full",
        description=f"{_WHERE} has {{{{ $value | humanizePercentage }}}} of its disk free. At 5 % it takes nothing any "
        "more. Likely causes: a retention by size that does not fit the claim, more logs than planned, something else "
        "on the same disk.",
        runbook="logs-store",
    )


def _cut_by_size(promised: int) -> Alert:
    """How long a history fits, at the pace of the days that are kept. Of one day alone, nobody knows the pace."""
    data = f"sum by ({_STORE}) (vl_data_size_bytes{{{_LOGS}}})"
    days = f"max by ({_STORE}) (vl_partitions{{{_LOGS}}} > 1)"
    most = f"max by ({_STORE}) (vl_max_disk_space_usage_bytes{{{_LOGS}}} > 0)"
    return Alert(
        alert="LogsHistoryCutBySize",
        expr=f"{most}\n/ ({data} / {days}) * {_DAY}\n< {promised}",
        wait="1h",
        severity=Severity.P3,
        summary="Logs are kept for a shorter time than promised",
        description=f"{_WHERE}: {{{{ $value | humanizeDuration }}}} of logs fit, at the pace of the days that are "
        f"kept; promised are {promised // _DAY} days. The oldest day goes when the size is reached. Likely causes: "
        "more logs than planned, a retention by size that is too small for the retention by time.",
        runbook="logs-store",
    )


def _failing() -> Alert:
    return Alert(
        alert="LogsInsertsFailing",
        expr=f'sum by ({_STORE}) (increase(vl_http_errors_total{{{_LOGS}, path=~"/insert/.*"}}[5m]))\n> 0',
        wait="10m",
        severity=Severity.P2,
        summary="The store of logs fails requests",
        description=f"{_WHERE} has failed requests that bring logs for 10 minutes. What the collector does not try "
        "again is lost. Likely causes: it is read-only, a sender with another protocol or without compression that it "
        "knows, requests that are too large.",
        runbook="logs-store",
    )


def _not_stored(sent: str, stored: str) -> str:
    """True of a stack whose gateway delivers while nothing comes in at its own store."""
    gone = f'sum by ({_STACK}) (increase({sent}{{job="{GATEWAY.job}", exporter=~"otlp.*"}}[10m])) > 0'
    return f"{gone}\nunless on ({_STACK})\nsum by ({_STACK}) (increase({stored}[10m])) > 0"


def _logs_not_stored() -> Alert:
    return Alert(
        alert="LogsNotStored",
        expr=_not_stored("otelcol_exporter_sent_log_records", f"vl_rows_ingested_total{{{_LOGS}}}"),
        wait="5m",
        severity=Severity.P1,
        summary="Logs are sent and do not come in",
        description="Cluster {{ $labels.cluster }}: the gateway delivers log records, and the stack's store got none "
        "for 15 minutes. Likely causes: they go to another address, something between them answers in its place.",
        runbook="logs-store",
    )


def _writes_failing() -> Alert:
    return Alert(
        alert="TracesWritesFailing",
        expr=grew(
            f"otelcol_exporter_send_failed_spans_total{{{_JAEGER}}}", "15m", "otelcol_process_uptime_seconds_total"
        ),
        wait="0s",
        severity=Severity.P1,
        summary="The store of traces cannot write",
        description=f"{_WHERE} had taken spans and could not store them. They are lost; the collector counts them as "
        "sent. Likely causes: the claim is full or read-only, a disk fails, its files are damaged.",
        runbook="traces-store",
    )


def _traces_refused() -> Alert:
    return Alert(
        alert="TracesRefused",
        expr=f"sum by ({_STORE}) (increase(otelcol_receiver_refused_spans_total{{{_JAEGER}}}[5m])\n"
        f"  + increase(otelcol_receiver_failed_spans_total{{{_JAEGER}}}[5m]))\n> 0",
        wait="10m",
        severity=Severity.P2,
        summary="The store of traces refuses spans",
        description=f"{_WHERE} has refused spans for 10 minutes. They wait in the gateway's queue, which runs full. "
        "Likely causes: it cannot write, too little memory, a sender with another protocol.",
        runbook="traces-store",
    )


def _traces_not_stored() -> Alert:
    return Alert(
        alert="TracesNotStored",
        expr=_not_stored("otelcol_exporter_sent_spans", f"otelcol_receiver_accepted_spans_total{{{_JAEGER}}}"),
        wait="5m",
        severity=Severity.P1,
        summary="Traces are sent and do not come in",
        description="Cluster {{ $labels.cluster }}: the gateway delivers spans, and the stack's store got none for 15 "
        "minutes. Likely causes: they go to another address, something between them answers in its place.",
        runbook="traces-store",
    )
