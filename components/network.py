"""NetworkPolicies. Ingress is closed unless a policy opens it.

Egress stays open on purpose: Prometheus must reach nodes, the API server and pods of every namespace, and neither
nodes nor the API server can be selected by label; a list of addresses would go stale and fail as missing data.
"""

from __future__ import annotations

from components.naming import PART_OF, labels
from components.objects import Manifest, metadata


def default_deny_ingress(namespace: str) -> Manifest:
    """Closes every pod of the namespace to incoming traffic; what needs to be reached has a policy of its own.

    Traffic from the pod's own node stays allowed by definition of NetworkPolicy: probes work, and so does
    `kubectl port-forward`, which enters the pod's network namespace on the node.
    """
    return _policy("default-deny-ingress", namespace, labels(PART_OF, namespace, "network"), {"podSelector": {}})


def allow_ingress(
    name: str, namespace: str, object_labels: dict[str, str], pods: dict[str, str], ports: tuple[int, ...]
) -> Manifest:
    """Opens TCP ports of the selected pods to every pod of the same namespace, and to nobody else."""
    rule = {
        "from": [{"podSelector": {}}],
        "ports": [{"port": port, "protocol": "TCP"} for port in ports],
    }
    return _policy(name, namespace, object_labels, {"podSelector": {"matchLabels": pods}, "ingress": [rule]})


def _policy(name: str, namespace: str, object_labels: dict[str, str], spec: Manifest) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, object_labels, namespace),
        "spec": {**spec, "policyTypes": ["Ingress"]},
    }
