"""The healthy days hold a series of everything that could wake somebody, and can fail."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from signals.catalogue import PRODUCERS
from signals.rules import groups, rule_files
from signals.rules.model import Record, Severity
from tests.offline.signals.gate import judge, with_records
from tests.offline.signals.promtool_cases import CASES, INPUTS, alerts, cases_in, records, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from signals.rules.model import Alert
    from tests.offline.signals.gate import Known

DAYS = [case for case in CASES if case.stem.startswith("healthy-day")]
GPUS = next(case for case in DAYS if case.stem == "healthy-day")
PLATFORM = next(case for case in DAYS if case.stem == "healthy-day-platform")
SWANLAB = next(case for case in DAYS if case.stem == "healthy-day-swanlab")
RECOVERY = next(case for case in DAYS if case.stem == "healthy-day-recovery")
TELEMETRY = next(case for case in DAYS if case.stem == "healthy-day-telemetry")
CALLS = {Severity.P0, Severity.P1, Severity.P2}
EVENTS = {
    "plumbline_page_proof": "smoke proves a page; while it does, the page is wanted",
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": "a GPU with NVLink, before its fifth generation",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "a GPU with NVLink, before its fifth generation",
}
"""Metrics that no healthy day of these has → the event that makes them appear."""


def played() -> set[str]:
    """Names of the series in all days."""
    entries = [entry for day in DAYS for test in cases_in(day) for entry in test["input_series"]]
    return {re.split(r"[{ ]", entry["series"])[0] for entry in entries}


def known_series() -> dict[str, Known]:
    return with_records([group for file in groups(INPUTS).values() for group in file], PRODUCERS)


def base_metrics(expression: str, made: Sequence[Record], known: Mapping[str, Known]) -> set[str]:
    """Scraped series behind an expression, through every recording rule."""
    names, found, seen = set(judge(expression, known)[1].metrics), set[str](), set[str]()
    while names - seen:
        name = (names - seen).pop()
        seen.add(name)
        sources = [rule.expr for rule in made if rule.record == name]
        names |= {inner for source in sources for inner in judge(source, known)[1].metrics}
        found |= set() if sources else {name}
    return found


def unplayed(rules: Sequence[Alert], there: set[str]) -> list[str]:
    """Alerts that call somebody and whose series are neither in a day nor known to need an event."""
    known, made = known_series(), records()
    return sorted(
        f"{rule.alert}: {name}"
        for rule in rules
        if rule.severity in CALLS
        for name in base_metrics(rule.expr, made, known) - there - set(EVENTS)
    )


def test_every_alert_that_calls_has_its_series_in_a_healthy_day() -> None:
    assert unplayed(alerts(), played()) == []


def test_a_series_that_no_day_has_is_seen_also_behind_records() -> None:
    assert "NodeNotReady: kube_node_status_condition" in unplayed(alerts(), played() - {"kube_node_status_condition"})
    capacity = {"kube_node_status_capacity", "kube_node_status_allocatable"}
    assert any(found.startswith("GpuNodeWithoutSeries: ") for found in unplayed(alerts(), played() - capacity))


def test_no_event_is_listed_that_a_day_plays_or_no_alert_asks_for() -> None:
    known, made = known_series(), records()
    asked = {name for rule in alerts() for name in base_metrics(rule.expr, made, known)}
    assert (set(EVENTS) & played(), set(EVENTS) - asked) == (set(), set())


BROKEN_GPUS = {
    "GpuHot": ("DCGM_FI_DEV_GPU_TEMP", 'pod="train-1"', "74x179", "99x179"),
    "GpuEccDoubleBit": ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 'pod="train-0"', "0x179", "0x99 1x79"),
    "GpuXidNode": ("DCGM_EXP_XID_ERRORS_COUNT", 'pod="server-0"', 'xid="31"', 'xid="79"'),
}
"""Alert → (metric, label, what stands there, what makes the day an unhealthy one)."""

BROKEN = {
    "NodeFilesystemReadOnly": ("node_filesystem_readonly", 'node="n3"', "0x360", "0x99 1x260"),
    "NodeGone": (
        "kube_node_spec_unschedulable",
        'node="n2"',
        "0x199 1x9 stale",
        "0x209 stale",
    ),
    "NodeNetworkLossy": ("node_network_receive_errs_total", 'node="n1"', "0x99 2x260", "0+24000x360"),
    "DeploymentReplicasMissing": ("kube_deployment_status_replicas_available", "api", "3x119 2x2", "3x119 2x9"),
    "DaemonSetReplicasMissing": ("kube_daemonset_status_desired", "node-exporter", "3x209 2x29 3x120", "3x360"),
    "PersistentVolumeClaimLost": ("kube_persistentvolumeclaim_status_phase", 'phase="Lost"', "0x360", "0x99 1x260"),
    "KubeStateMetricsBlind": ("kube_state_metrics_list_total", 'result="error"', "0x99 1x260", "0+5x360"),
    "ApiServerErrors": ("apiserver_request_total", 'code="500"', "0x119 4x240", "0+900x360"),
    "JobSubmissionFailing": ("apiserver_request_total", 'resource="jobs"', "0x119 1x240", "0+40x360"),
    "ApiServerSlow": ("apiserver_request_sli_duration_seconds_bucket", 'le="1.0"', "0+8995x360", "0+8800x360"),
    "AlertmanagerNotificationsFailing": ("alertmanager_notifications_failed", "P2", "3x360", "3x99 3+1x260"),
    "PrometheusRuleFailures": ("prometheus_rule_evaluation_failures", "plumbline-gpu", "2x360", "2x99 2+1x260"),
    "PrometheusVolumeNearlyFull": ("kubelet_volume_stats_available_bytes", "prometheus-data", "30x360", "5x360"),
    "PushedJobOverdue": ("plumbline_job_period_seconds", "backup", "3600x360", "600x360"),
    "SeriesBudgetExceeded": ("scrape_samples_post_metric_relabeling", "cadvisor", "700x360", "1100x360"),
}
"""The same for the day of the platform."""


BROKEN_SWANLAB = {
    "SwanlabPartDown": ("plumbline_swanlab_up", 'part="server"', "1x839 0x1 1x598", "1x839 0x9 1x590"),
    "SwanlabPagesDown": ("plumbline_swanlab_up", 'part="next"', "1x1440", "1x839 0x9 1x590"),
    "SwanlabInternalRouteOpen": ("plumbline_swanlab_up", 'part="gateway-internal"', "1x1440", "1x839 0x9 1x590"),
    "SwanlabLicenceExpires": ("plumbline_swanlab_licence_days_left", "gate", "39x719", "13x719"),
    "SwanlabLicenceInactive": ("plumbline_swanlab_licence_state", "inactive", "0x1440", "0x99 1x1340"),
    "SwanlabBufferFilling": ("vector_buffer_byte_size", "scalar", "120000 5000x117", "900000x20 5000x97"),
    "SwanlabBufferNotDraining": ("vector_buffer_sent_events_total", "scalar", "6000+6000x718", "0x718"),
    "SwanlabPointsDiscarded": ("vector_component_discarded_events_total", 'intentional="false"', "3x719", "3x99 4x619"),
    "SwanlabBufferDamaged": ("vector_buffer_errors_total", "reader_failed", "1x719", "1x99 2x619"),
    "SwanlabClickHouseInsertsRejected": ("RejectedInserts", "ch", "4x599", "4x99 5x499"),
    "SwanlabClickHouseInsertsFailing": ("FailedInsertQuery", "ch", "9x119 10x479", "9+1x599"),
    "SwanlabClickHouseInsertsDelayed": ("DelayedInserts", "ch", "20x599", "20+1x599"),
    "ObjectStoreDown": ("up{", "object-store", "1x479 0x1 1x958", "1x479 0x9 1x950"),
    "ObjectStoreErrors": ("s3_request_total", 'code="500"', "1+1x958", "1+100x958"),
    "ObjectStoreReadOnly": ("read_only_volumes", "isDiskSpaceLow", "0x479", "0x199 1x279"),
    "ObjectStoreNearlyFull": ("volumeServer_resource", "avail", "40x479", "5x479"),
    "ObjectStoreDiskErrors": ("file_write_failures", "object-store", "0x479", "0x99 1x379"),
}
"""The same for the day of SwanLab. That its gate is gone would hide the rest, and has cases of its own."""

BROKEN_RECOVERY = {
    "RecoveryPointTooOld": ("last_point_timestamp", "create", "40500x32 50400x35 61200x35", "40500x104"),
    "RecoveryCreateFailing": ("recovery_last_failure", 'store="postgres"', "39720x2 stale", "39720x155"),
    "RecoveryVerifyFailing": ("recovery_last_failure", "verify", "14400x3 0x236", "14400x240"),
    "RecoveryVerificationFailed": ("verification_differences", "verify", "0x288", "0x99 1x20 0x167"),
    "RecoveryTargetTampered": ("tampered_objects", "create", "0x288", "0x99 1x20 0x167"),
    "RecoveryPointDamaged": ("points_damaged", "verify", "0x288", "0x199 1x20 0x67"),
    "RecoveryClockAhead": ("last_verified_point", "verify", "7200x236", "97200x236"),
    "RecoveryPointShrank": ("point_bytes", "clickhouse", "1000000x288", "1000000x200 300000000x86"),
    "RecoveryStoreLeftOut": ("point_bytes", "redis", "5000x119", "5000x50 stale"),
}
"""The same for restore points. What waits for longer than a day, and that nothing is told, have cases of their own."""


BROKEN_TELEMETRY = {
    "TelemetryRefused": ("receiver_refused_spans", "otel-gateway", "0x99 50x379", "0x99 0+50x379"),
    "TelemetryMemoryLimited": ("memory_limiter_refused_spans", "otel-gateway", "5x479", "5x99 6x379"),
    "TelemetryReceiverFailing": ("receiver_failed_spans", "otel-gateway", "1x479", "1x99 2x379"),
    "TelemetryMemoryHigh": ("process_memory_rss", "otel-gateway", "1500x479", "1900x479"),
    "TelemetryAgentReadsNothing": ("open_files", "otel-agent", "40x1440", "40x99 0x1340"),
    "TelemetryAgentBehind": ("receiver_refused_log_records", "file_log", "20x960", "20+1x960"),
    "TelemetryRedactionFailing": ("outgoing_items", "redaction", "3960+3000x479", "3960+2999x479"),
    "TelemetryNotSending": ("sent_metric_points", "otel-agent", "0+500x1440", "0+500x99 49500x1340"),
    "TelemetryQueueFilling": ("queue_size", "otlp_grpc/traces", "8 10 0x715", "8 900 900x715"),
    "TelemetryLost": ("enqueue_failed_spans", "otel-gateway", "7x479", "7x99 8x379"),
    "TelemetryUnaccounted": ("sent_log_records", "otel-agent", "723000+1500x958", "723000+1400x958"),
    "TelemetryVolumeAbovePlan": ("accepted_spans", "otel-gateway", "0+1200x479", "0+3300x479"),
    "TracesDroppedTooEarly": ("dropped_too_early", "otel-gateway", "3x479", "3x99 4x379"),
    "SamplingPolicyFailing": ("policy_evaluation_error", "otel-gateway", "2x479", "2x99 3x379"),
    "LogsDropped": ("vl_rows_dropped_total", "too_small", "4x599", "4x99 5x499"),
    "LogsReadOnly": ("vl_storage_is_read_only", "victoria-logs", "0x599", "0x99 1x499"),
    "LogsNearlyFull": ("vl_free_disk_space_bytes", "victoria-logs", "40x599", "5x599"),
    "LogsInsertsFailing": ("vl_http_errors_total", "/insert/", "2x599", "2+1x599"),
    "LogsNotStored": ("vl_rows_ingested_total", "victoria-logs", "0+3000x599", "9x599"),
    "TracesWritesFailing": ("send_failed_spans_total", "jaeger", "2x719", "2x99 3x619"),
    "TracesRefused": ("refused_spans_total", "jaeger", "3x719", "3+1x719"),
    "TracesNotStored": ("accepted_spans_total", "jaeger", "0+20x719", "9x719"),
}
"""The same for the day of traces and logs."""


@pytest.mark.parametrize(
    ("day", "broken"),
    [
        (GPUS, BROKEN_GPUS),
        (PLATFORM, BROKEN),
        (SWANLAB, BROKEN_SWANLAB),
        (RECOVERY, BROKEN_RECOVERY),
        (TELEMETRY, BROKEN_TELEMETRY),
    ],
    ids=["gpus", "platform", "swanlab", "recovery", "telemetry"],
)
def test_a_day_that_is_not_healthy_is_seen(
    day: Path, broken: Mapping[str, tuple[str, str, str, str]], tmp_path: Path
) -> None:
    """All at once, because a day takes seconds."""
    lines = day.read_text(encoding="utf-8").splitlines()
    for metric, label, before, after in broken.values():
        at = next(i for i, line in enumerate(lines) if metric in line and label in line and before in line)
        lines[at] = lines[at].replace(before, after)
    case = tmp_path / "day" / day.name
    case.parent.mkdir()
    case.write_text("\n".join(lines), encoding="utf-8")
    code, output = run(case, tmp_path)
    assert code != 0
    assert [alert for alert in broken if f'alertname="{alert}"' not in output] == []


def test_the_days_replay_every_rule_file() -> None:
    named = {name for day in DAYS for name in re.findall(r"rules-[a-z-]+\.yml", day.read_text().splitlines()[1])}
    assert named == set(rule_files(INPUTS))
