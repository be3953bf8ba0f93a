"""What an OpenTelemetry collector tells of itself: one page for the agents on the nodes, one for the gateway.

Counters have no `_total`: the collector's own reader leaves it out. A signal that never came has no series. What was
refused and what failed appears with the first that was accepted, what was lost with the first that was lost.
"""

from __future__ import annotations

from typing import Final

from signals.catalogue.model import Budget, Described, Drop, LabelChange, Metric, MetricType, Producer

_CORE: Final = "go.opentelemetry.io/collector v0.165.0 "
_CONTRIB: Final = "github.com/open-telemetry/opentelemetry-collector-contrib "
_GENERATED: Final = "internal/metadata/generated_telemetry.go"
ITEMS: Final[dict[str, str]] = {"traces": "spans", "logs": "log_records", "metrics": "metric_points"}
"""Signal, as labels spell it → what is counted of it, as names of metrics spell it."""
NO_SCOPE: Final = LabelChange(
    source="otel[._]scope[._](name|version|schema[._]url)",
    target="",
    why="the part of the program that counts; the metric's name says it.",
)
NO_INSTANCE: Final = LabelChange(
    source="service[._](instance[._]id|name)",
    target="",
    why="new with each start, or the same for ever. The pod is in `instance`.",
)


def without_dot(label: str) -> LabelChange:
    """Names with dots come as they are to a Prometheus that takes them, and with `_` to any other."""
    return LabelChange(
        source=label.replace(".", "[.]"),
        target=label.replace(".", "_"),
        why="its spelling depends on what the Prometheus that scrapes asks for.",
    )


_CHANGES: Final = (
    NO_SCOPE,
    NO_INSTANCE,
    *map(without_dot, ("otel.signal", "plumbline.revision", "service.version")),
    *map(without_dot, ("server.address", "server.port", "url.path")),
)
_FIRST: Final = "the first of that signal"


def _part(where: str) -> Described:
    return Described("otelcol_", f"{_CORE}{where}/{_GENERATED}")


_RECEIVER, _PROCESSOR = _part("receiver/receiverhelper"), _part("processor/processorhelper")
_LIMITER, _EXPORTER = _part("processor/memorylimiterprocessor"), _part("exporter/exporterhelper")
_SERVICE: Final = _part("service")
_SAMPLING: Final = Described(
    "otelcol_processor_tail_sampling_", f"{_CONTRIB}v0.161.0 processor/tailsamplingprocessor/{_GENERATED}"
)
_FILES: Final = Described("otelcol_fileconsumer_", f"{_CONTRIB}v0.165.1 pkg/stanza/fileconsumer/{_GENERATED}")
_OVER_NETWORK: Final = ("server_address", "server_port", "url_path")
"""Of exporters that send over a network, with their first request."""


def _received(items: str) -> tuple[Metric, ...]:
    """`transport` is empty of what is read from files."""
    return tuple(
        _RECEIVER.counter(f"receiver_{what}_{items}", meaning, ("receiver",), optional=("transport",), event=_FIRST)
        for what, meaning in (
            ("accepted", "Taken from senders or files; whoever sent it may forget it."),
            ("refused", "Not taken, because a later part refused it; the sender was told, and may try again."),
            ("failed", "Not taken, because it could not be read."),
        )
    )


def _limited(items: str) -> Metric:
    return _LIMITER.counter(
        f"processor_memory_limiter_refused_{items}",
        "Not taken, because the collector has too little memory.",
        ("processor",),
        event="the memory limiter refuses something",
    )


def _exported(items: str) -> tuple[Metric, ...]:
    sent = ("sent", "Taken by the backend.", "the first that is sent")
    failed = ("send_failed", "Given up: the backend refused it for ever, or retries ran out.", "something is given up")
    full = ("enqueue_failed", "Thrown away, because the queue was full.", "a queue is full")
    return tuple(
        _EXPORTER.counter(f"exporter_{what}_{items}", meaning, ("exporter",), optional=_OVER_NETWORK, event=event)
        for what, meaning, event in (sent, failed, full)
    )


_SIGNALS: Final = tuple(
    metric for items in ITEMS.values() for metric in (*_received(items), _limited(items), *_exported(items))
)

