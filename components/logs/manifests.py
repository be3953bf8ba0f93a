"""VictoriaLogs as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.exporters import probes
from components.logs.names import (
    CLAIM,
    DATA_PATH,
    HEADLESS_SERVICE,
    NAME,
    PORT,
    PORT_NAME,
    object_labels,
    selector,
)
from components.logs.options import arguments
from components.logs.validate import validate
from components.naming import stack_label
from components.network import allow_ingress
from components.objects import Manifest, metadata
from components.pods import headless, one_pod, quantities, restricted_container, restricted_pod, service
from components.storage import claim

if TYPE_CHECKING:
    from components.logs.args import LogsArgs

_STOP_SECONDS: Final = 60
_START_SECONDS: Final = 300
"""A start reads the index of every day, after a kill more than that."""


def manifests(args: LogsArgs) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered. Raises DeployError.

    The policy opens it to the stack's namespace alone, where the gateway and whoever asks are: it has no login.
    """
    validate(args)
    own, pods = object_labels(args.namespace), selector(args.namespace)
    reached = service(NAME, args.namespace, own, pods, (PORT_NAME, PORT))
    found = {
        "data": claim(CLAIM, args.namespace, own | stack_label(args.stack), args.volume, args.storage_class),
        "service": reached,
        "service-headless": headless(reached, HEADLESS_SERVICE),
        "stateful-set": _stateful_set(args),
    }
    if args.network_policies:
        found["network-policy"] = allow_ingress(NAME, args.namespace, own, pods, (PORT,))
    return found


def _stateful_set(args: LogsArgs) -> Manifest:
    meta = metadata(NAME, object_labels(args.namespace, args.image.version), args.namespace)
    return one_pod(meta, selector(args.namespace), _pod_spec(args), headless_service=HEADLESS_SERVICE, annotations={})


def _pod_spec(args: LogsArgs) -> Manifest:
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
                "args": arguments(args),
                "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
                "resources": quantities(args.resources),
                "securityContext": restricted_container(),
                **probes("/health", PORT_NAME, start_seconds=_START_SECONDS),
                "volumeMounts": [{"name": "data", "mountPath": DATA_PATH}],
            }
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}}],
    }
