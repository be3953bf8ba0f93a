"""Nodes as the API server reports them."""

from __future__ import annotations

from typing import Any

from smoke.model import Problem

Json = dict[str, Any]

PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
# Kubernetes itself sets these when a node is in trouble or cordoned. Other taints are the operator's wish.
TROUBLE_PREFIXES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
REPELLING = ("NoSchedule", "NoExecute")


def conditions(nodes: list[Json]) -> list[Problem]:
    """Every node is Ready, under no pressure, and carries no taint of trouble."""
    if not nodes:
        return [Problem("cluster", "no nodes", "at least one node")]
    return [problem for node in nodes for problem in _node(node)]


def names(nodes: list[Json]) -> set[str]:
    """Names of the nodes."""
    return {node["metadata"]["name"] for node in nodes}


def selected(nodes: list[Json], selector: dict[str, str]) -> set[str]:
    """Names of the nodes that carry all of these labels; an empty selector selects every node."""
    wanted = selector.items()
    return {n["metadata"]["name"] for n in nodes if wanted <= (n["metadata"].get("labels") or {}).items()}


def _node(node: Json) -> list[Problem]:
    subject = f"node {node['metadata']['name']}"
    seen = {c["type"]: c for c in node.get("status", {}).get("conditions") or []}
    problems = []
    ready = seen.get("Ready", {})
    if ready.get("status") != "True":
        problems.append(Problem(subject, f"Ready={ready.get('status', 'missing')}{_message(ready)}", "Ready=True"))
    for name in PRESSURES:
        # A node reports NetworkUnavailable only where a network plugin manages it.
        condition = seen.get(name, {"status": "False"})
        if condition["status"] != "False":
            problems.append(Problem(subject, f"{name}={condition['status']}{_message(condition)}", f"{name}=False"))
    for taint in node["spec"].get("taints") or []:
        if taint["effect"] in REPELLING and taint["key"].startswith(TROUBLE_PREFIXES):
            problems.append(Problem(subject, f"taint {taint['key']}:{taint['effect']}", "no such taint"))
    return problems


def _message(condition: Json) -> str:
    return f" ({condition['message']})" if condition.get("message") else ""
