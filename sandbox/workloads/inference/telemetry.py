"""What a role sends: providers of OpenTelemetry's SDK with OTLP/HTTP behind them, and how much of it arrived."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExportResult
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from sandbox.workloads.inference import SCOPE, VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.metrics import Histogram
    from opentelemetry.sdk._logs import ReadableLogRecord, ReadWriteLogRecord
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
METRICS: Final = "OTEL_METRICS_EXPORTER"
"""`none` where a collector takes no metrics."""
_QUEUE: Final = 65_536
_BATCH: Final = 512
_DELAY: Final = 500.0
"""Milliseconds that a span or a record waits for others at most."""
_FLUSH: Final = 30_000
_METRICS_EVERY: Final = 5_000.0
_DURATION: Final = "gen_ai.server.request.duration"
_FIRST_TOKEN: Final = "gen_ai.server.time_to_first_token"  # noqa: S105  # a metric's name
# Boundaries that the semantic conventions give for these two.
_DURATION_BUCKETS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRST_TOKEN_BUCKETS: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1),
    *(0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
)
_KEPT: Final = {
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "error.type",
    "tag",
}
"""Attributes of points; what else is measured with goes into exemplars, as the SDK's views have it."""


@dataclass
class Ledger:
    """Counts of what was made, of what a collector took, and of what it did not take. Keys: (signal, outcome).

    lines: of standard output, which are made, and sent by nobody here.
    """

    _counts: dict[tuple[str, str], int] = field(
        default_factory=lambda: {
            **{(s, o): 0 for s in ("spans", "logs") for o in ("made", "sent", "failed")},
            ("lines", "made"): 0,
        }
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, signal: str, outcome: str, count: int = 1) -> None:
        """Count."""
        with self._lock:
            self._counts[signal, outcome] += count

    def counts(self) -> dict[tuple[str, str], int]:
        """A copy."""
        with self._lock:
            return dict(self._counts)


class _Made(SpanProcessor):
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def on_end(self, span: ReadableSpan) -> None:  # noqa: ARG002  # the SDK calls it with a span
        self._ledger.add("spans", "made")


class _Emitted(LogRecordProcessor):
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:  # noqa: ARG002  # the SDK calls it with a record
        self._ledger.add("logs", "made")

    def shutdown(self) -> None:
        """Nothing is held."""

    def force_flush(self, timeout_millis: int = _FLUSH) -> bool:  # noqa: ARG002  # the SDK calls it so
        """Nothing is held."""
        return True


class _Spans(OTLPSpanExporter):
    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        try:
            result = super().export(spans)
        finally:
            self._ledger.add("spans", "sent" if result is SpanExportResult.SUCCESS else "failed", len(spans))
        return result


class _Logs(OTLPLogExporter):
    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        result = LogRecordExportResult.FAILURE
        try:
            result = super().export(batch)
        finally:
            self._ledger.add("logs", "sent" if result is LogRecordExportResult.SUCCESS else "failed", len(batch))
        return result


class Telemetry:
    """Providers of one process. Without OTEL_EXPORTER_OTLP_ENDPOINT nothing is sent, and everything else works."""

    def __init__(self, service: str, *, metrics: bool) -> None:
        """service: service.name where the environment has none. metrics: whether it sends metrics of requests."""
        given = Resource.create()
        named = str(given.attributes.get("service.name", ""))
        own = {"service.name": service} if named.startswith("unknown_service") else {}
        self.resource = given.merge(Resource({**own, "service.version": VERSION}))
        self.ledger = Ledger()
        self.sends = bool(os.environ.get(ENDPOINT))
        self.tracers = TracerProvider(sampler=ALWAYS_ON, resource=self.resource)
        self.tracers.add_span_processor(_Made(self.ledger))
        self.loggers = LoggerProvider(resource=self.resource)
        self.loggers.add_log_record_processor(_Emitted(self.ledger))
        if self.sends:
            sender = BatchSpanProcessor(_Spans(self.ledger), _QUEUE, _DELAY, _BATCH)
            self.tracers.add_span_processor(sender)
            records = BatchLogRecordProcessor(_Logs(self.ledger), _DELAY, _BATCH, max_queue_size=_QUEUE)
            self.loggers.add_log_record_processor(records)
        asked = metrics and self.sends and os.environ.get(METRICS) != "none"
        readers = [PeriodicExportingMetricReader(OTLPMetricExporter(), _METRICS_EVERY)] if asked else []
        self.meters = MeterProvider(readers, self.resource, views=_views())
        meter = self.meters.get_meter(SCOPE, VERSION)
        self.duration: Histogram = meter.create_histogram(_DURATION, "s", "Time that the model server took")
        self.first_token: Histogram = meter.create_histogram(_FIRST_TOKEN, "s", "Time until its first token")

    @property
    def service(self) -> str:
        """service.name."""
        return str(self.resource.attributes["service.name"])

    def tracer(self) -> Tracer:
        """Of the scope that everything has."""
        return self.tracers.get_tracer(SCOPE, VERSION)

    def flush(self) -> bool:
        """Send what is waiting; whether it was sent in 30 s."""
        done = [self.tracers.force_flush(_FLUSH), self.loggers.force_flush(_FLUSH), self.meters.force_flush(_FLUSH)]
        return all(done)

    def close(self) -> None:
        """Send what is waiting, and end."""
        self.tracers.shutdown()
        self.loggers.shutdown()
        self.meters.shutdown()


def _views() -> list[View]:
    buckets = {_DURATION: _DURATION_BUCKETS, _FIRST_TOKEN: _FIRST_TOKEN_BUCKETS}
    return [
        View(instrument_name=name, attribute_keys=_KEPT, aggregation=ExplicitBucketHistogramAggregation(bounds))
        for name, bounds in buckets.items()
    ]
