"""Spans of steps, by OpenTelemetry's SDK and OTLP/HTTP. Loaded only where spans are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from sandbox.workloads.training import SCOPE, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.workloads.training.steps import Step

_NANO: Final = 1_000_000_000
_FLUSH: Final = 10_000
"""Milliseconds."""


class Traces:
    """A trace per step and rank: `step`, with a span for each part."""

    def __init__(self, identity: Mapping[str, str], exporter: SpanExporter | None = None) -> None:
        """identity: on every span. exporter: by default to OTEL_EXPORTER_OTLP_ENDPOINT."""
        given = Resource.create()
        named = str(given.attributes.get("service.name", ""))
        own = {"service.name": "training"} if named.startswith("unknown_service") else {}
        self._provider = TracerProvider(sampler=ALWAYS_ON, resource=given.merge(Resource({**own, **identity})))
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer(SCOPE, VERSION)
        self._identity = dict(identity)

    def step(self, step: Step, begin: float) -> dict[str, str]:
        """Make the spans of a step that began at a time, in seconds since the epoch; trace_id and span_id."""
        about: dict[str, str | int] = {**self._identity, "rank": step.rank, "step": step.number}
        root = self._tracer.start_span("step", attributes=about, start_time=_nano(begin))
        context = trace.set_span_in_context(root)
        at = begin
        for name, seconds in step.parts.items():
            part = self._tracer.start_span(name, context, attributes=about, start_time=_nano(at))
            at += seconds
            part.end(_nano(at))
        root.end(_nano(begin + step.seconds))
        ids = root.get_span_context()
        return {"trace_id": f"{ids.trace_id:032x}", "span_id": f"{ids.span_id:016x}"}

    def close(self) -> None:
        """Send what waits, and end."""
        self._provider.force_flush(_FLUSH)
        self._provider.shutdown()


def _nano(seconds: float) -> int:
    return int(seconds * _NANO)
