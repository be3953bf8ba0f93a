"""A small OTLP/HTTP receiver: takes protobuf as a collector does, and keeps what came in plain words."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

KINDS = {1: "internal", 2: "server", 3: "client"}
STATUSES = {0: "unset", 1: "ok", 2: "error"}


@dataclass(frozen=True, kw_only=True)
class Span:
    """A span as it came. parent: "" for a root. events, links: name or ids, and attributes."""

    trace_id: str
    span_id: str
    parent: str
    name: str
    kind: str
    start: int
    end: int
    status: str
    message: str
    state: str
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    links: list[tuple[str, str, dict[str, Any]]]
    resource: dict[str, Any]
    scope: tuple[str, str, dict[str, Any]]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.end - self.start) / 1e9

    @property
    def service(self) -> str:
        """service.name."""
        return str(self.resource["service.name"])


@dataclass(frozen=True, kw_only=True)
class Record:
    """A log record as it came."""

    trace_id: str
    span_id: str
    severity: str
    body: Any
    attributes: dict[str, Any]
    resource: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a histogram, and the filtered attributes of its exemplars with their trace ids."""

    metric: str
    unit: str
    count: int
    attributes: dict[str, Any]
    exemplars: list[tuple[str, dict[str, Any]]]


@dataclass
class Receiver:
    """What came. refuse: a status that is answered in place of taking anything."""

    spans: list[Span] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    refuse: int = 0

    def __post_init__(self) -> None:
        """Listen on a free port."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.refuse or receiver._take(self.path, self.headers["Content-Type"], body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """For OTEL_EXPORTER_OTLP_ENDPOINT."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """No longer listen."""
        self._server.shutdown()
        self._server.server_close()

    def trace(self, trace_id: str) -> list[Span]:
        """Spans of one trace, in the order of their begin."""
        return sorted((span for span in self.spans if span.trace_id == trace_id), key=lambda span: span.start)

    def _take(self, path: str, content_type: str, body: bytes) -> int:
        if content_type != "application/x-protobuf":
            return 415
        content = gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
        take = {"/v1/traces": self._traces, "/v1/logs": self._logs, "/v1/metrics": self._metrics}.get(path)
        if take is None:
            return 404
        take(content)
        return 200

    def _traces(self, content: bytes) -> None:
        for part in ExportTraceServiceRequest.FromString(content).resource_spans:
            resource = plain(part.resource.attributes)
            for scoped in part.scope_spans:
                scope = (scoped.scope.name, scoped.scope.version, plain(scoped.scope.attributes))
                for span in scoped.spans:
                    self.spans.append(
                        Span(
                            trace_id=span.trace_id.hex(),
                            span_id=span.span_id.hex(),
                            parent=span.parent_span_id.hex(),
                            name=span.name,
                            kind=KINDS[span.kind],
                            start=span.start_time_unix_nano,
                            end=span.end_time_unix_nano,
                            status=STATUSES[span.status.code],
                            message=span.status.message,
                            state=span.trace_state,
                            attributes=plain(span.attributes),
                            events=[(event.name, plain(event.attributes)) for event in span.events],
                            links=[(k.trace_id.hex(), k.span_id.hex(), plain(k.attributes)) for k in span.links],
                            resource=resource,
                            scope=scope,
                        )
                    )

    def _logs(self, content: bytes) -> None:
        for part in ExportLogsServiceRequest.FromString(content).resource_logs:
            for scoped in part.scope_logs:
                for record in scoped.log_records:
                    self.records.append(
                        Record(
                            trace_id=record.trace_id.hex(),
                            span_id=record.span_id.hex(),
                            severity=record.severity_text,
                            body=value(record.body),
                            attributes=plain(record.attributes),
                            resource=plain(part.resource.attributes),
                        )
                    )

    def _metrics(self, content: bytes) -> None:
        for part in ExportMetricsServiceRequest.FromString(content).resource_metrics:
            for scoped in part.scope_metrics:
                for metric in scoped.metrics:
                    for point in metric.histogram.data_points:
                        found = [(e.trace_id.hex(), plain(e.filtered_attributes)) for e in point.exemplars]
                        self.points.append(
                            Point(
                                metric=metric.name,
                                unit=metric.unit,
                                count=point.count,
                                attributes=plain(point.attributes),
                                exemplars=found,
                            )
                        )


def plain(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    """Attributes as a dictionary."""
    return {item.key: value(item.value) for item in attributes}


def value(found: AnyValue) -> Any:  # noqa: ANN401  # whatever OTLP holds
    """A value as Python has it."""
    kind = found.WhichOneof("value")
    if kind == "array_value":
        return [value(item) for item in found.array_value.values]
    if kind == "kvlist_value":
        return plain(found.kvlist_value.values)
    return getattr(found, kind) if kind else None
