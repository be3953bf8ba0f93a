"""Cluster, pods, workloads, claims and nodes, by the Kubernetes API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke import limits, poll
from smoke.access.kube import APPS
from smoke.check import check
from smoke.judge import claims, gpu, identity, nodes, pods, recovery, workloads

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.access.kube import Kube
    from smoke.model import Problem
    from smoke.stack import Stack
    from stacks.contract import Claim, Workload

Json = dict[str, Any]

NO_WORKLOADS = "the contract has no workloads"
ONE_PER_NODE = "one per node"


@check("cluster.identity")
def test_identity(stack: Stack) -> str:
    cluster = stack.contract.cluster

    def probe() -> list[Problem]:
        kube_system = stack.kube.get("/api/v1/namespaces/kube-system")
        return identity.same_cluster(kube_system, cluster.uid, cluster.context)

    stack.settle(probe, limits.IDENTITY)
    return f"context {cluster.context} leads to cluster {cluster.uid}"


@check("pods.running")
def test_pods_running(stack: Stack) -> str:
    stack.settle(lambda: _by_namespace(stack, pods.running), limits.SETTLE)
    return f"Running and Ready: {_names(stack)}"


@check("pods.not_restarted")
def test_pods_not_restarted(stack: Stack) -> str:
    stack.settle(lambda: _by_namespace(stack, pods.not_restarted), limits.QUICK)
    return f"0 restarts: {_names(stack)}"


@check("workloads.rolled_out")
def test_workloads_rolled_out(stack: Stack) -> str:
    promised = _workloads(stack)

    def probe() -> list[Problem]:
        seen = _pods(stack)
        return [problem for workload, where in promised for problem in _rolled_out(stack, workload, where, seen[where])]

    stack.settle(probe, limits.SETTLE)
    told = ", ".join(f"{w.kind} {w.name} with {w.replicas or ONE_PER_NODE}" for w, _ in promised)
    return f"rolled out: {told}" if told else NO_WORKLOADS


@check("workloads.image")
def test_workloads_image(stack: Stack) -> str:
    promised = _workloads(stack)

    def probe() -> list[Problem]:
        seen = _pods(stack)
        live = [(w, stack.kube.workload(where, w.kind, w.name), seen[where]) for w, where in promised]
        return [problem for workload, found, own in live for problem in workloads.images(workload, found, own)]

    stack.settle(probe, limits.SETTLE)
    told = "\n".join(f"{w.name} {i.container}: {i.reference}" for w, _ in promised for i in w.images)
    return told or NO_WORKLOADS


@check("claims.bound")
def test_claims_bound(stack: Stack) -> str:
    promised = [(claim, where) for component, where in stack.managed() for claim in component.claims]
    stack.settle(lambda: [problem for found in promised for problem in _bound(stack, *found)], limits.SETTLE)
    told = "\n".join(f"{claim.name}: bound, at least {claim.size}" for claim, _ in promised)
    return told or "the contract has no claims"


@check("node.conditions")
def test_node_conditions(stack: Stack) -> str:
    seen: set[str] = set()

    def probe() -> list[Problem]:
        found = stack.kube.items("/api/v1/nodes")
        seen.update(nodes.names(found))
        return nodes.conditions(found)

    stack.settle(probe, limits.QUICK)
    return f"Ready: {', '.join(sorted(seen))}"


def _pods(stack: Stack) -> dict[str, list[Json]]:
    """Namespace → its pods, without those of smoke itself, and of jobs of recovery, which have a check of their own."""
    promised = stack.contract.recovery

    def is_meant(pod: Json) -> bool:
        return not (gpu.is_sentinel(pod) or (promised and recovery.is_run(pod, promised)))

    return {where: [pod for pod in stack.kube.pods(where) if is_meant(pod)] for where in stack.namespaces()}


def _by_namespace(stack: Stack, judge: Callable[[list[Json], str], list[Problem]]) -> list[Problem]:
    return [problem for where, seen in _pods(stack).items() for problem in judge(seen, where)]


def _names(stack: Stack) -> str:
    seen = poll.fetch(lambda: _pods(stack))
    return "; ".join(f"{where}: {', '.join(pod['metadata']['name'] for pod in own)}" for where, own in seen.items())


def _workloads(stack: Stack) -> list[tuple[Workload, str]]:
    """Every workload that this stack deploys, with its namespace."""
    return [(workload, where) for component, where in stack.managed() for workload in component.workloads]


def _rolled_out(stack: Stack, workload: Workload, where: str, seen: list[Json]) -> list[Problem]:
    live = stack.kube.workload(where, workload.kind, workload.name)
    newest = _newest_revision(stack.kube, where, live) if live else None
    return workloads.rolled_out(workload, live, seen, newest)


def _newest_revision(kube: Kube, namespace: str, live: Json) -> str | None:
    """Value of the revision label on pods of the newest revision."""
    if live["kind"] == "StatefulSet":
        update: str | None = live["status"].get("updateRevision")
        return update
    plural = "replicasets" if live["kind"] == "Deployment" else "controllerrevisions"
    owned = [
        member
        for member in kube.items(f"{APPS}/namespaces/{namespace}/{plural}")
        if any(owner["uid"] == live["metadata"]["uid"] for owner in member["metadata"].get("ownerReferences") or [])
    ]
    newest = max(owned, key=_revision, default=None)
    if newest is None:
        return None
    value: str | None = newest["metadata"]["labels"].get(workloads.HASH_LABEL[live["kind"]])
    return value


def _revision(member: Json) -> int:
    annotated = (member["metadata"].get("annotations") or {}).get("deployment.kubernetes.io/revision", 0)
    return int(member.get("revision") or annotated)


def _bound(stack: Stack, claim: Claim, where: str) -> list[Problem]:
    live = stack.kube.find(f"/api/v1/namespaces/{where}/persistentvolumeclaims/{claim.name}")
    name = live["spec"].get("volumeName") if live else None
    volume = stack.kube.find(f"/api/v1/persistentvolumes/{name}") if name else None
    return claims.bound(claim, live, volume)