_COMMON: Final = (
    _PROCESSOR.counter(
        "processor_incoming_items", "What a processor was given.", ("processor", "otel_signal"), event=_FIRST
    ),
    _PROCESSOR.counter(
        "processor_outgoing_items",
        "What a processor passed on; the difference was dropped, or refused because the processor failed.",
        ("processor", "otel_signal"),
        event=_FIRST,
    ),
    _EXPORTER.gauge("exporter_queue_size", "What waits for a backend.", ("exporter", "data_type")),
    _EXPORTER.gauge(
        "exporter_queue_capacity",
        "What may wait for a backend, in the unit of the size; beyond it everything is thrown away or refused.",
        ("exporter", "data_type"),
        low=1.0,
    ),
    _SERVICE.counter("process_uptime", "Age of the process.", unit="seconds"),
    _SERVICE.counter("process_cpu_seconds", "Processor time used by the process.", unit="seconds"),
    _SERVICE.gauge("process_memory_rss", "Physical memory of the process.", unit="bytes", low=1_000_000.0),
    _SERVICE.gauge("process_runtime_heap_alloc_bytes", "Memory that objects of the program take.", unit="bytes"),
    Metric(
        name="target_info",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Always 1; version and revision of the configuration are in the labels.",
        labels=("plumbline_revision", "service_version"),
        low=1.0,
        high=1.0,
        source=f"{_CORE}service/telemetry/otelconftelemetry/resource.go",
    ),
)

_READING: Final = (
    _FILES.gauge("open_files", "Log files of containers that the agent holds open."),
    _FILES.gauge("reading_files", "Log files that it reads now.", event="the first line of a file"),
)

_DECIDED: Final = "the first trace is decided"
_TRACES: Final = (
    _SAMPLING.counter("new_trace_id_received", "Traces that began.", event="the first trace"),
    _SAMPLING.counter(
        "global_count_traces_sampled",
        "Traces that were decided; `decision` is `sampled` of those that are kept.",
        ("decision", "sampled"),
        event=_DECIDED,
    ),
    _SAMPLING.counter(
        "count_traces_sampled",
        "The same for each policy; a trace that two of them keep counts twice.",
        ("policy", "decision", "sampled"),
        event=_DECIDED,
    ),
    _SAMPLING.counter(
        "sampling_trace_dropped_too_early",
        "Traces that had to go before their time, because too many waited for a decision.",
        event=_DECIDED,
    ),
    _SAMPLING.counter(
        "traces_dropped_too_large", "Traces with more bytes than one may have.", event="a trace is too large"
    ),
    _SAMPLING.counter("sampling_policy_evaluation_error", "Times that a policy could not decide.", event=_DECIDED),
    _SAMPLING.counter(
        "early_releases_from_cache_decision",
        "Spans that came after their trace was decided; `sampled` is `false` of those that went with it.",
        ("sampled",),
        event="a span comes late",
    ),
    _SAMPLING.gauge("sampling_traces_on_memory", "Traces that wait for a decision.", event=_DECIDED),
)

_DROPS: Final = (
    Drop(
        metric="otelcol_processor_(batch|tail_sampling)_.*_bucket",
        why="Sizes of batches, ages of traces, and how long the sampler takes. Sums and counts stay.",
    ),
    Drop(metric="(http|rpc)_.*", why="Requests as libraries count them. What was taken and sent is counted in items."),
    Drop(
        metric="otelcol_processor_tail_sampling_sampling_policy_execution_.*",
        why="Time that each policy takes. Ask the collector itself when it is slow.",
    ),
    Drop(metric="promhttp_.*", why="Errors of the page itself; such a scrape fails."),
)

AGENT: Final = Producer(
    job="otel-agent",
    title="Collector on the nodes",
    versions="OpenTelemetry Collector Contrib 0.165",
    target_labels=("cluster", "environment", "node"),
    per_node=True,
    metrics=(*_COMMON, *_READING, *_SIGNALS),
    drops=_DROPS,
    label_changes=_CHANGES,
    # Counted: 83 series of one that is agent and gateway at once, with four processors, two queues and three policies.
    # A processor more adds six, a second transport of OTLP nine.
    budget=Budget(per_target=150),
)

GATEWAY: Final = Producer(
    job="otel-gateway",
    title="Gateway of the collectors",
    versions="OpenTelemetry Collector Contrib 0.165",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(*_COMMON, *_TRACES, *_SIGNALS),
    drops=_DROPS,
    label_changes=_CHANGES,
    # Counted as for the agents; each tenant adds three for its policy, and a gateway has more processors and exporters.
    budget=Budget(per_target=300),
)
