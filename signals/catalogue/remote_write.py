"""What Prometheus exposes about the stores that receive every sample as well. Absent without a store."""

from __future__ import annotations

from signals.catalogue.model import Metric, MetricType

_SOURCE = "github.com/prometheus/prometheus v0.316.0 storage/remote/queue_manager.go"
_STORE = "a store in plumbline:prometheus.remote_write"

REMOTE_WRITE_METRICS: tuple[Metric, ...] = (
    Metric(
        name="prometheus_remote_storage_samples_failed_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Samples that a store refused for good, as it does with wrong credentials; they are not sent again.",
        labels=("remote_name",),
        event=_STORE,
        source=_SOURCE,
    ),
    Metric(
        name="prometheus_remote_storage_samples_dropped_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Samples that were given up before they were sent, by reason; `dropped_series` is relabelling.",
        labels=("remote_name", "reason"),
        event="the first sample that is given up for that reason",
        source=_SOURCE,
    ),
    Metric(
        name="prometheus_remote_storage_samples_pending",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Samples in memory that wait to be sent to a store.",
        labels=("remote_name",),
        event=_STORE,
        source=_SOURCE,
    ),
    Metric(
        name="prometheus_remote_storage_queue_highest_sent_timestamp_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="Time of the newest sample that a store answered for, since 1970; 0 until it has answered once.",
        labels=("remote_name",),
        event=_STORE,
        source=_SOURCE,
    ),
)
