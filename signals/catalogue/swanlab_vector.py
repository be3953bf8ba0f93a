"""What the delivery buffer of SwanLab tells of itself: Vector's internal metrics.

Vector answers 200 to house once events are on its disk, and stores them later: what is in its buffers was acknowledged
to somebody and is nowhere else. A buffer's series appear with its first event after a start; those of what was found on
disk do too, as if it were received then.
"""

from __future__ import annotations

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer

_VECTOR = "github.com/vectordotdev/vector v0.51.1 "
_BUFFERS = _VECTOR + "lib/vector-buffers/src/internal_events.rs"
_EVENTS = _VECTOR + "lib/vector-common/src/internal_event/"
_COMPONENT = ("component_id", "component_kind", "component_type")
_BUFFER = (*_COMPONENT, "buffer_id", "buffer_type", "stage")
_HOST = ("host",)
"""Added by the source of internal metrics, unless it is told not to."""
_FIRST = "its first event after a start"


def _metric(  # one parameter per field of the record that varies here
    name: str,
    type_: MetricType,
    meaning: str,
    source: str,
    labels: tuple[str, ...] = (),
    *,
    unit: str = "1",
    event: str = "",
) -> Metric:
    return Metric(
        name=f"vector_{name}",
        type=type_,
        unit=unit,
        meaning=meaning,
        labels=labels,
        optional=_HOST,
        event=event,
        source=source,
    )


def _counter(
    name: str, meaning: str, source: str, labels: tuple[str, ...], *, unit: str = "1", event: str = _FIRST
) -> Metric:
    return _metric(name, MetricType.COUNTER, meaning, source, labels, unit=unit, event=event)


_BUFFERED = (
    _metric(
        "buffer_max_byte_size",
        MetricType.GAUGE,
        "Bytes that a buffer on disk may hold; beyond them SwanLab accepts nothing more.",
        _BUFFERS,
        _BUFFER,
        unit="bytes",
    ),
    _metric("buffer_byte_size", MetricType.GAUGE, "Bytes in a buffer.", _BUFFERS, _BUFFER, unit="bytes", event=_FIRST),
    _metric(
        "buffer_events",
        MetricType.GAUGE,
        "Events in a buffer: acknowledged, and not stored yet.",
        _BUFFERS,
        _BUFFER,
        event=_FIRST,
    ),
    _counter("buffer_received_events_total", "Events put into a buffer.", _BUFFERS, _BUFFER),
    _counter("buffer_received_bytes_total", "Bytes put into a buffer.", _BUFFERS, _BUFFER, unit="bytes"),
    _counter("buffer_sent_events_total", "Events that left a buffer.", _BUFFERS, _BUFFER),
    _counter("buffer_sent_bytes_total", "Bytes that left a buffer.", _BUFFERS, _BUFFER, unit="bytes"),
    _counter(
        "buffer_errors_total",
        "Damaged places of a buffer on disk; what was there is lost.",
        _BUFFERS,
        (*_COMPONENT, "error_type", "stage"),
        event="a buffer is damaged",
    ),
)

_COMPONENTS = (
    _counter(
        "component_received_events_total", "Events that a component took.", _EVENTS + "events_received.rs", _COMPONENT
    ),
    _counter(
        "component_sent_events_total", "Events that a component passed on.", _EVENTS + "events_sent.rs", _COMPONENT
    ),
    _counter(
        "component_received_bytes_total",
        "Bytes that a component took.",
        _EVENTS + "bytes_received.rs",
        _COMPONENT,
        unit="bytes",
    ),
    _counter(
        "component_sent_bytes_total",
        "Bytes that a component passed on.",
        _EVENTS + "bytes_sent.rs",
        _COMPONENT,
        unit="bytes",
    ),
    _counter(
        "component_discarded_events_total",
        "Events that a component dropped; `intentional` is `false` for what an error cost.",
        _EVENTS + "component_events_dropped.rs",
        (*_COMPONENT, "intentional"),
        event="an event is dropped",
    ),
    _counter(
        "component_errors_total",
        "Errors of a component; a request that is tried again may count as well.",
        _EVENTS + "service.rs",
        (*_COMPONENT, "error_type", "stage"),
        event="an error",
    ),
)

PRODUCER = Producer(
    job="swanlab-vector",
    title="SwanLab's delivery buffer",
    versions="Vector 0.51",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(
        _metric(
            "uptime_seconds",
            MetricType.GAUGE,
            "Age of the process.",
            _VECTOR + "src/internal_events/heartbeat.rs",
            unit="seconds",
        ),
        *_BUFFERED,
        *_COMPONENTS,
    ),
    drops=(
        Drop(
            metric="vector_(adaptive_concurrency|buffer_send_duration|http_client|http_server|grpc).*_bucket",
            why="Latencies and concurrency inside of Vector. Sums and counts stay.",
        ),
    ),
    # By structure: about ten components of twenty series, and ten more for each of three buffers.
    budget=Budget(per_target=600),
)
