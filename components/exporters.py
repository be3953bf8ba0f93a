"""What the objects of exporters have in common: pure functions to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.objects import CRITICAL, metadata

if TYPE_CHECKING:
    from components.objects import Manifest

EVERY_TAINT: Final[tuple[dict[str, str], ...]] = ({"operator": "Exists"},)
"""A node that is cordoned, drained or reserved is still measured: that is when it is looked at."""

_SKIP_AWAIT: Final = {"pulumi.com/skipAwait": "true"}


def service_account(name: str, namespace: str, object_labels: dict[str, str]) -> Manifest:
    """An account whose token is mounted by the one pod that asks for it, not by whatever else uses the account."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(name, object_labels, namespace),
        "automountServiceAccountToken": False,
    }


def service(
    name: str, namespace: str, object_labels: dict[str, str], selector: dict[str, str], ports: dict[str, int]
) -> Manifest:
    """A Service to reach some pod of the exporter by; scraping finds every pod by itself. ports: name → number.

    `skipAwait`: waiting for ready endpoints would repeat the wait for the pods, or wait for nodes that do not exist.
    """
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name, object_labels, namespace, _SKIP_AWAIT),
        "spec": {
            "type": "ClusterIP",
            "selector": selector,
            "ports": [
                {"name": port_name, "port": port, "targetPort": port_name, "protocol": "TCP"}
                for port_name, port in ports.items()
            ],
        },
    }


def daemon_set(
    name: str,
    namespace: str,
    object_labels: dict[str, str],
    selector: dict[str, str],
    pod: Manifest,
    *,
    container: str,
    max_unavailable: str,
) -> Manifest:
    """One pod per node. container: which one `kubectl logs` shows. max_unavailable: per cent of nodes, or a number.

    `skipAwait`: among many nodes one is always broken, and it must not fail the deployment of everything else. Which
    nodes lack a ready pod is a question to the running stack.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata(name, object_labels, namespace, _SKIP_AWAIT),
        "spec": {
            # Two pods on one node, old and new, would count every device of it twice.
            "updateStrategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": _int_or_percent(max_unavailable), "maxSurge": 0},
            },
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {
                    "labels": object_labels,
                    "annotations": {"kubectl.kubernetes.io/default-container": container},
                },
                "spec": {"priorityClassName": CRITICAL, **pod},
            },
        },
    }


def probe(path: str, port_name: str, *, every: int, failures: int) -> Manifest:
    """A probe by HTTP. every: seconds. failures: in a row until it counts."""
    return {
        "httpGet": {"path": path, "port": port_name},
        "periodSeconds": every,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def probes(path: str, port_name: str, *, start_seconds: int) -> Manifest:
    """All three probes of a program that answers at one path. start_seconds: how long a start may take."""
    return {
        "startupProbe": probe(path, port_name, every=2, failures=start_seconds // 2),
        "readinessProbe": probe(path, port_name, every=5, failures=3),
        "livenessProbe": probe(path, port_name, every=10, failures=6),
    }


def cluster_role(name: str, object_labels: dict[str, str], rules: list[Manifest]) -> Manifest:
    """A ClusterRole. name: already unique in the cluster."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": metadata(name, object_labels),
        "rules": rules,
    }


def cluster_role_binding(name: str, object_labels: dict[str, str], account: str, namespace: str) -> Manifest:
    """Gives the ClusterRole of the same name to one account."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name, object_labels),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }


def _int_or_percent(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
