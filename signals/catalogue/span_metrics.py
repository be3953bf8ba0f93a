"""Metrics that the gateway makes of every span, before it samples; and the metrics that workloads send by OTLP.

A service is in `service_name`. One port serves both: what workloads send has whatever names they chose, and is not on
this page. Of theirs, service and instance are stored as `exported_job` and `exported_instance`.
"""

from __future__ import annotations

from typing import Final

from signals.catalogue.model import Budget, LabelChange, Metric, MetricType, Producer
from signals.catalogue.otel_collector import NO_SCOPE

_SOURCE: Final = (
    "github.com/open-telemetry/opentelemetry-collector-contrib v0.165.1 connector/spanmetricsconnector/connector.go"
)
_LABELS: Final = ("service_name",)
_OPTIONAL: Final = ("span_name", "span_kind", "status_code", "team", "k8s_namespace_name", "otel_metric_overflow")
OVERFLOW: Final = 'otel_metric_overflow="true"'
"""Matches what was counted without its own labels, because a service has too many of them."""
_FIRST: Final = "the first span after a start of the gateway"

PRODUCER: Final = Producer(
    job="span-metrics",
    title="Metrics of spans",
    versions="OpenTelemetry Collector Contrib 0.165",
    target_labels=("cluster", "environment"),
    per_node=False,
    passes_on=True,
    metrics=(
        Metric(
            name="traces_span_metrics_calls_total",
            type=MetricType.COUNTER,
            unit="1",
            meaning="Spans, kept or not.",
            labels=_LABELS,
            optional=_OPTIONAL,
            event=_FIRST,
            source=_SOURCE,
        ),
        Metric(
            name="traces_span_metrics_duration_seconds",
            type=MetricType.HISTOGRAM,
            unit="seconds",
            meaning="How long spans took, kept or not.",
            labels=_LABELS,
            optional=_OPTIONAL,
            event=_FIRST,
            source=_SOURCE,
        ),
    ),
    label_changes=(
        NO_SCOPE,
        LabelChange(
            source="collector_instance_id",
            target="",
            why="new with each start of the gateway, whose counters begin anew then anyway.",
        ),
    ),
    # By structure: 600 combinations of service, operation, kind, status, namespace and team, of 17 series each: 14
    # buckets, their sum and count, and the calls.
    budget=Budget(per_target=10_200),
)
