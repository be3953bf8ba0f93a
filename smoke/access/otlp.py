"""OTLP over HTTP in protobuf: what a workload sends to a collector, and whether the collector took all of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import requests
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import SEVERITY_NUMBER_INFO, LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from smoke import limits
from smoke.access.errors import RefusedError, UnreachableError
from smoke.access.http import Client, accepted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics

Response = ExportTraceServiceResponse | ExportLogsServiceResponse | ExportMetricsServiceResponse

SCOPE: Final = "plumbline.smoke"
PROTOBUF: Final = "application/x-protobuf"
NANOSECONDS: Final = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Span:
    """One span. trace_id: 32 hexadecimal digits; span_id, parent: 16, a root has no parent. start, end: Unix time."""

    trace_id: str
    span_id: str
    name: str
    start: float
    end: float
    parent: str = ""
    error: str = ""
    """Message of its status ERROR; without one its status is not set."""
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Record:
    """One log record. at: Unix time. trace_id: 32 hexadecimal digits, or empty."""

    body: str
    at: float
    trace_id: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)


class Otlp(Client):
    """One collector. What is not taken as a whole raises UnreachableError (no answer, 429, 5xx) or RefusedError."""

    def spans(self, resource: Mapping[str, Any], found: Iterable[Span]) -> None:
        """Send spans of one resource."""
        scoped = ScopeSpans(scope=InstrumentationScope(name=SCOPE), spans=[_span(one) for one in found])
        self.traces([ResourceSpans(resource=Resource(attributes=attributes(resource)), scope_spans=[scoped])])

    def records(self, resource: Mapping[str, Any], found: Iterable[Record]) -> None:
        """Send log records of one resource."""
        scoped = ScopeLogs(scope=InstrumentationScope(name=SCOPE), log_records=[_record(one) for one in found])
        self.logs([ResourceLogs(resource=Resource(attributes=attributes(resource)), scope_logs=[scoped])])

    def traces(self, found: Iterable[ResourceSpans]) -> None:
        """Send messages as they are."""
        body = ExportTraceServiceRequest(resource_spans=list(found)).SerializeToString()
        answer = ExportTraceServiceResponse()
        self._send("/v1/traces", body, answer)
        self._whole("/v1/traces", answer.partial_success.rejected_spans, answer.partial_success.error_message)

    def logs(self, found: Iterable[ResourceLogs]) -> None:
        """Send messages as they are."""
        body = ExportLogsServiceRequest(resource_logs=list(found)).SerializeToString()
        answer = ExportLogsServiceResponse()
        self._send("/v1/logs", body, answer)
        self._whole("/v1/logs", answer.partial_success.rejected_log_records, answer.partial_success.error_message)

    def metrics(self, found: Iterable[ResourceMetrics]) -> None:
        """Send messages as they are."""
        body = ExportMetricsServiceRequest(resource_metrics=list(found)).SerializeToString()
        answer = ExportMetricsServiceResponse()
        self._send("/v1/metrics", body, answer)
        self._whole("/v1/metrics", answer.partial_success.rejected_data_points, answer.partial_success.error_message)

    def _send(self, path: str, body: bytes, answer: Response) -> None:
        subject = f"{self.name} {path}"
        try:
            got = self._session.post(
                self._locate() + path,
                data=body,
                headers={"content-type": PROTOBUF},
                timeout=(limits.CONNECT, limits.REQUEST),
            )
        except requests.RequestException as error:
            self._broken()
            raise UnreachableError(subject, f"no answer ({type(error).__name__})") from error
        try:
            answer.ParseFromString(accepted(subject, got).content)
        except DecodeError as error:
            raise UnreachableError(subject, "the answer is not OTLP in protobuf") from error

    def _whole(self, path: str, rejected: int, why: str) -> None:
        if rejected:
            raise RefusedError(f"{self.name} {path}", f"{rejected} were rejected: {why or 'no reason given'}", 200)


def attributes(found: Mapping[str, Any]) -> list[KeyValue]:
    """Attributes: texts, whole and broken numbers, booleans, lists and maps of them."""
    return [KeyValue(key=key, value=value(one)) for key, one in found.items()]


def value(found: Any) -> AnyValue:  # noqa: ANN401  # every kind that OTLP has
    """One value. Raises TypeError for a kind that OTLP does not have."""
    # A boolean is a whole number to Python: it must be asked about first.
    if isinstance(found, bool):
        return AnyValue(bool_value=found)
    if isinstance(found, int):
        return AnyValue(int_value=found)
    if isinstance(found, float):
        return AnyValue(double_value=found)
    if isinstance(found, str):
        return AnyValue(string_value=found)
    if isinstance(found, (list, tuple)):
        return AnyValue(array_value=ArrayValue(values=[value(one) for one in found]))
    if isinstance(found, dict):
        return AnyValue(kvlist_value=KeyValueList(values=attributes(found)))
    raise TypeError(f"OTLP has no values of type {type(found).__name__}")


def nanoseconds(at: float) -> int:
    """Unix time as OTLP has it."""
    return int(at * NANOSECONDS)


def _span(one: Span) -> SpanMessage:
    return SpanMessage(
        trace_id=bytes.fromhex(one.trace_id),
        span_id=bytes.fromhex(one.span_id),
        parent_span_id=bytes.fromhex(one.parent),
        name=one.name,
        kind=SpanMessage.SPAN_KIND_INTERNAL if one.parent else SpanMessage.SPAN_KIND_SERVER,
        start_time_unix_nano=nanoseconds(one.start),
        end_time_unix_nano=nanoseconds(one.end),
        attributes=attributes(one.attributes),
        status=Status(code=Status.STATUS_CODE_ERROR, message=one.error) if one.error else None,
    )


def _record(one: Record) -> LogRecord:
    return LogRecord(
        time_unix_nano=nanoseconds(one.at),
        observed_time_unix_nano=nanoseconds(one.at),
        severity_number=SEVERITY_NUMBER_INFO,
        severity_text="INFO",
        body=value(one.body),
        trace_id=bytes.fromhex(one.trace_id),
        attributes=attributes(one.attributes),
    )
