"""What Alertmanager exposes about itself."""

from __future__ import annotations

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer
from signals.catalogue.process import EPOCH_2020, PROCESS_METRICS

FLAGS: tuple[str, ...] = ("--enable-feature=receiver-name-in-metrics",)
"""Without it, metrics tell the kind of an integration and not which receiver it belongs to."""

_MODULE = "github.com/prometheus/alertmanager v0.31.1 "
_NOTIFY = _MODULE + "notify/notify.go"
_CONFIG = _MODULE + "config/coordinator.go"
_INTEGRATION = ("integration",)
_RECEIVER = ("receiver_name",)


def _counter(  # one parameter per field of the record that varies here
    name: str,
    meaning: str,
    source: str,
    labels: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
) -> Metric:
    return Metric(
        name=name,
        type=MetricType.COUNTER,
        unit="1",
        meaning=meaning,
        labels=labels,
        optional=optional,
        source=source,
    )


def _gauge(  # one parameter per field of the record that varies here
    name: str,
    meaning: str,
    source: str,
    labels: tuple[str, ...] = (),
    *,
    unit: str = "1",
    low: float | None = 0.0,
    high: float | None = None,
) -> Metric:
    return Metric(
        name=name,
        type=MetricType.GAUGE,
        unit=unit,
        meaning=meaning,
        labels=labels,
        low=low,
        high=high,
        source=source,
    )


_STATE = (
    _gauge(
        "alertmanager_build_info",
        "Always 1; the version is in the labels.",
        "github.com/prometheus/common v0.67.5 version/info.go",
        ("version", "goversion"),
        low=1.0,
        high=1.0,
    ),
    _gauge(
        "alertmanager_config_last_reload_successful",
        "1 if the last configuration that was tried is the one that runs, 0 if an older one still does.",
        _CONFIG,
        low=1.0,
        high=1.0,
    ),
    _gauge(
        "alertmanager_config_last_reload_success_timestamp_seconds",
        "When a configuration was last loaded, since 1970.",
        _CONFIG,
        unit="seconds",
        low=EPOCH_2020,
    ),
    _gauge("alertmanager_config_hash", "A number for the configuration that runs.", _CONFIG),
    _gauge("alertmanager_receivers", "Receivers of the configuration.", _MODULE + "cmd/alertmanager/main.go", low=1.0),
    _gauge(
        "alertmanager_integrations",
        "Addresses that receivers notify; 0 is an Alertmanager that swallows everything.",
        _MODULE + "cmd/alertmanager/main.go",
        low=1.0,
    ),
    _gauge("alertmanager_alerts", "Alerts by state.", _MODULE + "provider/mem/mem.go", ("state",)),
    _gauge("alertmanager_silences", "Silences by state.", _MODULE + "silence/silence.go", ("state",)),
)

_FLOW = (
    _counter(
        "alertmanager_alerts_received_total",
        "Alerts received, by status.",
        _MODULE + "api/metrics/metrics.go",
        ("status", "version"),
    ),
    _counter(
        "alertmanager_alerts_invalid_total",
        "Alerts that were refused, and will never be told to anybody.",
        _MODULE + "api/metrics/metrics.go",
        ("version",),
    ),
    _counter(
        "alertmanager_notifications_total",
        "Notifications that were attempted, by receiver and kind of integration.",
        _NOTIFY,
        _INTEGRATION,
        _RECEIVER,
    ),
    _counter(
        "alertmanager_notifications_failed_total",
        "Notifications that were given up after every attempt, by receiver and kind of integration.",
        _NOTIFY,
        (*_INTEGRATION, "reason"),
        _RECEIVER,
    ),
    _counter(
        "alertmanager_notification_requests_failed_total",
        "Requests to an integration that failed; they are tried again.",
        _NOTIFY,
        _INTEGRATION,
        _RECEIVER,
    ),
    _counter(
        "alertmanager_nflog_maintenance_errors_total",
        "Failed attempts to write down which notifications were sent.",
        _MODULE + "nflog/nflog.go",
    ),
    _counter(
        "alertmanager_silences_maintenance_errors_total",
        "Failed attempts to write down the silences.",
        _MODULE + "silence/silence.go",
    ),
)

_DROPS = (
    Drop(
        metric="alertmanager_(http|oversize|oversized|cluster_pings|nflog_query|silences_query).*_bucket",
        why="Latencies inside of Alertmanager. Sums and counts stay.",
    ),
    Drop(
        metric="alertmanager_notification_latency_seconds_bucket",
        why="For every kind of integration, whether it is used or not. Sum and count stay.",
    ),
    Drop(metric="alertmanager_marked_alerts", why="Counts ended alerts too; alertmanager_alerts does not."),
)

PRODUCER = Producer(
    job="alertmanager",
    title="Alertmanager",
    versions="Alertmanager 0.31",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(*_STATE, *_FLOW, *PROCESS_METRICS),
    drops=_DROPS,
    # By structure: 10 series for every receiver's integration, or for each kind where names are not switched on.
    budget=Budget(per_target=600),
)
