"""What Prometheus exposes about itself."""

from __future__ import annotations

from signals.catalogue.model import Budget, Metric, MetricType, Producer
from signals.catalogue.notifications import NOTIFICATION_METRICS
from signals.catalogue.process import EPOCH_2020, PROCESS_METRICS
from signals.catalogue.remote_write import REMOTE_WRITE_METRICS

_MODULE = "github.com/prometheus/prometheus v0.316.0 "
_MAIN = _MODULE + "cmd/prometheus/main.go"
_DB = _MODULE + "tsdb/db.go"
_HEAD = _MODULE + "tsdb/head.go"
_SCRAPE = _MODULE + "scrape/metrics.go"
_RULES = _MODULE + "rules/group.go"

_SERVER = (
    Metric(
        name="prometheus_build_info",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Always 1; the version is in the labels.",
        labels=("version", "revision"),
        low=1.0,
        high=1.0,
        source="github.com/prometheus/common v0.72.1 version/info.go",
    ),
    Metric(
        name="prometheus_ready",
        type=MetricType.GAUGE,
        unit="1",
        meaning="1 once start-up, including replay of the write-ahead log, has finished.",
        low=1.0,
        high=1.0,
        source=_MODULE + "web/web.go",
    ),
    Metric(
        name="prometheus_config_last_reload_successful",
        type=MetricType.GAUGE,
        unit="1",
        meaning="1 if the last configuration that was tried is the one that runs, 0 if an older one still does.",
        low=1.0,
        high=1.0,
        source=_MAIN,
    ),
    Metric(
        name="prometheus_config_last_reload_success_timestamp_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When a configuration was last loaded, since 1970.",
        low=EPOCH_2020,
        source=_MAIN,
    ),
)

_STORAGE = (
    Metric(
        name="prometheus_tsdb_head_series",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Series in memory: what the memory limit has to hold.",
        low=1.0,
        source=_HEAD,
    ),
    Metric(
        name="prometheus_tsdb_head_samples_appended_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Samples written, by kind of sample. A flat line means that nothing is recorded.",
        labels=("type",),
        source=_HEAD,
    ),
    Metric(
        name="prometheus_tsdb_head_chunks_storage_size_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Disk used by memory-mapped chunks; part of what retention by size counts.",
        source=_HEAD,
    ),
    Metric(
        name="prometheus_tsdb_wal_storage_size_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Disk used by the write-ahead log; part of what retention by size counts.",
        source=_MODULE + "tsdb/wlog/wlog.go",
    ),
    Metric(
        name="prometheus_tsdb_wal_corruptions_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Repairs of the write-ahead log; each cuts off the samples behind the damage. Born at 1 on restart.",
        source=_HEAD,
    ),
    Metric(
        name="prometheus_tsdb_storage_blocks_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Disk used by finished blocks. 0 until the first block is cut, two to three hours after the start.",
        source=_DB,
    ),
    Metric(
        name="prometheus_tsdb_retention_limit_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Retention by size that is in force; 0 would mean none.",
        low=1.0,
        source=_DB,
    ),
    Metric(
        name="prometheus_tsdb_retention_limit_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="Retention by time that is in force.",
        low=7200.0,
        source=_DB,
    ),
    Metric(
        name="prometheus_tsdb_size_retentions_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Blocks deleted because of their size, before their time.",
        source=_DB,
    ),
    Metric(
        name="prometheus_tsdb_compactions_failed_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Failed compactions: the first sign of a full or failing disk.",
        source=_DB,
    ),
)

_SCRAPING = (
    Metric(
        name="prometheus_target_scrape_pool_targets",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Targets per job after relabelling.",
        labels=("scrape_job",),
        source=_SCRAPE,
    ),
    Metric(
        name="prometheus_target_scrape_pool_exceeded_target_limit_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Times a job had more targets than its limit; none of its targets is scraped then.",
        source=_SCRAPE,
    ),
    Metric(
        name="prometheus_target_scrapes_exceeded_sample_limit_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Scrapes thrown away whole for having more samples than the limit.",
        source=_SCRAPE,
    ),
    Metric(
        name="prometheus_target_scrapes_exceeded_body_size_limit_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Scrapes thrown away whole for a body larger than the limit.",
        source=_SCRAPE,
    ),
    Metric(
        name="prometheus_target_scrape_pool_exceeded_label_limits_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Scrapes thrown away whole for too many labels, or labels that are too long.",
        source=_SCRAPE,
    ),
    *(
        Metric(
            name=f"prometheus_target_scrapes_sample_{what}_total",
            type=MetricType.COUNTER,
            unit="1",
            meaning=meaning,
            source=_SCRAPE,
        )
        for what, meaning in (
            ("duplicate_timestamp", "Samples refused: the series had another value at that very time."),
            ("out_of_order", "Samples refused: the series had a newer one."),
            ("out_of_bounds", "Samples refused: too old or too far in the future."),
        )
    ),
    Metric(
        name="prometheus_sd_discovered_targets",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Targets found by discovery, per job, before relabelling.",
        labels=("name", "config"),
        source=_MODULE + "discovery/metrics.go",
    ),
)

_EVALUATION = (
    Metric(
        name="prometheus_rule_evaluations_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Evaluations of rules, per group.",
        labels=("rule_group",),
        source=_RULES,
    ),
    Metric(
        name="prometheus_rule_evaluation_failures_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Failed evaluations, per group. An alert that cannot be evaluated never fires.",
        labels=("rule_group",),
        source=_RULES,
    ),
    Metric(
        name="prometheus_rule_group_iterations_missed_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Evaluations left out because the one before took too long, per group.",
        labels=("rule_group",),
        source=_RULES,
    ),
    Metric(
        name="prometheus_rule_group_last_evaluation_timestamp_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When a group was last evaluated, since 1970.",
        labels=("rule_group",),
        source=_RULES,
    ),
    Metric(
        name="prometheus_http_requests_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Requests to the server, by handler and status code.",
        labels=("handler", "code"),
        event="the first request of that handler with that status code",
        source=_MODULE + "web/web.go",
    ),
)

PRODUCER = Producer(
    job="prometheus",
    title="Prometheus itself",
    versions="Prometheus 3.16",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(
        *(*_SERVER, *_STORAGE, *_SCRAPING, *_EVALUATION),
        *(*NOTIFICATION_METRICS, *REMOTE_WRITE_METRICS, *PROCESS_METRICS),
    ),
    # By structure: 12 buckets for each of 50 handlers, 10 series for each of 60 rule groups, 20 for each of 12 jobs,
    # and 500 of which there is one.
    budget=Budget(per_target=2500),
)
