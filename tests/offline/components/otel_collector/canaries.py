"""One secret in every field of every signal, each with a word of its own that says where it was."""

from __future__ import annotations

import time
from typing import Any, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AggregationTemporality,
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

from tests.offline.components.otel_collector.otlp import any_value, attributes

CARD: Final = 4111111111111111
PHONE: Final = 7135551212
CUMULATIVE: Final = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
TRACE: Final = bytes.fromhex("5b8efff798038103d269b633813fc60c")
SPAN: Final = bytes.fromhex("eee19b7ec3c1b174")
NEIGHBOURS: Final[dict[str, Any]] = {
    "http.route": "/v1/chat",
    "gen_ai.usage.input_tokens": 812,
    "prompt_tokens": 17,
    "process.memory.bytes": PHONE + 1,
    "ratio": 0.25,
    "cached": True,
    "deadline_time": 1796037917937780302,
}
"""Attributes beside the secrets that must arrive as they are."""


class Words:
    """Makes secrets and remembers their words."""

    def __init__(self) -> None:
        self.all: list[str] = []

    def mail(self, where: str) -> str:
        """A secret by its form, to be put at a place."""
        self.all.append(f"canary-{where}")
        return f"canary-{where}@leak.example"

    def password(self, where: str) -> str:
        """A secret by the name under which it stands."""
        self.all.append(f"canary-{where}")
        return f"canary-{where}"

    def attributes(self, where: str) -> list[Any]:
        """In each way in which an attribute can hold one, beside NEIGHBOURS."""
        return attributes(
            {
                "note": self.mail(f"{where}-string"),
                "labels": ["x", self.mail(f"{where}-list"), CARD],
                "nested": {
                    "in": self.mail(f"{where}-map"),
                    "deep": {"er": self.mail(f"{where}-deep"), "msisdn": PHONE},
                },
                "phone": PHONE,
                "amount": float(CARD),
                "http.request.header.authorization": self.password(f"{where}-header"),
                "config": {"db": {"password": self.password(f"{where}-nestedname")}},
                "gen_ai.prompt": self.password(f"{where}-prompt"),
                self.mail(f"{where}-name"): "v",
                **NEIGHBOURS,
            }
        )

    def scope(self, where: str) -> InstrumentationScope:
        """A scope with secrets."""
        return InstrumentationScope(
            name=self.mail(f"{where}-scopename"),
            version=self.mail(f"{where}-scopeversion"),
            attributes=self.attributes(f"{where}-scope"),
        )

    def resource(self, where: str) -> Resource:
        """A resource with secrets."""
        return Resource(attributes=[*attributes({"service.name": "canary"}), *self.attributes(f"{where}-resource")])


def of_traces(words: Words) -> ExportTraceServiceRequest:
    """A span with an error, an event and a link."""
    now = time.time_ns()
    span = Span(
        trace_id=TRACE,
        span_id=SPAN,
        trace_state=f"c={words.mail('tracestate')}",
        name=f"GET /{words.mail('spanname')}/{PHONE}",
        kind=Span.SPAN_KIND_SERVER,
        start_time_unix_nano=now - 10**8,
        end_time_unix_nano=now,
        attributes=words.attributes("span"),
        events=[Span.Event(time_unix_nano=now, name=words.mail("eventname"), attributes=words.attributes("event"))],
        links=[
            Span.Link(
                trace_id=b"l" * 16,
                span_id=b"l" * 8,
                trace_state=f"l={words.mail('linkstate')}",
                attributes=words.attributes("link"),
            )
        ],
        status=Status(code=Status.STATUS_CODE_ERROR, message=f"boom {words.mail('statusmessage')} {CARD}"),
    )
    scope = ScopeSpans(scope=words.scope("t"), spans=[span], schema_url=f"http://{words.mail('t-schema')}")
    return ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                resource=words.resource("t"), scope_spans=[scope], schema_url=f"http://{words.mail('t-resourceschema')}"
            )
        ]
    )


