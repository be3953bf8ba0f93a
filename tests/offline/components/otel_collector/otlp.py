"""OTLP as senders make it: short ways to spans, records and points, and to send them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final

import requests
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from google.protobuf.message import Message

SECOND: Final = 10**9
_PATHS: Final = {
    ExportTraceServiceRequest: "traces",
    ExportLogsServiceRequest: "logs",
    ExportMetricsServiceRequest: "metrics",
}


def any_value(value: Any) -> AnyValue:  # noqa: ANN401  # any JSON, and bytes
    """An AnyValue. Nothing at all for None."""
    if isinstance(value, dict):
        return AnyValue(kvlist_value=KeyValueList(values=attributes(value)))
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=[any_value(one) for one in value]))
    names = {bool: "bool_value", str: "string_value", int: "int_value", float: "double_value", bytes: "bytes_value"}
    return AnyValue(**{names[type(value)]: value}) if value is not None else AnyValue()


def attributes(values: Mapping[str, Any]) -> list[KeyValue]:
    """Attributes."""
    return [KeyValue(key=key, value=any_value(value)) for key, value in values.items()]


def span(  # a span has that many fields
    name: str = "op",
    *,
    trace: bytes | None = None,
    error: bool = False,
    seconds: float = 0.05,
    values: Mapping[str, Any] | None = None,
    parent: bytes = b"",
) -> Span:
    """A span that ends now."""
    end = time.time_ns()
    return Span(
        trace_id=trace or os.urandom(16),
        span_id=os.urandom(8),
        parent_span_id=parent,
        name=name,
        kind=Span.SPAN_KIND_SERVER,
        start_time_unix_nano=end - int(seconds * SECOND),
        end_time_unix_nano=end,
        attributes=attributes(values or {}),
        status=Status(code=Status.STATUS_CODE_ERROR if error else Status.STATUS_CODE_UNSET),
    )


def traces(spans: Iterable[Span], resource: Mapping[str, Any] | None = None) -> ExportTraceServiceRequest:
    """A request with spans of one resource."""
    return ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                resource=Resource(attributes=attributes(resource or {"service.name": "s"})),
                scope_spans=[ScopeSpans(spans=spans)],
            )
        ]
    )


def record(body: Any, *, severity: int = 9, values: Mapping[str, Any] | None = None) -> LogRecord:  # noqa: ANN401  # AnyValue
    """A log record of now."""
    return LogRecord(
        time_unix_nano=time.time_ns(),
        severity_number=SeverityNumber.values()[severity],
        body=any_value(body),
        attributes=attributes(values or {}),
    )


def logs(records: Iterable[LogRecord], resource: Mapping[str, Any] | None = None) -> ExportLogsServiceRequest:
    """A request with records of one resource."""
    return ExportLogsServiceRequest(
        resource_logs=[
            ResourceLogs(
                resource=Resource(attributes=attributes(resource or {"service.name": "s"})),
                scope_logs=[ScopeLogs(log_records=records)],
            )
        ]
    )


def send(base: str, request: Message, timeout: float = 30) -> requests.Response:
    """Send, and say what the collector answers. base: address of OTLP over HTTP."""
    return requests.post(
        f"{base}/v1/{_PATHS[type(request)]}",
        data=request.SerializeToString(),
        headers={"Content-Type": "application/x-protobuf"},
        timeout=timeout,
    )


def sent(base: str, request: Message) -> None:
    """Send; it must be taken."""
    answer = send(base, request)
    assert answer.ok, f"{answer.status_code} {answer.text}"
