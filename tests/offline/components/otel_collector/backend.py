"""A backend for all three signals that keeps what it gets, over HTTP; it can be away."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from components.otel_collector.args import Backend as To
from tests.offline.programs import free_port
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.otel_collector.args import OtelCollectorArgs

_REQUESTS: Final[dict[str, Any]] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
}


class Backend:
    """What arrived, in order. Its address stays the same while it is away."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.lock = threading.Lock()
        self.traces: list[ExportTraceServiceRequest] = []
        self.logs: list[ExportLogsServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []
        self.headers: list[dict[str, str]] = []

    def takes(self, given: OtelCollectorArgs) -> OtelCollectorArgs:
        """Arguments that name this as the backend of logs and of traces."""
        logs, traces = (To(protocol="http", endpoint=f"{self.url}/v1/{name}") for name in ("logs", "traces"))
        return replace(given, logs=logs, traces=traces)

    @contextmanager
    def up(self) -> Iterator[Backend]:
        """It answers while the block runs."""
        backend = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                backend.take(self.path, body, dict(self.headers))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401  # the library's signature
                """Nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

        with serving(Server(("127.0.0.1", self.port), Handler)):
            yield self

    def take(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        """Keep one request."""
        request = _REQUESTS[path].FromString(body)
        with self.lock:
            getattr(self, path.rpartition("/")[2]).append(request)
            self.headers.append(headers)

    def spans(self) -> list[Any]:
        """Spans."""
        with self.lock:
            return [
                span
                for request in self.traces
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]

    def records(self) -> list[dict[str, Any]]:
        """Log records: body, attributes, resource, severity, trace_id, span_id."""
        with self.lock:
            return [
                {
                    "body": value_of(record.body),
                    "attributes": attributes_of(record.attributes),
                    "resource": attributes_of(resource.resource.attributes),
                    "severity": record.severity_number,
                    "severity_text": record.severity_text,
                    "trace_id": record.trace_id.hex(),
                    "span_id": record.span_id.hex(),
                }
                for request in self.logs
                for resource in request.resource_logs
                for scope in resource.scope_logs
                for record in scope.log_records
            ]

    def everything(self) -> str:
        """All that arrived as text, for a search."""
        with self.lock:
            return "\n".join(
                MessageToJson(request, ensure_ascii=False) for request in (*self.traces, *self.logs, *self.metrics)
            )


def value_of(value: Any) -> Any:  # noqa: ANN401  # AnyValue of OTLP: any JSON
    """An AnyValue as Python has it."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [value_of(one) for one in value.array_value.values]
    if kind == "kvlist_value":
        return attributes_of(value.kvlist_value.values)
    return getattr(value, kind) if kind else None


def attributes_of(attributes: Any) -> dict[str, Any]:  # noqa: ANN401  # a repeated field of protobuf
    """Attributes by key."""
    return {one.key: value_of(one.value) for one in attributes}
