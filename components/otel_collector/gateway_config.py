"""Configuration of the gateway: it limits, hides, counts, samples and keeps until the backends have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.otel_collector import redaction
from components.otel_collector.names import GATEWAY, SPAN_METRICS_PORT
from components.otel_collector.parts import (
    ANY,
    HEALTH,
    IDENTITY,
    LARGEST_BATCH_MIB,
    LIMITER,
    QUEUE,
    Env,
    attributes,
    health,
    identity,
    limiter,
    queue,
    receiver,
    storage,
    telemetry,
)
from components.otel_collector.sampling import tail_sampling
from components.otel_collector.texts import TEXTS, texts

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.otel_collector.args import Backend, OtelCollectorArgs

SPAN_METRICS: Final = "span_metrics"
SAMPLING: Final = "tail_sampling"
_SERVICE_OF_SPANS: Final = "transform/span_metrics"
BUCKETS: Final = (
    *("10ms", "25ms", "50ms", "100ms", "250ms", "500ms"),
    *("1s", "2500ms", "5s", "10s", "30s", "60s", "120s"),
)
"""Of durations: from a lookup to the answer of a large model."""
_SERVICES: Final = 500
"""Services that have span metrics at a time; the one that is longest silent makes room."""
_SERIES: Final = 500
"""Of one service: span name, kind, status, namespace and team together. What is beyond goes into one series. One
service alone stays below the limit of a scrape (signals/catalogue/span_metrics.py), which is thrown away whole."""


def header_variables(signal: str, backend: Backend) -> dict[str, str]:
    """Environment variable → key of the backend's Secret whose value it must have. signal: `logs` or `traces`."""
    if backend.headers_secret is None:
        return {}
    return {f"{signal.upper()}_HEADER_{number}": key for number, key in enumerate(backend.headers_keys)}


def configuration(args: OtelCollectorArgs, revision: str) -> Manifest:
    """What the gateway runs."""
    return {
        "receivers": {"otlp": receiver(LARGEST_BATCH_MIB)},
        "processors": {
            LIMITER: limiter(args.gateway.memory_bytes),
            IDENTITY: identity(attributes(args)),
            **redaction.processors(args.redaction, args.identity),
            _SERVICE_OF_SPANS: _service_of_spans(),
            **({TEXTS: texts(args.identity)} if args.logs else {}),
            **({SAMPLING: tail_sampling(args)} if args.traces else {}),
        },
        "connectors": {
            SPAN_METRICS: _span_metrics(args.scrape_interval_seconds),
            **({"forward": {}} if args.traces else {}),
        },
        "exporters": _exporters(args),
        "extensions": {HEALTH: health(), QUEUE: storage("queue")},
        "service": {
            "extensions": [HEALTH, QUEUE],
            "telemetry": telemetry(GATEWAY, revision),
            "pipelines": _pipelines(args),
        },
    }


def _span_metrics(interval: int) -> Manifest:
    """Counts and durations of all spans, before any is sampled away. interval: seconds between scrapes.

    An exemplar stands until the next flush: flushed more often than scraped, most would be seen by nobody.
    """
    return {
        "namespace": "traces.span.metrics",
        "histogram": {"unit": "s", "explicit": {"buckets": list(BUCKETS)}},
        "dimensions": [{"name": "team"}, {"name": "k8s.namespace.name"}],
        # It changes with each restart, and with it would all series.
        "exclude_dimensions": ["collector.instance.id"],
        "exemplars": {"enabled": True, "max_per_data_point": 5},
        "metrics_flush_interval": f"{interval}s",
        "metrics_expiration": "1h",
        "resource_metrics_key_attributes": ["service.name"],
        "resource_metrics_cache_size": _SERVICES,
        "aggregation_cardinality_limit": _SERIES,
    }


def _service_of_spans() -> Manifest:
    """Names the service in every series, also in the one for what is beyond a service's limit.

    The resource is that of the first span of a service: its instance would be wrong of all others.
    """
    own, of_resource = 'datapoint.attributes["service.name"]', 'resource.attributes["service.name"]'
    return {
        "error_mode": "propagate",
        "metric_statements": [
            {"context": "datapoint", "statements": [f"set({own}, {of_resource}) where {own} == nil"]},
            {"context": "resource", "statements": ["keep_keys(resource.attributes, [])"]},
        ],
    }


def _exporters(args: OtelCollectorArgs) -> Manifest:
    found: Manifest = {
        "prometheus": {
            "endpoint": f"{ANY}:{SPAN_METRICS_PORT}",
            "enable_open_metrics": True,
            "metric_expiration": "10m",
        }
    }
    for signal, backend in args.backends.items():
        found[exporter_name(signal, backend)] = _exporter(signal, backend, args.gateway.queue_bytes)
    return found


def exporter_name(signal: str, backend: Backend) -> str:
    """`otlp_http/logs`, say: as in the collector's own metrics."""
    return f"otlp_{backend.protocol}/{signal}"


def _exporter(signal: str, backend: Backend, queue_bytes: int) -> Manifest:
    secret = {key: Env(variable) for variable, key in header_variables(signal, backend).items()}
    headers = {**backend.headers, **secret}
    address = {f"{signal}_endpoint" if backend.protocol == "http" else "endpoint": backend.endpoint}
    return {
        **address,
        **({"headers": headers} if headers else {}),
        "tls": {"insecure": not backend.tls},
        **queue(queue_bytes),
    }


def _pipelines(args: OtelCollectorArgs) -> Manifest:
    first = [LIMITER, IDENTITY, *redaction.ORDER]
    kept = args.traces is not None
    found: dict[str, Any] = {
        "traces/in": {
            "receivers": ["otlp"],
            "processors": first,
            "exporters": [SPAN_METRICS, *(["forward"] if kept else [])],
        },
        "metrics": {"receivers": ["otlp"], "processors": first, "exporters": ["prometheus"]},
        # Made of spans that have gone through redaction.
        "metrics/spans": {
            "receivers": [SPAN_METRICS],
            "processors": [_SERVICE_OF_SPANS],
            "exporters": ["prometheus"],
        },
    }
    if args.traces is not None:
        found["traces/kept"] = {
            "receivers": ["forward"],
            "processors": [SAMPLING],
            "exporters": [exporter_name("traces", args.traces)],
        }
    if args.logs is not None:
        found["logs"] = {
            "receivers": ["otlp"],
            "processors": [*first, TEXTS],
            "exporters": [exporter_name("logs", args.logs)],
        }
    return found
