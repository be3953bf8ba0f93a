"""The Pushgateway as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.naming import stack_label
from components.network import allow_ingress
from components.objects import Manifest, metadata
from components.pods import headless, one_pod, probes, quantities, restricted_container, restricted_pod, service
from components.pushgateway.names import (
    CLAIM,
    DATA_PATH,
    HEADLESS_SERVICE,
    NAME,
    PORT,
    PORT_NAME,
    arguments,
    object_labels,
    selector,
)
from components.storage import claim

if TYPE_CHECKING:
    from components.pushgateway.args import PushgatewayArgs

_STOP_SECONDS = 30
_START_SECONDS = 60


def manifests(args: PushgatewayArgs) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered."""
    own, pods = object_labels(args.namespace), selector(args.namespace)
    reached = service(NAME, args.namespace, own, pods, (PORT_NAME, PORT))
    found = {
        "data": claim(CLAIM, args.namespace, own | stack_label(args.stack), args.volume, args.storage_class),
        "service": reached,
        "service-headless": headless(reached, HEADLESS_SERVICE),
        "stateful-set": _stateful_set(args),
    }
    if args.network_policies:
        found["network-policy"] = _network_policy(args)
    return found


def _network_policy(args: PushgatewayArgs) -> Manifest:
    """Open to the stack's own namespace, which scrapes, and to the namespaces that push."""
    own = object_labels(args.namespace)
    sources = (args.namespace, *sorted(set(args.push_from) - {args.namespace}))
    return allow_ingress(NAME, args.namespace, own, selector(args.namespace), (PORT,), sources)


def _stateful_set(args: PushgatewayArgs) -> Manifest:
    """Never two at once: two would each hold a part of what was pushed, and overwrite one file."""
    meta = metadata(NAME, object_labels(args.namespace, args.image.version), args.namespace)
    return one_pod(meta, selector(args.namespace), _pod_spec(args), headless_service=HEADLESS_SERVICE, annotations={})


def _pod_spec(args: PushgatewayArgs) -> Manifest:
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": restricted_pod(),
        "containers": [
            {
                "name": NAME,
                "image": args.image.reference,
                "imagePullPolicy": "IfNotPresent",
                "args": arguments(),
                "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
                "resources": quantities(args.resources),
                "securityContext": restricted_container(),
                **probes(PORT_NAME, start_seconds=_START_SECONDS),
                "volumeMounts": [{"name": "data", "mountPath": DATA_PATH}],
            }
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}}],
    }
