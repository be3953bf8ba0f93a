"""The messages that canaries are put into: spans, log records and metrics, with every field that OTLP has.

Beside each full one is a bare one: what is hidden event by event, or exemplar by exemplar, must be hidden where there
is none as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import SEVERITY_NUMBER_ERROR, LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    Exemplar,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from smoke.access.otlp import attributes, nanoseconds, value

if TYPE_CHECKING:
    from smoke.proofs.canaries import Flock

SPANS = "spans"
LOGS = "log records"
METRICS = "metrics"


def spans(flock: Flock, service: str, ids: tuple[str, str, str], at: float) -> ResourceSpans:
    """One span that failed, so that it is kept. ids: of its trace, its own, and of a trace that it links to."""
    flock.signal = SPANS
    trace_id, span_id, linked = ids
    event = Span.Event(
        time_unix_nano=nanoseconds(at),
        name=flock.text("name of an event"),
        attributes=attributes(flock.attributes("event", "event")),
    )
    link = Span.Link(
        trace_id=bytes.fromhex(linked),
        span_id=bytes.fromhex(span_id),
        trace_state=f"smoke={flock.address('trace state of a link')}",
        attributes=attributes(flock.attributes("link", "link")),
    )
    span = Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=bytes.fromhex(span_id),
        trace_state=f"smoke={flock.address('trace state')}",
        name=f"{flock.word}operation {flock.text('name')}",
        kind=Span.SPAN_KIND_SERVER,
        start_time_unix_nano=nanoseconds(at - 0.1),
        end_time_unix_nano=nanoseconds(at),
        attributes=attributes({**flock.attributes("span", "span"), **flock.denied("span")}),
        events=[event],
        links=[link],
        status=Status(
            code=Status.STATUS_CODE_ERROR, message=f"{flock.word}status {flock.text('message of the status')}"
        ),
    )
    found = [span, _bare(flock, (trace_id, span_id), at)]
    scoped = ScopeSpans(scope=_scope(flock), spans=found, schema_url=_schema(flock, "scope"))
    return ResourceSpans(
        resource=_resource(flock, service), scope_spans=[scoped], schema_url=_schema(flock, "resource")
    )


def records(flock: Flock, service: str, trace_id: str, at: float) -> ResourceLogs:
    """A record for each kind of body."""
    flock.signal = LOGS
    found = [_record(flock, number, (body, trace_id, at)) for number, body in enumerate(flock.bodies())]
    scoped = ScopeLogs(scope=_scope(flock), log_records=found, schema_url=_schema(flock, "scope"))
    return ResourceLogs(resource=_resource(flock, service), scope_logs=[scoped], schema_url=_schema(flock, "resource"))


def metrics(flock: Flock, service: str, ids: tuple[str, str], at: float) -> ResourceMetrics:
    """A gauge, a sum and a histogram. ids: of the trace and the span that their exemplars name."""
    flock.signal = METRICS
    point: dict[str, Any] = {"start_time_unix_nano": nanoseconds(at - 1), "time_unix_nano": nanoseconds(at)}
    gauge = NumberDataPoint(as_int=5, attributes=_point(flock, "gauge"), exemplars=_exemplars(flock, ids, at), **point)
    total = NumberDataPoint(as_int=5, attributes=_point(flock, "sum"), exemplars=_exemplars(flock, ids, at), **point)
    bucket = HistogramDataPoint(
        count=1,
        sum=0.1,
        bucket_counts=[1, 0],
        explicit_bounds=[1.0],
        attributes=_point(flock, "histogram"),
        exemplars=_exemplars(flock, ids, at),
        **point,
    )
    cumulative = AGGREGATION_TEMPORALITY_CUMULATIVE
    summed = Sum(data_points=[total], aggregation_temporality=cumulative, is_monotonic=True)
    spread = Histogram(data_points=[bucket], aggregation_temporality=cumulative)
    found = [
        Metric(gauge=Gauge(data_points=[gauge]), **_named(flock, "gauge")),
        Metric(sum=summed, **_named(flock, "sum")),
        Metric(histogram=spread, **_named(flock, "histogram")),
        Metric(gauge=Gauge(data_points=[NumberDataPoint(as_int=1, **point)]), name=f"smoke.{flock.address('name')}"),
        Metric(gauge=Gauge(data_points=[_bare_point(flock, point)]), **_named(flock, "bare")),
    ]
    scoped = ScopeMetrics(scope=_scope(flock), metrics=found, schema_url=_schema(flock, "scope"))
    return ResourceMetrics(
        resource=_resource(flock, service), scope_metrics=[scoped], schema_url=_schema(flock, "resource")
    )


def _bare(flock: Flock, parent: tuple[str, str], at: float) -> Span:
    """A span without events and links. parent: ids of its trace and of its parent."""
    trace_id, span_id = parent
    return Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=bytes.fromhex(span_id)[::-1],
        parent_span_id=bytes.fromhex(span_id),
        trace_state=f"smoke={flock.address('trace state of a bare span')}",
        name=f"{flock.word}bare {flock.text('name of a bare span')}",
        start_time_unix_nano=nanoseconds(at - 0.1),
        end_time_unix_nano=nanoseconds(at),
        attributes=attributes(flock.attributes("bare span's", "bare")),
        status=Status(
            code=Status.STATUS_CODE_ERROR,
            message=f"{flock.word}bare {flock.text('message of the status of a bare span')}",
        ),
    )


def _record(flock: Flock, number: int, what: tuple[Any, str, float]) -> LogRecord:
    body, trace_id, at = what
    own: dict[str, Any] = {"smoke.log": f"{flock.word}log"}
    if number == 0:
        own = {**flock.attributes("log", "log"), **flock.denied("log")}
    return LogRecord(
        time_unix_nano=nanoseconds(at),
        observed_time_unix_nano=nanoseconds(at),
        severity_number=SEVERITY_NUMBER_ERROR,
        severity_text=flock.address("severity text") if number == 0 else "ERROR",
        event_name=flock.address("name of the event") if number == 0 else "",
        trace_id=bytes.fromhex(trace_id),
        attributes=attributes(own),
        body=value(body),
    )


def _named(flock: Flock, kind: str) -> dict[str, Any]:
    return {
        "name": f"smoke.{flock.word}.{kind}",
        "description": flock.text(f"description of a {kind}"),
        "unit": flock.address(f"unit of a {kind}"),
        "metadata": attributes({"note": flock.address(f"metadata of a {kind}")}),
    }


def _point(flock: Flock, kind: str) -> list[Any]:
    return attributes(flock.attributes(f"{kind}'s point", "point"))


def _bare_point(flock: Flock, point: dict[str, Any]) -> NumberDataPoint:
    """Without exemplars."""
    return NumberDataPoint(as_int=1, attributes=_point(flock, "bare gauge"), **point)


def _exemplars(flock: Flock, ids: tuple[str, str], at: float) -> list[Exemplar]:
    filtered = attributes(flock.attributes("filtered exemplar", "exemplar"))
    trace_id, span_id = map(bytes.fromhex, ids)
    return [
        Exemplar(
            time_unix_nano=nanoseconds(at),
            as_double=0.1,
            trace_id=trace_id,
            span_id=span_id,
            filtered_attributes=filtered,
        )
    ]


def _scope(flock: Flock) -> InstrumentationScope:
    return InstrumentationScope(
        name=f"smoke {flock.address('name of the scope')}",
        version=flock.address("version of the scope"),
        attributes=attributes(flock.attributes("scope", "scope")),
    )


def _resource(flock: Flock, service: str) -> Resource:
    named = {"service.name": service, **flock.attributes("resource", "resource")}
    return Resource(attributes=attributes(named))


def _schema(flock: Flock, of: str) -> str:
    return f"https://example.com/{flock.address(f'schema URL of the {of}')}"
