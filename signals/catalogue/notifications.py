"""What Prometheus exposes about the alerts that it sends to Alertmanager."""

from __future__ import annotations

from signals.catalogue.model import Metric, MetricType

_SOURCE = "github.com/prometheus/prometheus v0.316.0 notifier/metric.go"
_FOUND = "an Alertmanager is found"


def _metric(name: str, kind: MetricType, meaning: str, *, per_alertmanager: bool = True) -> Metric:
    return Metric(
        name=f"prometheus_notifications_{name}",
        type=kind,
        unit="1",
        meaning=meaning,
        labels=("alertmanager",) if per_alertmanager else (),
        event=_FOUND if per_alertmanager else "",
        source=_SOURCE,
    )


NOTIFICATION_METRICS: tuple[Metric, ...] = (
    _metric(
        "alertmanagers_discovered",
        MetricType.GAUGE,
        "Alertmanagers that alerts are sent to; 0 means that nobody hears of any.",
        per_alertmanager=False,
    ),
    _metric("queue_capacity", MetricType.GAUGE, "Alerts that fit into a queue.", per_alertmanager=False),
    _metric("queue_length", MetricType.GAUGE, "Alerts that wait to be sent to an Alertmanager."),
    _metric("sent_total", MetricType.COUNTER, "Alerts sent to an Alertmanager."),
    _metric("errors_total", MetricType.COUNTER, "Alerts that an Alertmanager did not take at one attempt."),
    _metric("dropped_total", MetricType.COUNTER, "Alerts given up: the queue was full, or an Alertmanager refused."),
)
