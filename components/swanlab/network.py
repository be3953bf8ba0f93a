"""NetworkPolicies of SwanLab's namespace: everybody reaches the gateway, and only its own kind what lies behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.network import allow_ingress, default_deny_ingress
from components.objects import Manifest, metadata
from components.swanlab.credentials import rotates
from components.swanlab.names import (
    GATEWAY_PORT,
    METRICS_PORTS,
    PORTS,
    STORES,
    all_pods,
    gate_pods,
    object_labels,
    pods,
    rotation_pods,
)

if TYPE_CHECKING:
    from components.swanlab.args import SwanlabArgs

GATEWAY_PORTS: Final = (GATEWAY_PORT, "web")
"""A policy counts the ports of pods. The name finds a gateway that may not listen below 1024; the other entrypoints,
which trust whoever reaches them, are not among these."""
_GATEWAY_PING: Final = 8081


def policies(args: SwanlabArgs) -> dict[str, Manifest]:
    """Role → policy."""
    own = object_labels(args.instance)
    found = {
        "network-default-deny": default_deny_ingress(args.namespace, args.instance),
        "network-gateway": _policy(args, "swanlab-gateway", pods("gateway"), None, GATEWAY_PORTS),
        "network-internal": _policy(args, "swanlab-internal", all_pods(), all_pods(), ()),
        "network-gate": _policy(args, "swanlab-gate", all_pods(), gate_pods(), _gate_ports()),
    }
    for program, port in METRICS_PORTS.items():
        if program in STORES and program not in args.own:
            continue
        name, sources = f"swanlab-metrics-{program}", (args.scraped_from,)
        found[f"network-metrics-{program}"] = allow_ingress(name, args.namespace, own, pods(program), (port,), sources)
    if "s3" in args.own:
        # The chart's Job that makes the buckets has none of the labels of its pods.
        ports = (PORTS["s3"],)
        found["network-s3"] = allow_ingress("swanlab-s3", args.namespace, own, pods("s3"), ports)
    if rotates(args):
        ports = (PORTS["postgres"],)
        found["network-rotation"] = _policy(
            args, "swanlab-postgres-rotation", pods("postgres"), rotation_pods(args.instance), ports
        )
    return found


def _gate_ports() -> tuple[int, ...]:
    return tuple(sorted({*PORTS.values(), *METRICS_PORTS.values(), _GATEWAY_PING}))


def _policy(
    args: SwanlabArgs,
    name: str,
    opened: dict[str, str],
    source: dict[str, str] | None,
    ports: tuple[int | str, ...],
) -> Manifest:
    """source: labels of pods of the same namespace; None is everybody, nodes and other networks too. No ports: all."""
    rule: dict[str, Any] = {}
    if source is not None:
        rule["from"] = [{"podSelector": {"matchLabels": source}}]
    if ports:
        rule["ports"] = [{"port": port, "protocol": "TCP"} for port in ports]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(name, object_labels(args.instance), args.namespace),
        "spec": {"podSelector": {"matchLabels": opened}, "ingress": [rule], "policyTypes": ["Ingress"]},
    }
