"""GPUs: as many as the node has, and each named after the pod that holds it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from signals.rules.inputs import POD_LABELS
from smoke.judge.units import quantity
from smoke.model import Problem
from smoke.proofs.model import LABEL

Json = dict[str, Any]
Pod = tuple[str, str]
Container = tuple[str, str, str]

JOB = "dcgm-exporter"
METRIC = "DCGM_FI_DEV_FB_FREE"
"""Known of every GPU and of every MIG instance."""

DEVICE_AND_HOLDER = "node, UUID, GPU_I_ID, vgpu, namespace, pod, container"

GPU = "nvidia.com/gpu"
SHARED = "nvidia.com/gpu.shared"
MIG = "nvidia.com/mig-"
REPLICAS = "nvidia.com/gpu.replicas"
"""Label by NVIDIA's feature discovery: how many pods share a GPU by time-slicing or MPS."""


def resources(amounts: Json) -> dict[str, int]:
    """GPU resources among amounts such as a node's allocatable or a container's limits."""
    return {
        name: int(quantity(str(amount)))
        for name, amount in amounts.items()
        if name in (GPU, SHARED) or name.startswith(MIG)
    }


def devices(node: Json) -> int:
    """Devices that the node offers: GPUs, or with MIG instances. Replicas of a shared GPU are one device."""
    found = resources(node["status"].get("allocatable") or {})
    replicas = max(int((node["metadata"].get("labels") or {}).get(REPLICAS) or 1), 1)
    whole = found.pop(GPU, 0) + found.pop(SHARED, 0)
    return whole // replicas + sum(found.values())


def exposed(series: list[Json]) -> dict[str, int]:
    """Node → devices that its series tell of. A GPU that is split counts by its instances, not by itself."""
    instances: dict[tuple[str, str], set[str]] = defaultdict(set)
    for labels in (one["metric"] for one in series):
        instances[(labels.get("node", ""), labels.get("UUID", ""))].add(labels.get("GPU_I_ID", ""))
    counted: Counter[str] = Counter()
    for (node, _), found in instances.items():
        counted[node] += len(found - {""}) or 1
    return dict(counted)


def count(nodes: list[Json], series: list[Json], outside: frozenset[str]) -> list[Problem]:
    """Each node exposes the GPUs that it offers. outside: nodes that the API does not know; each has at least one."""
    seen = exposed(series)
    problems = []
    for node in nodes:
        name = node["metadata"]["name"]
        offered, found = devices(node), seen.pop(name, 0)
        if offered != found:
            problems.append(Problem(f"node {name}", f"{found} GPUs exposed", f"{offered}, its allocatable"))
    problems += [
        Problem(f"node {name}, outside the cluster", "no GPU exposed", "at least one")
        for name in sorted(outside - {name for name, found in seen.items() if found})
    ]
    strangers = sorted(set(seen) - outside)
    return problems + [
        Problem(f"node {name or '(none)'}", f"{seen[name]} GPUs exposed", "a node of the cluster or of the contract")
        for name in strangers
    ]


def holders(pods: list[Json]) -> dict[Container, int]:
    """(namespace, pod, container) → GPUs, of every running pod but those of smoke itself."""
    found = {}
    for pod in pods:
        metadata = pod["metadata"]
        if pod.get("status", {}).get("phase") != "Running" or is_sentinel(pod):
            continue
        for container in pod["spec"]["containers"]:
            held = sum(resources((container.get("resources") or {}).get("limits") or {}).values())
            if held:
                found[(metadata["namespace"], metadata["name"], container["name"])] = held
    return found


def is_sentinel(pod: Json) -> bool:
    """Whether smoke itself has created the pod."""
    return LABEL in (pod["metadata"].get("labels") or {})


