"""From settings to the arguments of the collector and its stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.exporters import EVERY_TAINT
from components.logs import names as logs
from components.logs.args import LogsArgs
from components.naming import node_namespace_name
from components.otel_collector import args as of
from components.otel_collector.abilities import abilities_of
from components.otel_collector.names import COMPONENT
from components.prometheus.args import Resources
from components.traces import names as traces
from components.traces.args import TracesArgs
from signals.catalogue.labels import WORKLOAD_IDENTITY
from signals.rules.inputs import TelemetryPlans
from stacks.fields import duration_seconds, quantity_bytes, quantity_value

if TYPE_CHECKING:
    from components.images import ImagePin
    from stacks.settings import Settings
    from stacks.telemetry import Agent, Elsewhere

_SCRAPE_INTERVAL = "30s"
"""Of a Prometheus whose interval the settings do not tell."""


def collector_args(settings: Settings, images: dict[str, ImagePin]) -> of.OtelCollectorArgs:
    """Arguments of the collector. images: role → image."""
    wanted, image = settings.otel_collector, images[COMPONENT]
    sampling = wanted.sampling
    return of.OtelCollectorArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        node_namespace=node_namespace_name(settings.namespace),
        image=image,
        abilities=abilities_of(image) if wanted.abilities is None else frozenset(wanted.abilities),
        cluster=settings.cluster.name,
        environment=settings.cluster.environment,
        lowest_level=wanted.lowest_level,
        identity=WORKLOAD_IDENTITY,
        agent=_agent(wanted.agent),
        gateway=of.Gateway(
            replicas=wanted.gateway.replicas,
            volume=wanted.gateway.volume,
            volume_bytes=quantity_bytes(wanted.gateway.volume),
            queue_bytes=quantity_bytes(wanted.gateway.queue),
            memory_bytes=_memory(wanted.gateway.memory),
            resources=_resources(wanted.gateway.cpu, wanted.gateway.memory),
        ),
        sampling=of.Sampling(
            keep_percent=sampling.keep_percent,
            slow_ms=int(duration_seconds(sampling.slow) * 1000),
            decision_wait_seconds=int(duration_seconds(sampling.decision_wait)),
            decision_wait_after_root_seconds=int(duration_seconds(sampling.decision_wait_after_root)),
            traces_in_memory=sampling.traces_in_memory,
            tenants=dict(sampling.tenants),
        ),
        redaction=of.Redaction(keys=wanted.redaction.keys, values=wanted.redaction.values),
        logs=_logs_backend(settings),
        traces=_traces_backend(settings),
        scrape_interval_seconds=int(duration_seconds(_interval(settings))),
        storage_class=settings.storage.class_name,
        network_policies=settings.network.policies,
        receive_from=wanted.receive_from,
    )


def logs_args(settings: Settings, images: dict[str, ImagePin]) -> LogsArgs:
    """Arguments of VictoriaLogs. images: role → image."""
    wanted = settings.logs
    return LogsArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        image=images[logs.NAME],
        retention=wanted.retention,
        retention_bytes=quantity_bytes(wanted.retention_size),
        volume=wanted.volume,
        volume_bytes=quantity_bytes(wanted.volume),
        memory_bytes=_memory(wanted.memory),
        storage_class=settings.storage.class_name,
        resources=_resources("50m", wanted.memory),
        network_policies=settings.network.policies,
    )


def traces_args(settings: Settings, images: dict[str, ImagePin]) -> TracesArgs:
    """Arguments of Jaeger. images: role → image."""
    wanted = settings.traces
    return TracesArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        image=images[traces.NAME],
        retention_seconds=int(duration_seconds(wanted.retention)),
        volume=wanted.volume,
        volume_bytes=quantity_bytes(wanted.volume),
        memory_bytes=_memory(wanted.memory),
        storage_class=settings.storage.class_name,
        resources=_resources("50m", wanted.memory),
        network_policies=settings.network.policies,
    )


def plans(settings: Settings) -> TelemetryPlans | None:
    """What rules hold the collectors and their stores to; None where no collector runs."""
    wanted = settings.otel_collector
    if wanted.mode == "off":
        return None
    kept = duration_seconds(settings.logs.retention) if settings.logs.mode == "managed" else None
    return TelemetryPlans(
        agent_memory_bytes=quantity_bytes(wanted.agent.memory),
        gateway_memory_bytes=quantity_bytes(wanted.gateway.memory),
        decision_wait_seconds=int(duration_seconds(wanted.sampling.decision_wait)),
        traces_in_memory=wanted.sampling.traces_in_memory,
        log_records_per_second=settings.sizing.log_records_per_second,
        log_bytes_per_second=settings.sizing.log_bytes_per_second,
        spans_per_second=settings.sizing.spans_per_second,
        logs_retention_seconds=None if kept is None else int(kept),
    )


def _agent(wanted: Agent) -> of.Agent:
    named = wanted.tolerations
    return of.Agent(
        directory=wanted.directory,
        queue_bytes=quantity_bytes(wanted.queue),
        memory_bytes=_memory(wanted.memory),
        resources=_resources(wanted.cpu, wanted.memory),
        tolerations=EVERY_TAINT
        if named is None
        else tuple({key: str(value) for key, value in one.model_dump(exclude_none=True).items()} for one in named),
        disk_bytes=quantity_bytes(wanted.disk),
    )


def _memory(limit: str) -> int:
    """Whole bytes, rounded down: a program is never told of more than its container may have."""
    return int(quantity_value(limit))


def _resources(cpu: str, memory: str) -> Resources:
    return Resources(cpu_request=cpu, memory_request=str(_memory(memory) // 2), memory_limit=memory)


def _interval(settings: Settings) -> str:
    if settings.prometheus is not None:
        return settings.prometheus.scrape_interval
    existing = settings.existing_prometheus
    return existing.interval if existing is not None else _SCRAPE_INTERVAL


def _logs_backend(settings: Settings) -> of.Backend | None:
    wanted = settings.logs
    if wanted.mode == "managed":
        return of.Backend(
            protocol="http", endpoint=logs.ingest_url(settings.namespace), headers=dict(logs.INGEST_HEADERS)
        )
    return _elsewhere(wanted.external) if wanted.mode == "external" else None


def _traces_backend(settings: Settings) -> of.Backend | None:
    wanted = settings.traces
    if wanted.mode == "managed":
        return of.Backend(protocol="grpc", endpoint=traces.otlp_endpoint(settings.namespace))
    return _elsewhere(wanted.external) if wanted.mode == "external" else None


def _elsewhere(wanted: Elsewhere | None) -> of.Backend | None:
    """None where the settings are refused for it (telemetry_relations.py)."""
    if wanted is None:
        return None
    return of.Backend(
        protocol=wanted.protocol,
        endpoint=wanted.endpoint,
        tls=wanted.tls,
        headers_secret=wanted.headers_secret,
        headers_keys=wanted.headers,
    )
