"""What programs with one replica and one claim have in common: pure functions to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.objects import metadata

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.prometheus.args import Resources

NOBODY = 65534
"""User and group of the images of the Prometheus project."""


def restricted_pod() -> Manifest:
    """Security context of a pod: an unprivileged user, who owns the volumes, behind the runtime's seccomp filter."""
    return {
        "runAsNonRoot": True,
        "runAsUser": NOBODY,
        "runAsGroup": NOBODY,
        "fsGroup": NOBODY,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def restricted_container() -> Manifest:
    """Security context of a container: no capability, no way to gain one, nothing writable but its volumes."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def quantities(wanted: Resources) -> Manifest:
    """`resources` of a container. A limit of processor time is set only if one is asked for."""
    limits = {"memory": wanted.memory_limit, **({"cpu": wanted.cpu_limit} if wanted.cpu_limit else {})}
    return {"requests": {"cpu": wanted.cpu_request, "memory": wanted.memory_request}, "limits": limits}


def probes(port_name: str, *, start_seconds: int, start_every: int = 2) -> Manifest:
    """Probes of a program with the management endpoints of Prometheus.

    start_seconds: how long a start may take. start_every: seconds between two questions whether it has ended.
    """
    return {
        "startupProbe": _probe("/-/ready", port_name, every=start_every, failures=start_seconds // start_every),
        "readinessProbe": _probe("/-/ready", port_name, every=5, failures=3),
        "livenessProbe": _probe("/-/healthy", port_name, every=10, failures=6),
    }


def _probe(path: str, port_name: str, *, every: int, failures: int) -> Manifest:
    return {
        "httpGet": {"path": path, "port": port_name},
        "periodSeconds": every,
        "timeoutSeconds": 3,
        "failureThreshold": failures,
    }


def service(
    name: str, namespace: str, object_labels: dict[str, str], selector: dict[str, str], port: tuple[str, int]
) -> Manifest:
    """A Service of one port, named like the pod's. port: name and number.

    `skipAwait`: waiting for ready endpoints would only repeat the wait for the StatefulSet.
    """
    port_name, number = port
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name, object_labels, namespace, {"pulumi.com/skipAwait": "true"}),
        "spec": {
            "type": "ClusterIP",
            "selector": selector,
            "ports": [{"name": port_name, "port": number, "targetPort": port_name, "protocol": "TCP"}],
        },
    }


def headless(of: Manifest, name: str) -> Manifest:
    """The Service that names the pods of a StatefulSet, beside the Service that reaches them.

    Not ready addresses too: a pod has its name before it is ready.
    """
    spec = {**of["spec"], "clusterIP": "None", "publishNotReadyAddresses": True}
    return {**of, "metadata": {**of["metadata"], "name": name}, "spec": spec}


def one_pod(
    meta: Manifest, selector: dict[str, str], pod: Manifest, *, headless_service: str, annotations: dict[str, str]
) -> Manifest:
    """A StatefulSet of one pod, never two at once. meta: `metadata` with name and labels, which the pod has as well.

    annotations: of the pod template; a changed one restarts the pod.
    """
    shown = {"kubectl.kubernetes.io/default-container": meta["name"], **annotations}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": meta,
        "spec": {
            "replicas": 1,
            "serviceName": headless_service,
            # With the ordered policy a pod that never became ready blocks every later roll-out, the repair included.
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate"},
            "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": meta["labels"], "annotations": shown}, "spec": pod},
        },
    }