def attributed(pods: list[Json], series: list[Json], exporters: set[Pod], prefix: str) -> list[Problem]:
    """Every container with GPUs is named by the series of exactly as many, and nobody else is named.

    series: one per device and holder. exporters: pods that expose them. prefix: of the names of smoke's own pods.
    """
    named: dict[Container, set[tuple[str, str, str]]] = defaultdict(set)
    for labels in (one["metric"] for one in series):
        if labels.get("pod") and not labels["pod"].startswith(prefix):
            holder = (labels.get("namespace", ""), labels["pod"], labels.get("container", ""))
            named[holder].add((labels.get("UUID", ""), labels.get("GPU_I_ID", ""), labels.get("vgpu", "")))
    wanted = holders(pods)
    problems = [
        Problem(_subject(holder), f"named by the series of {len(named[holder])} GPUs", f"{held}, its limit")
        for holder, held in sorted(wanted.items())
        if len(named.get(holder, ())) != held
    ]
    # A pod with claims may hold GPUs by them, and how many is not in its limits.
    claiming = {_key(pod) for pod in pods if pod["spec"].get("resourceClaims")}
    for holder in sorted(set(named) - set(wanted)):
        pod = holder[:2]
        if pod in claiming:
            continue
        seen = "an exporter's own pod" if pod in exporters else "no running pod with GPUs"
        problems.append(Problem(f"series that name {_subject(holder)}", seen, "the pod that holds the GPU"))
    return problems


def owned(pods: list[Json], info: list[Json], pod_labels: dict[str, str]) -> list[Problem]:
    """Every one of these pods carries in its info series what its labels say. pod_labels: identity → pod label."""
    recorded: dict[Pod, list[dict[str, str]]] = defaultdict(list)
    for labels in (one["metric"] for one in info):
        recorded[(labels.get("namespace", ""), labels.get("pod", ""))].append(labels)
    problems = []
    for pod in pods:
        key = _key(pod)
        own = pod["metadata"].get("labels") or {}
        wanted = {name: own[label] for name, label in pod_labels.items() if own.get(label)}
        found = recorded.get(key, [])
        subject = f"identity of pod {'/'.join(key)}"
        if wanted and len(found) != 1:
            problems.append(Problem(subject, f"{len(found)} series", "one"))
            continue
        problems += [
            Problem(subject, f"{name} {found[0].get(name, '(none)')}", f"{name} {value}")
            for name, value in wanted.items()
            if found[0].get(name) != value
        ]
    return problems


def with_gpus(pods: list[Json]) -> list[Json]:
    """Those of the pods that hold GPUs, without smoke's own."""
    running = {holder[:2] for holder in holders(pods)}
    return [pod for pod in pods if _key(pod) in running]


def free(nodes: list[Json], pods: list[Json]) -> str | None:
    """A GPU resource of which a node that takes pods has one left; None if there is none."""
    taken: Counter[tuple[str, str]] = Counter()
    for pod in pods:
        if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            continue
        for container in pod["spec"]["containers"]:
            for name, held in resources((container.get("resources") or {}).get("limits") or {}).items():
                taken[(pod["spec"].get("nodeName", ""), name)] += held
    for node in nodes:
        if node["spec"].get("unschedulable"):
            continue
        for name, offered in sorted(resources(node["status"].get("allocatable") or {}).items()):
            # A pod without a node yet may get this one.
            if offered > taken[(node["metadata"]["name"], name)] + taken[("", name)]:
                return name
    return None


def handed_over(series: list[Json], pod: str, container: str, node: str) -> list[Problem]:
    """The pod is named by exactly one GPU, that of its node and with its container."""
    mine = [one["metric"] for one in series if one["metric"].get("pod") == pod]
    subject = f"series that name pod {pod}"
    if len(mine) != 1:
        return [Problem(subject, f"{len(mine)}", "one, of the GPU that it holds")]
    seen = (mine[0].get("container", "(none)"), mine[0].get("node", "(none)"))
    if seen == (container, node):
        return []
    return [Problem(subject, f"container {seen[0]}, node {seen[1]}", f"container {container}, node {node}")]


def handed_back(series: list[Json], pod: str, uuid: str) -> list[Problem]:
    """The GPU is still told of, and no longer under the name of the pod that is gone."""
    mine = [one["metric"] for one in series if one["metric"].get("pod") == pod]
    if mine:
        return [Problem(f"series that name pod {pod}", f"{len(mine)}", "none: the pod is gone")]
    if any(one["metric"].get("UUID") == uuid for one in series):
        return []
    return [Problem(f"GPU {uuid}", "no series", "its series, without the pod that is gone")]


def team_label(pod_labels: dict[str, str]) -> str:
    """Label by which a pod names its team."""
    return pod_labels.get("team") or POD_LABELS["team"]


def _key(pod: Json) -> Pod:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _subject(holder: Container) -> str:
    namespace, pod, container = holder
    return f"pod {namespace}/{pod} container {container}"
