"""NetworkPolicies. Ingress is closed unless a policy opens it.

Egress stays open on purpose: Prometheus must reach nodes, the API server and pods of every namespace, and neither
nodes nor the API server can be selected by label; a list of addresses would go stale and fail as missing data.
"""

from __future__ import annotations

from components.naming import PART_OF, labels
from components.objects import Manifest, metadata

_NAMESPACE_LABEL = "kubernetes.io/metadata.name"
"""Set on every namespace by the API server itself."""


def default_deny_ingress(namespace: str, instance: str | None = None) -> Manifest:
    """Closes every pod of the namespace to incoming traffic; what needs to be reached has a policy of its own.

    Traffic from the pod's own node stays allowed by definition of NetworkPolicy: probes work, and so does
    `kubectl port-forward`, which enters the pod's network namespace on the node. A pod in the node's own network is
    out of reach of every policy. instance: the stack's namespace, where this is another.
    """
    object_labels = labels(PART_OF, instance or namespace, "network")
    return _policy("default-deny-ingress", namespace, object_labels, {"podSelector": {}})


def allow_ingress(
    name: str,
    namespace: str,
    object_labels: dict[str, str],
    pods: dict[str, str],
    ports: tuple[int | str, ...],
    sources: tuple[str, ...] = (),
) -> Manifest:
    """Opens TCP ports of the selected pods to pods of some namespaces, and to nobody else. ports: numbers or names.

    sources: namespaces whose pods, all of them, get in; without any, those of the same namespace.
    """
    others = [{"namespaceSelector": {"matchLabels": {_NAMESPACE_LABEL: source}}} for source in sources]
    rule = {
        "from": others or [{"podSelector": {}}],
        "ports": [{"port": port, "protocol": "TCP"} for port in ports],
    }
    return _policy(name, namespace, object_labels, {"podSelector": {"matchLabels": pods}, "ingress": [rule]})


def namespaced_pods(namespace: str, pods: dict[str, str]) -> Manifest:
    """A source of a policy: the pods with these labels in that namespace, and no other. pods: labels."""
    return {
        "namespaceSelector": {"matchLabels": {_NAMESPACE_LABEL: namespace}},
        "podSelector": {"matchLabels": pods},
    }


def _policy(name: str, namespace: str, object_labels: dict[str, str], spec: Manifest) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, object_labels, namespace),
        "spec": {**spec, "policyTypes": ["Ingress"]},
    }
