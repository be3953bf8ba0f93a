"""The collector and its stores as systems of the stack, and what the contract promises of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from components.logs import names as logs
from components.logs.component import Logs
from components.logs.manifests import manifests as logs_manifests
from components.otel_collector import names as otel
from components.otel_collector.component import OtelCollector
from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.containers import arguments
from components.otel_collector.expressions import judge_expressions
from components.otel_collector.lint import lint as lint_collector
from components.otel_collector.manifests import manifests as collector_manifests
from components.otel_collector.parts import attributes
from components.traces import names as traces
from components.traces.component import Traces
from components.traces.config import render as render_traces
from components.traces.lint import lint as lint_traces
from components.traces.manifests import manifests as traces_manifests
from stacks.contract import (
    Claim,
    Collector,
    Component,
    Endpoint,
    LogStore,
    Sampling,
    Telemetry,
    TraceStore,
)
from stacks.fields import duration_seconds, quantity_bytes
from stacks.system import System, tier, workload
from stacks.telemetry_arguments import collector_args, logs_args, traces_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.otel_collector.args import OtelCollectorArgs
    from stacks.settings import Settings
    from stacks.system import Images


def collector(settings: Settings, images: Images) -> System:
    """Agents and gateway. The gateway's part of the promise: agents are in another namespace, see telemetry()."""
    args = collector_args(settings, images)
    agent, gateway = render_agent(args), render_gateway(args)
    replicas = range(args.gateway.replicas)

    def judged() -> None:
        judge_expressions(args.redaction, args.stack)
        lint_collector(agent.files | no_windows(args).files)
        lint_collector(gateway.files)

    promise = Component(
        tier=tier(args.image),
        workloads=tuple(
            workload("StatefulSet", otel.replica_name(replica), 1, otel.GATEWAY, args.image) for replica in replicas
        ),
        claims=tuple(
            Claim(name=otel.claim_name(replica), size=args.gateway.volume, mounted_at=otel.QUEUE_PATH)
            for replica in replicas
        ),
        endpoints={"otlp": Endpoint(service=otel.GATEWAY, port=otel.HTTP_PORT)},
        revision=gateway.revision,
    )
    return System(
        name=otel.COMPONENT,
        manifests=collector_manifests(args, agent, gateway),
        promise=promise,
        register=lambda opts: OtelCollector(otel.COMPONENT, args, opts),
        lint=judged,
        after=tuple(name for name, mode in _stores(settings).items() if mode == "managed"),
    )


def agents(settings: Settings, images: Images) -> Component:
    """What the contract promises of the agents, which are registered with the gateway."""
    args = collector_args(settings, images)
    return Component(
        tier=tier(args.image),
        namespace=args.node_namespace,
        workloads=(workload("DaemonSet", otel.AGENT, None, otel.AGENT, args.image),),
        endpoints={"otlp": Endpoint(service=otel.AGENT, namespace=args.node_namespace, port=otel.HTTP_PORT)},
        revision=render_agent(args).revision,
    )


def log_store(settings: Settings, images: Images) -> System:
    """VictoriaLogs."""
    args = logs_args(settings, images)
    promise = Component(
        tier=tier(args.image),
        workloads=(workload("StatefulSet", logs.NAME, 1, logs.NAME, args.image),),
        claims=(Claim(name=logs.CLAIM, size=args.volume, mounted_at=logs.DATA_PATH),),
        endpoints={"http": Endpoint(service=logs.NAME, port=logs.PORT)},
    )
    return System(
        name=logs.NAME,
        manifests=logs_manifests(args),
        promise=promise,
        register=lambda opts: Logs(logs.NAME, args, opts),
    )


def trace_store(settings: Settings, images: Images) -> System:
    """Jaeger."""
    args = traces_args(settings, images)
    rendered = render_traces(args)
    promise = Component(
        tier=tier(args.image),
        workloads=(workload("StatefulSet", traces.NAME, 1, traces.NAME, args.image),),
        claims=(Claim(name=traces.CLAIM, size=args.volume, mounted_at=traces.DATA_PATH),),
        endpoints={
            "http": Endpoint(service=traces.NAME, port=traces.QUERY_PORT),
            "metrics": Endpoint(service=traces.NAME, port=traces.METRICS_PORT),
        },
        revision=rendered.revision,
    )
    return System(
        name=traces.NAME,
        manifests=traces_manifests(args, rendered),
        promise=promise,
        register=lambda opts: Traces(traces.NAME, args, opts),
        lint=lambda: lint_traces(rendered),
    )


def telemetry(settings: Settings, images: Images, components: Mapping[str, Component]) -> Telemetry:
    """What the contract promises beyond the components. components: what it promises of them, by name."""
    found = Telemetry(
        logs=LogStore(
            retention_seconds=int(duration_seconds(settings.logs.retention)),
            retention_bytes=quantity_bytes(settings.logs.retention_size),
        )
        if settings.logs.mode == "managed"
        else None,
        traces=_trace_store(settings, components[traces.NAME]) if settings.traces.mode == "managed" else None,
    )
    if settings.otel_collector.mode == "off":
        return found
    return found.model_copy(update=_collectors(collector_args(settings, images), components))


def _collectors(args: OtelCollectorArgs, components: Mapping[str, Component]) -> dict[str, object]:
    kept: dict[Literal["traces", "logs", "metrics"], bool] = {
        "traces": args.traces is not None,
        "logs": args.logs is not None,
        "metrics": True,
    }
    sampling = args.sampling
    return {
        "agent": Collector(
            namespace=args.node_namespace,
            kind="DaemonSet",
            name=otel.AGENT,
            revision=_revision(components[otel.AGENT]),
            arguments=tuple(arguments(otel.AGENT_FILES)),
            debug_revision=no_windows(args).revision,
            otlp=Endpoint(service=otel.AGENT, namespace=args.node_namespace, port=otel.HTTP_PORT),
            metrics_port=otel.METRICS_PORT,
        ),
        "gateway": Collector(
            namespace=args.namespace,
            kind="StatefulSet",
            name=otel.GATEWAY,
            revision=_revision(components[otel.COMPONENT]),
            arguments=tuple(arguments(otel.GATEWAY_FILES)),
            otlp=Endpoint(service=otel.GATEWAY, namespace=args.namespace, port=otel.HTTP_PORT),
            metrics_port=otel.METRICS_PORT,
            span_metrics_port=otel.SPAN_METRICS_PORT,
        ),
        "signals": tuple(signal for signal, there in kept.items() if there),
        "sampling": Sampling(
            keep_percent=sampling.keep_percent,
            slow_ms=sampling.slow_ms,
            decision_wait_seconds=sampling.decision_wait_seconds,
            decision_wait_after_root_seconds=sampling.decision_wait_after_root_seconds,
            traces_in_memory=sampling.traces_in_memory,
            tenants=dict(sampling.tenants),
        )
        if kept["traces"]
        else None,
        "resource_attributes": attributes(args),
        "identity": args.identity,
    }


def _trace_store(settings: Settings, promised: Component) -> TraceStore:
    return TraceStore(
        retention_seconds=int(duration_seconds(settings.traces.retention)),
        revision=_revision(promised),
        arguments=traces.ARGUMENTS,
    )


def _revision(promised: Component) -> str:
    """Collectors and Jaeger have one always."""
    return cast("str", promised.revision)


def _stores(settings: Settings) -> dict[str, str]:
    return {logs.NAME: settings.logs.mode, traces.NAME: settings.traces.mode}
