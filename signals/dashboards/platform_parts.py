"""Rows of the platform's board about its parts, a line for each: enough to know which board to open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals import recovery_metrics as names
from signals.catalogue.otel_collector import GATEWAY
from signals.dashboards.links import board, runbook
from signals.dashboards.model import Good, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.panels import stat, timeseries
from signals.dashboards.variables import chosen
from signals.rules.gpu_labels import FLEET

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_DAY_SECONDS: Final = 86400
_SELF: Final = 'job="prometheus"'
_SOME: Final = 20


def parts(inputs: BoardInputs) -> tuple[Row, ...]:
    """In the order in which one fault brings the next."""
    return (
        _apiserver(inputs),
        _storage(inputs),
        _prometheus(inputs),
        _gpus(inputs),
        _swanlab(inputs),
        _telemetry(inputs),
        _restore_points(inputs),
    )


def _apiserver(inputs: BoardInputs) -> Row:
    return Row(
        title="API server",
        panels=(
            timeseries(
                "Failing requests to the API server",
                {
                    "{{cluster}}": chosen("cluster:apiserver_errors:ratio"),
                    "{{cluster}}: new pods and jobs": chosen("cluster:apiserver_submit_errors:ratio"),
                },
                "Share that ends in an error of the server. Nothing is scheduled or repaired reliably meanwhile.",
                Unit.RATIO,
                links=runbook(inputs, "apiserver-errors"),
                rare={"{{cluster}}: new pods and jobs": "pods or jobs were asked for within five minutes"},
            ),
            timeseries(
                "Slowest hundredth of requests",
                {
                    "{{cluster}}": chosen("cluster:apiserver_latency_seconds:p99"),
                    "{{cluster}}: etcd": chosen("cluster:etcd_latency_seconds:p99"),
                },
                "On a single object, without webhooks. Where etcd rises first, it is its disk.",
                Unit.SECONDS,
                Limits(warn=1.0),
                links=runbook(inputs, "apiserver-slow"),
            ),
        ),
        needs=frozenset({"apiserver"}),
    )


def _storage(inputs: BoardInputs) -> Row:
    claim = f"max by ({FLEET}, namespace, persistentvolumeclaim)"
    free, size = (chosen(f"kubelet_volume_stats_{what}_bytes") for what in ("available", "capacity"))
    share = f"{claim} ({free})\n  / ({claim} ({size}) > 0)"
    full = Panel(
        title="Claims with the least room",
        kind=Kind.BARS,
        unit=Unit.RATIO,
        meaning="Free share of the fullest volumes of all namespaces. When one is full, what writes to it crashes or "
        "loses data.",
        queries=(
            Query(
                expr=f"bottomk({_SOME},\n  {share}\n)",
                legend="{{namespace}} {{persistentvolumeclaim}}",
                instant=True,
            ),
        ),
        limits=Limits(warn=inputs.rules.thresholds.volume_free_low, good=Good.HIGH),
        links=runbook(inputs, "kubernetes-storage"),
        empty="nothing until a pod mounts a claim whose driver reports statistics (volumes on a host path never do)",
        width=24,
        high=1,
    )
    return Row(title="Storage", panels=(full,), needs=frozenset({"kubelet"}))


def _prometheus(inputs: BoardInputs) -> Row:
    sizes = ("storage_blocks_bytes", "wal_storage_size_bytes", "head_chunks_storage_size_bytes")
    used = " + ".join(chosen(f"prometheus_tsdb_{size}", _SELF) for size in sizes)
    limit = chosen("prometheus_tsdb_retention_limit_bytes", _SELF)
    appended = chosen("prometheus_tsdb_head_samples_appended_total", _SELF)
    rate = f"sum by ({FLEET}, instance) (rate({appended}[$__rate_interval]))"
    return Row(
        title="Prometheus",
        panels=(
            stat(
                "Configuration of Prometheus in force",
                f"min({chosen('prometheus_config_last_reload_successful', _SELF)})",
                "No: new rules and jobs are refused, and a restart would not come up. Grey: it does not see itself.",
                Unit.YES_OR_NO,
                Limits(warn=1, good=Good.HIGH),
                links=runbook(inputs, "prometheus-config-reload-failed"),
            ),
            stat(
                "Series in memory",
                f"sum(max by ({FLEET}) ({chosen('prometheus_tsdb_head_series', _SELF)}))",
                "What its memory limit has to hold. Which job brings them: the plan by job above.",
            ),
            stat(
                "Used of its retention by size",
                f"max(({used}) / ({limit} > 0))",
                "Of the fullest. Near one is normal: it deletes there. Well above, the volume fills up.",
                Unit.RATIO,
                links=runbook(inputs, "prometheus-storage"),
            ),
            timeseries(
                "Samples written",
                {"{{cluster}} {{instance}}": rate},
                "A line at zero or one that ends: nothing is recorded, though it may be ready and answer questions.",
                Unit.PER_SECOND,
                links=runbook(inputs, "prometheus-not-ingesting"),
            ),
        ),
        needs=frozenset({"prometheus"}),
    )


def _gpus(inputs: BoardInputs) -> Row:
    offered, allocated = (f"sum({chosen(f'fleet:gpu_{what}:sum')})" for what in ("allocatable", "allocated"))
    devices = chosen("node:gpu_devices:count")
    busy = f"sum({chosen('node:gpu_utilization:avg')} * {devices})"
    fleet = board("plumbline-gpu-fleet")
    return Row(
        title="GPUs",
        panels=(
            stat("GPUs that are held", f"{allocated} / ({offered} > 0)", "Share of them.", Unit.RATIO, links=fleet),
            stat(
                "How busy GPUs are",
                f"{busy} / (sum({devices}) > 0)",
                "Of all, held or not. Far below the share that is held, jobs wait for something.",
                Unit.RATIO,
                links=fleet,
            ),
            stat(
                "Hottest GPU",
                f"max({chosen('fleet:gpu_temperature_celsius:max')})",
                "Above its limit it is slowed down, and all ranks of its job wait.",
                Unit.CELSIUS,
                Limits(warn=inputs.rules.thresholds.gpu_temperature_celsius),
                links=fleet,
            ),
        ),
        needs=frozenset({"dcgm-exporter", "kube-state-metrics"}),
    )


def _swanlab(inputs: BoardInputs) -> Row:
    part = f"avg by ({FLEET}, part) (avg_over_time({chosen('plumbline_swanlab_up')}[5m]))"
    left = f"min({chosen('plumbline_swanlab_licence_days_left')}) * {_DAY_SECONDS}"
    low = inputs.rules.thresholds.swanlab_licence_days_low * _DAY_SECONDS
    return Row(
        title="SwanLab",
        panels=(
            stat(
                "Parts of SwanLab that do not answer",
                f"count({part} < 0.5)\nor\n0 * count({part})",
                "Asked by its gate in the last five minutes. Grey: nobody asks.",
                limits=Limits(warn=1, bad=1),
                links=runbook(inputs, "swanlab-part-down"),
            ),
            stat(
                "SwanLab's licence ends in",
                left,
                "Then nobody can log in and no run begins.",
                Unit.SECONDS,
                Limits(warn=low, good=Good.HIGH),
                links=runbook(inputs, "swanlab-licence"),
                empty="nothing until the server tells when its licence ends",
            ),
        ),
        needs=frozenset({"swanlab-gate"}),
    )


def _telemetry(inputs: BoardInputs) -> Row:
    if inputs.rules.telemetry is None:
        return Row(title="Telemetry", panels=())
    items = "job:telemetry_items:rate5m"
    accepted, gone = f'job="{GATEWAY.job}", stage="accepted"', 'stage=~"lost_.*|failed"'
    taken, lost = (f"sum({chosen(items, which)})" for which in (accepted, gone))
    return Row(
        title="Telemetry",
        panels=(
            stat(
                "Taken by the gateway",
                taken,
                "Spans, log records and metric points together. None at all while jobs run: agents or senders do not "
                "reach it.",
                Unit.PER_SECOND,
                links=runbook(inputs, "telemetry-collector"),
            ),
            stat(
                "Lost by collectors",
                f"{lost}\nor\n0 * {taken}",
                "Thrown away or not readable. Nobody else has it.",
                Unit.PER_SECOND,
                links=runbook(inputs, "telemetry-loss"),
            ),
        ),
        needs=frozenset({GATEWAY.job}),
    )


def _restore_points(inputs: BoardInputs) -> Row:
    aims = inputs.rules.recovery
    if aims is None:
        return Row(title="Restore points", panels=())
    verified = aims.rpo_seconds + inputs.rules.thresholds.recovery_unverified_periods * aims.verify_period_seconds
    oldest = "time() - min(max by ({0}) (last_over_time({1}[1d])))"
    return Row(
        title="Restore points",
        panels=(
            stat(
                "Would be lost now",
                oldest.format(FLEET, chosen(names.LAST_POINT)),
                "Age of the newest restore point, of the worst cluster. Grey: none is known.",
                Unit.SECONDS,
                Limits(warn=aims.rpo_seconds),
                links=runbook(inputs, "recovery-point"),
                empty="nothing until a restore point is made",
            ),
            stat(
                "Last known to be good",
                oldest.format(FLEET, chosen(names.LAST_VERIFIED)),
                "Age of the newest restore point that was restored and compared; half a century where none ever was.",
                Unit.SECONDS,
                Limits(warn=round(verified)),
                links=runbook(inputs, "recovery-verification"),
                empty="nothing until a verification comes to its end",
            ),
        ),
        needs=frozenset({"pushgateway"}),
    )
