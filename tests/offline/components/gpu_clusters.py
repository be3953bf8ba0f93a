"""Clusters with GPUs as the API shows them, for tests of the conflict doctor."""

from __future__ import annotations

from typing import Any

from components.dcgm_exporter.seen import Cluster, from_api

Json = dict[str, Any]

PRESENT = {"nvidia.com/gpu.present": "true"}


def node(name: str, labels: dict[str, str] | None = None, **resources: str) -> Json:
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "status": {
            "capacity": {"cpu": "8", **{f"nvidia.com/{key}": value for key, value in resources.items()}},
            "addresses": [
                {"type": "InternalIP", "address": f"10.0.0.{len(name)}"},
                {"type": "Hostname", "address": name},
            ],
        },
    }


def template(labels: dict[str, str], image: str, **container: object) -> Json:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image, **container}]}}


def daemon_set(namespace: str, name: str, labels: dict[str, str], pod: Json) -> Json:
    return {
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": pod},
    }


def pods_of(found: Json, *nodes: str, phase: str = "Running") -> list[Json]:
    meta, pod = found["metadata"], found["spec"]["template"]
    return [
        {
            "metadata": {
                "namespace": meta["namespace"],
                "name": f"{meta['name']}-{at}",
                "labels": {**pod["metadata"]["labels"], "controller-revision-hash": "1"},
                "ownerReferences": [{"kind": "DaemonSet", "name": meta["name"], "uid": "u"}],
            },
            "spec": {**pod["spec"], "nodeName": at},
            "status": {"phase": phase},
        }
        for at in nodes
    ]


def alone(pod: Json, namespace: str, name: str, at: str) -> Json:
    meta = {**pod["metadata"], "namespace": namespace, "name": name}
    return {"metadata": meta, "spec": {**pod["spec"], "nodeName": at}, "status": {"phase": "Running"}}


# As the GPU Operator's assets/state-dcgm-exporter and assets/state-dcgm deploy them.
OPERATOR_LABELS = {"app": "nvidia-dcgm-exporter"}
OPERATOR = daemon_set(
    "gpu-operator",
    "nvidia-dcgm-exporter",
    OPERATOR_LABELS,
    template(
        OPERATOR_LABELS,
        "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04",
        ports=[{"name": "metrics", "containerPort": 9400}],
        env=[{"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"}],
    ),
)
HOSTENGINE = daemon_set(
    "gpu-operator",
    "nvidia-dcgm",
    {"app": "nvidia-dcgm"},
    template(
        {"app": "nvidia-dcgm"},
        "nvcr.io/nvidia/cloud-native/dcgm:4.2.3-1-ubuntu22.04",
        ports=[{"name": "dcgm", "containerPort": 5555}],
    ),
)
GKE_LABELS = {"app.kubernetes.io/name": "gke-managed-dcgm-exporter"}
GKE = daemon_set(
    "gke-managed-system",
    "dcgm-exporter",
    GKE_LABELS,
    template(
        GKE_LABELS,
        "gke.gcr.io/gke-dcgm-exporter:4.4.1-4.6.0-gke.17",
        ports=[{"name": "metrics", "containerPort": 9400}],
        env=[{"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"}],
    ),
)
GPU_NODES = [node("a", PRESENT, gpu="8"), node("bb", PRESENT, gpu="8")]


def cluster(
    *sets: tuple[Json, tuple[str, ...]], nodes: list[Json] | None = None, classes: tuple[str, ...] = ()
) -> Cluster:
    return from_api(
        [found for found, _ in sets],
        [pod for found, at in sets for pod in pods_of(found, *at)],
        GPU_NODES if nodes is None else nodes,
        [{"metadata": {"name": name}} for name in classes],
    )
