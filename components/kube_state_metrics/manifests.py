"""kube-state-metrics as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.exporters import cluster_role, cluster_role_binding, probe, service, service_account
from components.kube_state_metrics.names import (
    CONTAINER,
    NAME,
    PORT,
    PORT_NAME,
    TELEMETRY_PORT,
    TELEMETRY_PORT_NAME,
    object_labels,
    selector,
)
from components.kube_state_metrics.options import arguments, rules, validate
from components.naming import cluster_scoped_name
from components.network import allow_ingress
from components.objects import Manifest, metadata
from components.pods import quantities, restricted_container, restricted_pod

if TYPE_CHECKING:
    from components.kube_state_metrics.args import KubeStateMetricsArgs

_PORTS = {PORT_NAME: PORT, TELEMETRY_PORT_NAME: TELEMETRY_PORT}
_OUTAGE_SECONDS = 300


def manifests(args: KubeStateMetricsArgs) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered. Raises DeployError."""
    validate(args)
    labels_, selected = object_labels(args.namespace), selector(args.namespace)
    role = cluster_scoped_name(args.namespace, NAME)
    ports = (PORT, TELEMETRY_PORT)
    return {
        "service-account": service_account(NAME, args.namespace, labels_),
        "cluster-role": cluster_role(role, labels_, rules(args)),
        "cluster-role-binding": cluster_role_binding(role, labels_, NAME, args.namespace),
        "service": service(NAME, args.namespace, labels_, selected, _PORTS),
        **(
            {"network-policy": allow_ingress(NAME, args.namespace, labels_, selected, ports)}
            if args.network_policies
            else {}
        ),
        "deployment": _deployment(args),
    }


def _deployment(args: KubeStateMetricsArgs) -> Manifest:
    labels_ = object_labels(args.namespace, args.image.version)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, labels_, args.namespace),
        "spec": {
            "replicas": 1,
            # Two at once show every object twice, and every sum over them doubles; a gap of seconds is bridged.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": selector(args.namespace)},
            "template": {
                "metadata": {
                    "labels": labels_,
                    "annotations": {"kubectl.kubernetes.io/default-container": CONTAINER},
                },
                "spec": {
                    "serviceAccountName": NAME,
                    "automountServiceAccountToken": True,
                    "enableServiceLinks": False,
                    "nodeSelector": {"kubernetes.io/os": "linux"},
                    "securityContext": restricted_pod(),
                    "containers": [_container(args)],
                },
            },
        },
    }


def _container(args: KubeStateMetricsArgs) -> Manifest:
    return {
        "name": CONTAINER,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(args),
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in _PORTS.items()],
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        "readinessProbe": probe("/readyz", TELEMETRY_PORT_NAME, every=5, failures=3),
        # It asks the API server too, whose short outage a restart would only make longer: everything is listed anew.
        "livenessProbe": probe("/livez", PORT_NAME, every=10, failures=_OUTAGE_SECONDS // 10),
    }
