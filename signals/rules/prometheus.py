"""Alerts about Prometheus itself: configuration, rules, ingestion and storage."""

from __future__ import annotations

from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity

_WHERE = "{{ $labels.instance }} (cluster {{ $labels.cluster }})"
_SELF = '{job="prometheus"}'
STORED = (
    "prometheus_tsdb_storage_blocks_bytes",
    "prometheus_tsdb_wal_storage_size_bytes",
    "prometheus_tsdb_head_chunks_storage_size_bytes",
)
"""What retention by size counts."""
_USED = "\n+ ".join(f"{metric}{_SELF}" for metric in STORED)
_LIMITS = (
    ("samples", "prometheus_target_scrapes_exceeded_sample_limit_total"),
    ("labels", "prometheus_target_scrape_pool_exceeded_label_limits_total"),
    ("body_size", "prometheus_target_scrapes_exceeded_body_size_limit_total"),
    ("targets", "prometheus_target_scrape_pool_exceeded_target_limit_total"),
)


def prometheus_alerts() -> Group:
    """Everything that makes Prometheus record or judge less than it seems to."""
    return Group(
        name="plumbline-prometheus",
        rules=(
            _reload_failed(),
            _rules_failing(),
            _not_ingesting(),
            *(_limit_hit(what, metric) for what, metric in _LIMITS),
            *_storage(),
        ),
    )


def _reload_failed() -> Alert:
    return Alert(
        alert="PrometheusConfigReloadFailed",
        expr=f"max_over_time(prometheus_config_last_reload_successful{_SELF}[5m]) == 0",
        wait="5m",
        severity=Severity.P2,
        summary="{{ $labels.instance }} refuses its new configuration",
        description=f"{_WHERE} has run on an older configuration for 10 minutes, because the one on its volume cannot "
        "be loaded. New rules and jobs are not in force, and a restart would not come up. Likely causes: a ConfigMap "
        "changed by hand, a referenced file that is missing.",
        runbook="prometheus-config-reload-failed",
    )


def _rules_failing() -> Alert:
    return Alert(
        alert="PrometheusRuleFailures",
        expr=grew(f"prometheus_rule_evaluation_failures_total{_SELF}", "10m"),
        wait="5m",
        severity=Severity.P2,
        summary="Rules of {{ $labels.rule_group }} cannot be evaluated",
        description=f"{_WHERE} failed to evaluate rules of {{{{ $labels.rule_group }}}}. An alert that is not "
        "evaluated never fires. Likely causes: a join whose side is no longer unique after an upgrade, a query limit.",
        runbook="prometheus-rule-failures",
    )


def _not_ingesting() -> Alert:
    """The second half is for the case that matters: a full disk takes this very metric along."""
    appended = f"prometheus_tsdb_head_samples_appended_total{_SELF}"
    return Alert(
        alert="PrometheusNotIngesting",
        expr=f"sum by (cluster, environment, job, instance) (rate({appended}[5m])) <= 0\n"
        f"or\nabsent_over_time({appended}[5m])",
        wait="5m",
        severity=Severity.P1,
        summary="Prometheus records no samples",
        description="Prometheus has written no sample for 10 minutes, though it may be ready and answer queries. "
        "Likely causes: the volume is full, it does not scrape itself, the storage fails.",
        runbook="prometheus-not-ingesting",
    )


def _limit_hit(what: str, metric: str) -> Alert:
    return Alert(
        alert="PrometheusScrapeLimitHit",
        expr=grew(f"{metric}{_SELF}", "10m"),
        wait="5m",
        severity=Severity.P2,
        labels={"limit": what},
        summary=f"Scrapes are thrown away: limit of {what}",
        description=f"{_WHERE} threw away whole scrapes because a target passed the limit of {what}. The target counts "
        "as down meanwhile. Likely causes: a release with a new label of many values, more objects than planned for.",
        runbook="prometheus-scrape-limit-hit",
    )


def _storage() -> tuple[Alert, ...]:
    return (_above_retention(), _volume_nearly_full(), _history_cut(), _wal_corruption(), _compactions_failing())


def _above_retention() -> Alert:
    """Retention by size deletes at the limit, so being near it is normal; being well above it means it fails.

    The limit is at most 80 % of the volume (checked before deployment): 110 % of it leaves an eighth of the volume.
    """
    return Alert(
        alert="PrometheusStorageAboveRetention",
        expr=f"(\n{_USED}\n)\n/ (prometheus_tsdb_retention_limit_bytes{_SELF} > 0)\n> 1.1",
        wait="15m",
        severity=Severity.P1,
        summary="Storage of {{ $labels.instance }} grows past its retention by size",
        description=f"{_WHERE} uses {{{{ $value | humanizePercentage }}}} of its retention by size, which is not "
        "deleting fast enough. When the volume is full, ingestion stops. Likely causes: failing compactions, a burst "
        "of new series in the write-ahead log.",
        runbook="prometheus-storage",
    )


def _volume_nearly_full() -> Alert:
    free, size = (
        f'kubelet_volume_stats_{what}_bytes{{job="kubelet", persistentvolumeclaim="prometheus-data"}}'
        for what in ("available", "capacity")
    )
    claim = "cluster, environment, namespace, persistentvolumeclaim"
    return Alert(
        alert="PrometheusVolumeNearlyFull",
        expr=f"max by ({claim}) ({free})\n/ max by ({claim}) ({size} > 0)\n< 0.1",
        wait="10m",
        severity=Severity.P1,
        summary="The volume of Prometheus is nearly full",
        description="Claim {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }} (cluster {{ $labels.cluster }}) "
        "has {{ $value | humanizePercentage }} free. When it is full, ingestion stops while the pod stays ready. "
        "Likely causes: retention by size too close to the volume, something else writes to it.",
        runbook="prometheus-storage",
    )


def _history_cut() -> Alert:
    return Alert(
        alert="PrometheusHistoryCutBySize",
        expr=grew(f"prometheus_tsdb_size_retentions_total{_SELF}", "1d"),
        wait="0s",
        severity=Severity.P3,
        summary="{{ $labels.instance }} keeps less history than its retention promises",
        description=f"{_WHERE} deleted blocks for their size before their time in the last day. Likely causes: more "
        "series than planned for, a volume too small for the retention.",
        runbook="prometheus-history-cut-by-size",
    )


def _wal_corruption() -> Alert:
    """The counter is born at 1: the repair happens before the first scrape after a restart."""
    return Alert(
        alert="PrometheusWalCorruption",
        expr=grew(f"prometheus_tsdb_wal_corruptions_total{_SELF}", "1h"),
        wait="0s",
        severity=Severity.P2,
        summary="{{ $labels.instance }} cut off damaged samples",
        description=f"{_WHERE} repaired its write-ahead log by cutting it off at the damage: up to three hours of "
        "samples may be gone. Likely causes: a full volume, a node that lost power, a failing disk.",
        runbook="prometheus-storage",
    )


def _compactions_failing() -> Alert:
    return Alert(
        alert="PrometheusCompactionsFailing",
        expr=grew(f"prometheus_tsdb_compactions_failed_total{_SELF}", "3h"),
        wait="15m",
        severity=Severity.P2,
        summary="{{ $labels.instance }} cannot compact its blocks",
        description=f"{_WHERE} failed to compact blocks. Memory and the write-ahead log grow until one of them is "
        "full. Likely causes: no space for the new block beside the old ones, a damaged block.",
        runbook="prometheus-storage",
    )