def bodies(words: Words) -> list[Any]:
    """Bodies of log records: text, JSON as text, broken JSON, maps, lists, numbers, bytes."""
    return [
        f"plain {words.mail('body-text')} {CARD}",
        f'{{"a": 1, "password": "{words.password("body-json")}", "b": 2}}',
        f'{{"b": {{"prompt": "{words.password("body-jsonprompt")}"}}}}',
        f'{{"password": "{words.password("body-broken")}',
        f'payload="{{\\"api_key\\": \\"{words.password("body-escaped")}\\"}}"',
        {
            "message": words.mail("body-map"),
            "number": CARD,
            "deep": {"x": [{"y": words.mail("body-deep"), "authorization": words.password("body-deepname")}]},
            "password": {"z": words.password("body-name")},
            words.mail("body-key"): 1,
        },
        CARD,
        [words.mail("body-list"), CARD, {"cookie": words.password("body-listname")}],
    ]


def of_logs(words: Words) -> ExportLogsServiceRequest:
    """A record per kind of body."""
    records = [
        LogRecord(
            time_unix_nano=time.time_ns(),
            severity_number=SeverityNumber.SEVERITY_NUMBER_ERROR,
            severity_text=words.mail(f"severity-{number}"),
            event_name=words.mail(f"logevent-{number}"),
            trace_id=TRACE,
            span_id=SPAN,
            body=any_value(body),
            attributes=words.attributes(f"log-{number}"),
        )
        for number, body in enumerate(bodies(words))
    ]
    scope = ScopeLogs(scope=words.scope("l"), log_records=records, schema_url=f"http://{words.mail('l-schema')}")
    return ExportLogsServiceRequest(
        resource_logs=[
            ResourceLogs(
                resource=words.resource("l"), scope_logs=[scope], schema_url=f"http://{words.mail('l-resourceschema')}"
            )
        ]
    )


def of_metrics(words: Words) -> ExportMetricsServiceRequest:
    """A gauge, a sum and a histogram, with exemplars."""
    now = time.time_ns()

    def exemplar(where: str) -> Exemplar:
        return Exemplar(
            time_unix_nano=now,
            as_double=0.1,
            trace_id=TRACE,
            span_id=SPAN,
            filtered_attributes=words.attributes(f"{where}-exemplar"),
        )

    def number(where: str) -> NumberDataPoint:
        return NumberDataPoint(
            start_time_unix_nano=now - 10**9,
            time_unix_nano=now,
            as_int=5,
            attributes=words.attributes(f"{where}-point"),
            exemplars=[exemplar(where)],
        )

    histogram = HistogramDataPoint(
        start_time_unix_nano=now - 10**9,
        time_unix_nano=now,
        count=1,
        sum=0.1,
        bucket_counts=[1, 0],
        explicit_bounds=[1.0],
        attributes=words.attributes("h-point"),
        exemplars=[exemplar("h")],
    )

    def metric(where: str, **data: Any) -> Metric:  # noqa: ANN401  # one of the kinds of data
        return Metric(
            name=f"m.{where}/{words.mail(f'{where}-metricname')}",
            description=words.mail(f"{where}-description"),
            unit=words.mail(f"{where}-unit"),
            metadata=words.attributes(f"{where}-metadata"),
            **data,
        )

    metrics = [
        metric("g", gauge=Gauge(data_points=[number("g")])),
        metric("s", sum=Sum(aggregation_temporality=CUMULATIVE, is_monotonic=True, data_points=[number("s")])),
        metric("h", histogram=Histogram(aggregation_temporality=CUMULATIVE, data_points=[histogram])),
    ]
    scope = ScopeMetrics(scope=words.scope("m"), metrics=metrics, schema_url=f"http://{words.mail('m-schema')}")
    return ExportMetricsServiceRequest(
        resource_metrics=[ResourceMetrics(resource=words.resource("m"), scope_metrics=[scope])]
    )
