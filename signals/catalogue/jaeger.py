"""What Jaeger 2 tells of itself. It is a collector of its own, older than ours: its counters do end in `_total`.

How full its disk is, it cannot tell: the size of its value log is that of a file that is mostly empty. The claim's own
statistics say it.
"""

from __future__ import annotations

from typing import Final

from signals.catalogue.model import Budget, Described, Drop, Metric, MetricType, Producer
from signals.catalogue.otel_collector import NO_INSTANCE, NO_SCOPE, without_dot

_CORE: Final = "go.opentelemetry.io/collector v0.140.0 "
_GENERATED: Final = "internal/metadata/generated_telemetry.go"
_RECEIVER: Final = Described("otelcol_receiver_", f"{_CORE}receiver/receiverhelper/{_GENERATED}")
_EXPORTER: Final = Described("otelcol_exporter_", f"{_CORE}exporter/exporterhelper/{_GENERATED}")
_SERVICE: Final = Described("otelcol_process_", f"{_CORE}service/{_GENERATED}")
_STORAGE: Final = Described(
    "jaeger_storage_", "github.com/jaegertracing/jaeger v1.76.0 internal/storage/v2/api/tracestore/tracestoremetrics.go"
)
_BADGER: Final = Described(
    "jaeger_storage_badger_", "github.com/jaegertracing/jaeger v1.76.0 internal/storage/v1/badger/factory.go"
)
_STORE: Final = ("kind", "name", "role")
_FIRST: Final = "the first span"

_METRICS: Final = (
    _RECEIVER.counter("accepted_spans_total", "Spans that were taken.", ("receiver", "transport"), event=_FIRST),
    _RECEIVER.counter(
        "refused_spans_total",
        "Spans that were not taken; the sender was told.",
        ("receiver", "transport"),
        event=_FIRST,
    ),
    _RECEIVER.counter("failed_spans_total", "Spans that could not be read.", ("receiver", "transport"), event=_FIRST),
    _EXPORTER.counter("sent_spans_total", "Spans that were stored.", ("exporter",), event=_FIRST),
    _EXPORTER.counter(
        "send_failed_spans_total",
        "Spans that could not be stored: taken, and lost.",
        ("exporter",),
        event=_FIRST,
    ),
    _SERVICE.counter("uptime_seconds_total", "Age of the process.", unit="seconds"),
    _SERVICE.counter("cpu_seconds_total", "Processor time used by the process.", unit="seconds"),
    _SERVICE.gauge("memory_rss_bytes", "Physical memory of the process.", unit="bytes", low=1_000_000.0),
    _STORAGE.counter(
        "requests_total",
        "Questions to the store; `result` is `err` of a trace that is not there as well.",
        (*_STORE, "operation", "result"),
        event="the first question",
    ),
    _BADGER.gauge("put_num_user", "Writes since the start.", _STORE),
    _BADGER.gauge("write_bytes_user", "Bytes that were written since the start.", _STORE, unit="bytes"),
    _BADGER.gauge("size_bytes_lsm", "Bytes of keys.", _STORE, unit="bytes"),
    Metric(
        name="target_info",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Always 1; version and configuration are in the labels.",
        labels=("plumbline_revision", "service_version"),
        low=1.0,
        high=1.0,
        source=f"{_CORE}service/telemetry/otelconftelemetry/resource.go",
    ),
)

PRODUCER: Final = Producer(
    job="jaeger",
    title="Jaeger",
    versions="Jaeger 2.13",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=_METRICS,
    drops=(
        Drop(
            metric="(jaeger_storage_latency_seconds|otelcol_processor_batch_.*)_bucket",
            why="Latencies of the store and sizes of batches. Sums and counts stay.",
        ),
        Drop(
            metric="jaeger_storage_badger_size_bytes_vlog",
            why="The size of a file that is mostly empty, two GiB from the start. Use the claim's own statistics.",
        ),
        Drop(metric="(http|rpc)_.*", why="Requests as libraries count them. What was taken is counted in spans."),
        Drop(metric="promhttp_.*", why="Errors of the page itself; such a scrape fails."),
    ),
    label_changes=(
        NO_SCOPE,
        NO_INSTANCE,
        *map(without_dot, ("otel.signal", "plumbline.revision", "service.version")),
    ),
    # Counted: 79 series after spans and three questions; each kind of question adds six.
    budget=Budget(per_target=200),
)
