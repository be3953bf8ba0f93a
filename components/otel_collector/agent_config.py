"""Configuration of the agent: one collector per node, which reads, filters and hands on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.otel_collector import debug
from components.otel_collector.abilities import K8S_ATTRIBUTES, routes_by_trace
from components.otel_collector.container_logs import OF_RUNTIME, container_logs
from components.otel_collector.names import AGENT, GATEWAY, GRPC_PORT, HEADLESS_SERVICE
from components.otel_collector.parts import (
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
from components.otel_collector.texts import FLATTENING, flattening

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

NODE_NAME: Final = "K8S_NODE_NAME"
"""Variable that the pod must have: the name of its node."""
_UNKNOWN_NODE: Final = "unknown"
"""Where the variable is missing; the collector would not start without a value."""
OFFSETS: Final = "file_storage/offsets"
LOGS: Final = "otlp_grpc/logs"
METRICS: Final = "otlp_grpc/metrics"
TRACES: Final = "otlp_grpc/traces"
ROUTED_TRACES: Final = "load_balancing/traces"


def configuration(args: OtelCollectorArgs, revision: str) -> Manifest:
    """What the agents run. Raises DeployError for replicas of the gateway that its image cannot choose among."""
    exporters = _exporters(args)
    return {
        "receivers": {"otlp": receiver(), **({"file_log": container_logs(args, OFFSETS)} if args.logs else {})},
        "processors": _processors(args),
        "exporters": exporters,
        "extensions": {HEALTH: health(), QUEUE: storage("queue"), OFFSETS: storage("offsets")},
        "service": {
            "extensions": [HEALTH, QUEUE, OFFSETS],
            "telemetry": telemetry(AGENT, revision),
            "pipelines": _pipelines(args, exporters),
        },
    }


def _processors(args: OtelCollectorArgs) -> Manifest:
    node = {"k8s.node.name": Env(f"{NODE_NAME}:-{_UNKNOWN_NODE}")}
    found: Manifest = {
        LIMITER: limiter(args.agent.memory_bytes),
        debug.FILTER: debug.level_filter(args.lowest_level),
        IDENTITY: identity(attributes(args) | node),
    }
    if args.logs:
        found[FLATTENING] = flattening(OF_RUNTIME)
    if K8S_ATTRIBUTES in args.abilities:
        found[K8S_ATTRIBUTES] = _pod_of_connection()
    return found


def _pod_of_connection() -> Manifest:
    """Names of the pod that sends, of those on this node alone: by its uid if it says so, else by its address."""
    names = (
        "namespace.name",
        "pod.name",
        "pod.uid",
        "deployment.name",
        "statefulset.name",
        "daemonset.name",
        "job.name",
    )
    return {
        "filter": {"node_from_env_var": NODE_NAME},
        "extract": {"metadata": [f"k8s.{name}" for name in names]},
        "pod_association": [
            {"sources": [{"from": "resource_attribute", "name": "k8s.pod.uid"}]},
            {"sources": [{"from": "connection"}]},
        ],
    }


def _exporters(args: OtelCollectorArgs) -> Manifest:
    """One per signal: its name tells which in the collector's own metrics.

    Who reads files can wait for room in the queue, and does so for ever. Who sends traces or metrics is told.
    """
    to_gateway = {"endpoint": f"{GATEWAY}.{args.namespace}.svc:{GRPC_PORT}", "tls": {"insecure": True}}
    waiting = queue(args.agent.queue_bytes, largest_mib=LARGEST_BATCH_MIB)
    found: Manifest = {METRICS: {**to_gateway, **waiting}}
    if args.logs:
        found[LOGS] = {**to_gateway, **queue(args.agent.queue_bytes, blocks=True, largest_mib=LARGEST_BATCH_MIB)}
    if routes_by_trace(args):
        found[ROUTED_TRACES] = {
            "routing_key": "traceID",
            "protocol": {"otlp": {"tls": {"insecure": True}, "timeout": "30s", "sending_queue": {"enabled": False}}},
            "resolver": {
                "dns": {
                    "hostname": f"{HEADLESS_SERVICE}.{args.namespace}.svc",
                    "port": str(GRPC_PORT),
                    "interval": "5s",
                }
            },
            **waiting,
        }
    else:
        found[TRACES] = {**to_gateway, **waiting}
    return found


def _pipelines(args: OtelCollectorArgs, exporters: Manifest) -> Manifest:
    pods = [K8S_ATTRIBUTES] if K8S_ATTRIBUTES in args.abilities else []
    found: dict[str, Any] = {
        "traces": {
            "receivers": ["otlp"],
            "processors": [LIMITER, *pods, IDENTITY],
            "exporters": [ROUTED_TRACES if ROUTED_TRACES in exporters else TRACES],
        },
        "metrics": {"receivers": ["otlp"], "processors": [LIMITER, *pods, IDENTITY], "exporters": [METRICS]},
    }
    if args.logs:
        found["logs"] = {
            "receivers": ["otlp"],
            "processors": [LIMITER, *pods, IDENTITY, debug.FILTER],
            "exporters": [LOGS],
        }
        found["logs/containers"] = {
            "receivers": ["file_log"],
            "processors": [LIMITER, IDENTITY, debug.FILTER, FLATTENING],
            "exporters": [LOGS],
        }
    return found
