"""The static page of Kubernetes objects: nodes and pods of the fleet, as kube-state-metrics shows them.

The objects are made up once from the fleet's own pattern; their series come from the stand-in's families, so names and
labels are upstream's. Nothing in it changes during a bench: what changes is what the GPUs do.
"""

from __future__ import annotations

import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from sandbox.workloads.gpu.fleet import holder
from sandbox.workloads.gpu.identity import RESOURCE
from sandbox.workloads.kube_state_metrics.families.nodes import NODES
from sandbox.workloads.kube_state_metrics.families.pods import PODS
from sandbox.workloads.kube_state_metrics.text import header, series
from signals.catalogue.kube_state_metrics import NODE_LABELS
from signals.rules.inputs import POD_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sandbox.workloads.gpu.kubelet import Pod

_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "bench.plumbline.local")
_STARTED: Final = "2026-01-01T00:00:00Z"
_PER_GPU: Final = {"cpu": 12, "memory": 128}


def page(names: Sequence[str], gpus: int) -> str:
    """The exposition. names: of the nodes, in the order of their numbers. gpus: of each."""
    parts: list[str] = []
    for resource, keys, objects in (
        (NODES, NODE_LABELS, [_node(name, gpus) for name in names]),
        (PODS, tuple(POD_LABELS.values()), list(pods(names, gpus))),
    ):
        for family in resource.families(keys):
            lines = [series(resource, family, item) for item in objects]
            if any(lines):
                parts += [header(family), *lines]
    return "".join(parts)


def pods(names: Sequence[str], gpus: int) -> Iterator[dict[str, Any]]:
    """Every pod that holds GPUs, as an object of the API."""
    for number, name in enumerate(names):
        held = Counter(pod for index in range(gpus) if (pod := holder(number, index)) is not None)
        for pod, count in held.items():
            yield _pod(pod, name, count)


def allocated(nodes: int, gpus: int) -> int:
    """GPUs that pods of the fleet hold."""
    return sum(holder(number, index) is not None for number in range(nodes) for index in range(gpus))


def teams(nodes: int, gpus: int) -> set[str]:
    """Teams whose pods hold GPUs."""
    held = (holder(number, index) for number in range(nodes) for index in range(gpus))
    return {_team(pod) for pod in held if pod is not None}


def _team(pod: Pod) -> str:
    return pod.namespace.removeprefix("team-")


def _node(name: str, gpus: int) -> dict[str, Any]:
    amounts = {"cpu": "128", "memory": "2048Gi", "ephemeral-storage": "7000Gi", "pods": "110", RESOURCE: str(gpus)}
    conditions = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
    return {
        "metadata": {"name": name, "labels": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}},
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": kind, "status": status} for kind, status in conditions.items()],
            "nodeInfo": {"kubeletVersion": "v1.34.4", "osImage": "Ubuntu 24.04"},
        },
    }


def _pod(pod: Pod, node: str, gpus: int) -> dict[str, Any]:
    wanted = {"cpu": str(_PER_GPU["cpu"] * gpus), "memory": f"{_PER_GPU['memory'] * gpus}Gi", RESOURCE: str(gpus)}
    container = {
        "name": pod.container,
        "image": "registry.example/train:1",
        "resources": {"requests": wanted, "limits": wanted},
    }
    status = {"name": pod.container, "image": "registry.example/train:1", "ready": True, "restartCount": 0}
    own = {"team": _team(pod), "workload": "training", "job_id": pod.name}
    return {
        "metadata": {
            "name": pod.name,
            "namespace": pod.namespace,
            "uid": str(uuid.uuid5(_NAMESPACE, f"{pod.namespace}/{pod.name}")),
            "labels": {POD_LABELS[key]: value for key, value in own.items()},
            "ownerReferences": [{"kind": "Job", "name": pod.name, "controller": True}],
        },
        "spec": {"nodeName": node, "containers": [container]},
        "status": {
            "phase": "Running",
            "startTime": _STARTED,
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [status],
        },
    }
