"""NetworkPolicies: pods that make or restore points reach the live stores, and nothing reaches a pod of recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.network import default_deny_ingress, namespaced_pods
from components.objects import Manifest, metadata
from components.recovery.names import beside_live_stores, object_labels
from components.swanlab.names import BUFFER, METRICS_PORTS, PORTS, RELEASE, STORES
from components.swanlab.names import pods as program_pods

if TYPE_CHECKING:
    from components.recovery.args import RecoveryArgs

_ALERTMANAGER_PORT = 9093
_GRAFANA_PORT = 3000


def policies(args: RecoveryArgs) -> dict[str, Manifest]:
    """Role → policy. Policies add up: these open what those of SwanLab and of the stack leave closed."""
    found = {
        "network-default-deny": default_deny_ingress(args.namespace, args.instance),
        "network-stores": _stores(args),
        "network-buffer": _buffer(args),
    }
    if args.alertmanager_pods is not None:
        found["network-alertmanager"] = _of_stack(args, "alertmanager", args.alertmanager_pods, _ALERTMANAGER_PORT)
    if args.grafana_pods is not None:
        found["network-grafana"] = _of_stack(args, "grafana", args.grafana_pods, _GRAFANA_PORT)
    return found


def _stores(args: RecoveryArgs) -> Manifest:
    """Stores of SwanLab's chart. One of somebody else has no pod here, and its own rules."""
    chosen = {
        "matchLabels": {"app.kubernetes.io/instance": RELEASE},
        "matchExpressions": [{"key": "app.kubernetes.io/service", "operator": "In", "values": list(STORES)}],
    }
    sources = _beside(args)
    return _policy(args, "recovery-reads-stores", args.swanlab_namespace, chosen, sources, [PORTS[s] for s in STORES])


def _buffer(args: RecoveryArgs) -> Manifest:
    """Its metrics alone: they say when everything that was acknowledged is stored."""
    chosen = {"matchLabels": program_pods(BUFFER)}
    ports = [METRICS_PORTS[BUFFER]]
    return _policy(args, "recovery-asks-buffer", args.swanlab_namespace, chosen, _beside(args), ports)


def _beside(args: RecoveryArgs) -> list[Manifest]:
    return [{"podSelector": {"matchLabels": labels}} for labels in beside_live_stores(args.instance)]


def _of_stack(args: RecoveryArgs, name: str, chosen: dict[str, str], port: int) -> Manifest:
    """To what is in the stack's own namespace."""
    beside = beside_live_stores(args.instance)
    sources = [namespaced_pods(args.swanlab_namespace, labels) for labels in beside]
    return _policy(args, f"recovery-reads-{name}", args.instance, {"matchLabels": chosen}, sources, [port])


def _policy(  # each is part of what a policy says
    args: RecoveryArgs, name: str, namespace: str, chosen: Manifest, sources: list[Manifest], ports: list[int]
) -> Manifest:
    rule = {"from": sources, "ports": [{"port": port, "protocol": "TCP"} for port in ports]}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, object_labels(args.instance), namespace),
        "spec": {"podSelector": chosen, "ingress": [rule], "policyTypes": ["Ingress"]},
    }
