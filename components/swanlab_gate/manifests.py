"""The gate as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.exporters import probe, service
from components.network import allow_ingress
from components.objects import Manifest, metadata
from components.pods import quantities, restricted_container, restricted_pod
from components.swanlab_gate.names import CONTAINER, KEY_PATH, NAME, POLICY, PORT, PORT_NAME, object_labels, selector

if TYPE_CHECKING:
    from components.swanlab_gate.args import Part, SwanlabGateArgs

_PATIENCE_SECONDS = 900
"""How long the deployment waits for SwanLab: images are pulled, databases initialised, schemas migrated."""


def manifests(args: SwanlabGateArgs) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered."""
    own, pods = object_labels(args.namespace), selector(args.namespace)
    found = {"service": service(NAME, args.swanlab_namespace, own, pods, {PORT_NAME: PORT})}
    if args.network_policies:
        sources = (args.namespace,)
        found["network-policy"] = allow_ingress(POLICY, args.swanlab_namespace, own, pods, (PORT,), sources)
    return found | {"deployment": _deployment(args)}


def arguments(args: SwanlabGateArgs) -> list[str]:
    """The command line, see gate/settings.py."""
    return [
        f"--port={PORT}",
        *(f"--part={_word(part)}" for part in args.parts),
        f"--licence-url={args.licence_url}",
        f"--api-key-file={KEY_PATH}/{args.api_key.key}",
    ]


def _word(part: Part) -> str:
    return ",".join([f"{part.name}={part.kind}", part.address, *([part.body] if part.body else [])])


def _deployment(args: SwanlabGateArgs) -> Manifest:
    labels_ = object_labels(args.namespace, args.image.version)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, labels_, args.swanlab_namespace),
        "spec": {
            "replicas": 1,
            # With the old pod still ready, an update would count as done before the new one has asked anything.
            "strategy": {"type": "Recreate"},
            "progressDeadlineSeconds": _PATIENCE_SECONDS,
            "selector": {"matchLabels": selector(args.namespace)},
            "template": {
                "metadata": {
                    "labels": labels_,
                    "annotations": {"kubectl.kubernetes.io/default-container": CONTAINER},
                },
                "spec": _pod_spec(args),
            },
        },
    }


def _pod_spec(args: SwanlabGateArgs) -> Manifest:
    """The key is a file and no variable: it is made after activation, and a file appears in a pod that runs already."""
    key = args.api_key
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "securityContext": restricted_pod(),
        "containers": [
            {
                "name": CONTAINER,
                "image": args.image.reference,
                "imagePullPolicy": "IfNotPresent",
                "args": arguments(args),
                "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
                "resources": quantities(args.resources),
                "securityContext": restricted_container(),
                "readinessProbe": probe("/ready", PORT_NAME, every=5, failures=3),
                "livenessProbe": probe("/healthz", PORT_NAME, every=10, failures=6),
                "volumeMounts": [{"name": "api-key", "mountPath": KEY_PATH, "readOnly": True}],
            }
        ],
        "volumes": [
            {
                "name": "api-key",
                "secret": {
                    "secretName": key.name,
                    "optional": True,
                    "defaultMode": 0o440,
                    "items": [{"key": key.key, "path": key.key}],
                },
            }
        ],
    }
