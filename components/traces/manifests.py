"""Jaeger as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components import exporters
from components.fixed_config import fixed_config_map, volume
from components.naming import stack_label
from components.network import allow_ingress
from components.objects import Manifest, metadata
from components.otel_collector.names import GATEWAY
from components.otel_collector.names import selector as collectors
from components.otel_collector.sizes import runtime_limit
from components.pods import headless, one_pod, quantities, restricted_container, restricted_pod
from components.prometheus.manifests import REVISION_ANNOTATION
from components.storage import claim
from components.traces.names import (
    ARGUMENTS,
    CLAIM,
    CONFIG_MAP,
    CONFIG_PATH,
    DATA_PATH,
    GRPC_PORT,
    HEADLESS_SERVICE,
    HTTP_PORT,
    METRICS_PORT,
    NAME,
    PORTS,
    QUERY_PORT,
    object_labels,
    selector,
)
from components.traces.validate import validate

if TYPE_CHECKING:
    from components.rendered import Rendered
    from components.traces.args import TracesArgs

_STOP_SECONDS: Final = 60
_START_SECONDS: Final = 300
"""A start after a kill replays what was written last."""


def manifests(args: TracesArgs, rendered: Rendered) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered. Raises DeployError."""
    validate(args)
    own, pods = object_labels(args.namespace), selector(args.namespace)
    ports = {name: port for name, port in PORTS.items() if name != "health"}
    reached = exporters.service(NAME, args.namespace, own, pods, ports)
    found = {
        "config": fixed_config_map(CONFIG_MAP, args.namespace, own, rendered),
        "data": claim(CLAIM, args.namespace, own | stack_label(args.stack), args.volume, args.storage_class),
        "service": reached,
        "service-headless": headless(reached, HEADLESS_SERVICE),
        "stateful-set": _stateful_set(args, rendered.revision),
    }
    if args.network_policies:
        found["network-policy"] = _network_policy(args)
    return found


def _network_policy(args: TracesArgs) -> Manifest:
    """Spans come from the gateway alone, which has redacted them; the stack's namespace asks and scrapes."""
    own, pods = object_labels(args.namespace), selector(args.namespace)
    found = allow_ingress(NAME, args.namespace, own, pods, (QUERY_PORT, METRICS_PORT))
    spans = {
        "from": [{"podSelector": {"matchLabels": collectors(GATEWAY, args.namespace)}}],
        "ports": [{"port": port, "protocol": "TCP"} for port in (GRPC_PORT, HTTP_PORT)],
    }
    return {**found, "spec": {**found["spec"], "ingress": [*found["spec"]["ingress"], spans]}}


def _stateful_set(args: TracesArgs, revision: str) -> Manifest:
    """A new configuration restarts the pod, by the revision in its template: Jaeger reads its file once."""
    meta = metadata(NAME, object_labels(args.namespace, args.image.version), args.namespace)
    return one_pod(
        meta,
        selector(args.namespace),
        _pod_spec(args, revision),
        headless_service=HEADLESS_SERVICE,
        annotations={REVISION_ANNOTATION: revision},
    )


def _pod_spec(args: TracesArgs, revision: str) -> Manifest:
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": restricted_pod(),
        "containers": [_container(args)],
        "volumes": [
            volume(CONFIG_MAP, revision),
            {"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}},
        ],
    }


def _container(args: TracesArgs) -> Manifest:
    return {
        "name": NAME,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": [*ARGUMENTS],
        "env": [runtime_limit(args.memory_bytes)],
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in PORTS.items()],
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        **exporters.probes("/status", "health", start_seconds=_START_SECONDS),
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "data", "mountPath": DATA_PATH},
        ],
    }
