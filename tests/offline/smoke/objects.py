"""Kubernetes and Prometheus objects as their APIs write them, for one healthy stack. Tests damage copies of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from signals.rules import groups, rule_files
from signals.rules.inputs import RuleInputs
from signals.rules.model import rule_file
from signals.rules.sentinel import sentinel
from signals.yamltext import dump
from smoke.judge.configuration import revision
from stacks.contract import Contract

Json = dict[str, Any]

NAMESPACE = "plumbline"
CLUSTER_UID = "5a1f0b52-6c1d-4f6e-9c37-0d4c1b6c2a11"
NODE = "node-a"
CONFIG_MAP = "prometheus-config"
REFERENCE = "plumbline.local/prometheus:3.16.0-1a2b3c4d"
IMAGE_ID = "sha256:" + "ab" * 32
POD_UID = "11111111-2222-3333-4444-555555555555"
SIZE = "10Gi"
JOBS = ("prometheus", "apiserver", "kubelet", "cadvisor")
RULES = RuleInputs(jobs=JOBS)
_RENDERED = {
    "prometheus.yml": dump(
        {
            "storage": {"tsdb": {"retention": {"time": "24h", "size": "2GB"}}},
            "rule_files": sorted(["rules-sentinel.yml", *rule_files(RULES)]),
            "scrape_configs": [{"job_name": job} for job in JOBS],
        }
    ),
    **rule_files(RULES),
}
REVISION = revision(_RENDERED)
FILES = {**_RENDERED, "rules-sentinel.yml": rule_file((sentinel(REVISION),))}


def loaded(inputs: RuleInputs = RULES) -> list[tuple[str, str]]:
    """(group, rule) of every rule that these inputs give, the sentinel's included."""
    found = [sentinel(REVISION), *(group for own in groups(inputs).values() for group in own)]
    return [(one.name, _name(rule.render())) for one in found for rule in one.rules]


def _name(rendered: Json) -> str:
    return str(rendered.get("alert") or rendered.get("record"))


def contract(**changes: object) -> Contract:
    """The contract of the healthy stack; `changes` replace top-level keys."""
    component = {
        "tier": "live",
        "workloads": [
            {
                "kind": "StatefulSet",
                "name": "prometheus",
                "replicas": 1,
                "images": [{"container": "prometheus", "reference": REFERENCE, "image_id": IMAGE_ID}],
            }
        ],
        "claims": [{"name": "prometheus-data", "size": SIZE, "mounted_at": "/prometheus"}],
        "endpoints": {"http": {"service": "prometheus", "port": 9090}},
        "revision": REVISION,
        "flags": {"config.auto-reload-interval": "5s", "web.enable-lifecycle": "false"},
    }
    document = {
        "stack": "local",
        "cluster": {"uid": CLUSTER_UID, "context": "plumbline", "name": "local", "environment": "dev"},
        "namespace": NAMESPACE,
        "capabilities": ["metrics", "prometheus-managed"],
        "components": {"prometheus": component},
        "scrape": [{"job": job, "min_targets": 1, "max_series": 1000} for job in JOBS],
        "rules": {"jobs": JOBS},
        "expected_checks": ["cluster.identity", "pods.running"],
    }
    return Contract.model_validate(document | changes)


def pod(**changes: object) -> Json:
    """The Prometheus pod, Running and Ready."""
    status: Json = {
        "phase": "Running",
        "conditions": [
            {"type": name, "status": "True"} for name in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ],
        "containerStatuses": [
            {
                "name": "prometheus",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "image": REFERENCE,
                "imageID": IMAGE_ID,
                "containerID": "containerd://" + "cd" * 32,
                "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                "lastState": {},
            }
        ],
        "startTime": "2026-01-01T00:00:00Z",
    }
    made = {
        "metadata": {
            "name": "prometheus-0",
            "namespace": NAMESPACE,
            "uid": POD_UID,
            "labels": {"app.kubernetes.io/name": "prometheus", "controller-revision-hash": "prometheus-7d9f8c6b5"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "prometheus", "uid": "sts"}],
        },
        "spec": {
            "nodeName": NODE,
            "containers": [
                {
                    "name": "prometheus",
                    "image": REFERENCE,
                    "env": [{"name": "KEY", "value": "hidden"}],
                    "volumeMounts": [
                        {"name": "config", "mountPath": "/etc/prometheus", "readOnly": True},
                        {"name": "data", "mountPath": "/prometheus"},
                    ],
                }
            ],
            "volumes": [
                {"name": "config", "configMap": {"name": CONFIG_MAP}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "prometheus-data"}},
            ],
        },
        "status": status,
    }
    return deepcopy(made | changes)


def stateful_set() -> Json:
    """The workload, rolled out."""
    return {
        "kind": "StatefulSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "prometheus", "namespace": NAMESPACE, "uid": "sts", "generation": 2},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
            "template": {"spec": {"containers": [{"name": "prometheus", "image": REFERENCE}]}},
        },
        "status": {
            "observedGeneration": 2,
            "replicas": 1,
            "readyReplicas": 1,
            "currentReplicas": 1,
            "updatedReplicas": 1,
            "availableReplicas": 1,
            "currentRevision": "prometheus-7d9f8c6b5",
            "updateRevision": "prometheus-7d9f8c6b5",
        },
    }


def claim() -> Json:
    """The claim, bound."""
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "prometheus-data", "namespace": NAMESPACE, "uid": "claim-uid"},
        "spec": {"volumeName": "pvc-1", "resources": {"requests": {"storage": SIZE}}},
        "status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": SIZE}},
    }


def volume() -> Json:
    """Its volume."""
    return {
        "kind": "PersistentVolume",
        "metadata": {"name": "pvc-1", "uid": "volume-uid"},
        "spec": {"claimRef": {"name": "prometheus-data", "namespace": NAMESPACE, "uid": "claim-uid"}},
        "status": {"phase": "Bound"},
    }


def config_map() -> Json:
    """The configuration of Prometheus, as it was rendered."""
    return {"kind": "ConfigMap", "metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE}, "data": dict(FILES)}


def node(boot_id: str = "boot-1") -> Json:
    """A healthy node."""
    quiet = ("MemoryPressure", "DiskPressure", "PIDPressure")
    return {
        "kind": "Node",
        "metadata": {"name": NODE, "uid": "node-uid"},
        "spec": {"podCIDR": "10.88.0.0/24", "taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]},
        "status": {
            "conditions": [{"type": name, "status": "False"} for name in quiet] + [{"type": "Ready", "status": "True"}],
            "nodeInfo": {
                "bootID": boot_id,
                "kernelVersion": "6.1.0-18-amd64",
                "kubeletVersion": "v1.34.4",
                "containerRuntimeVersion": "containerd://1.6.20",
            },
        },
    }


def target(job: str, url: str, **labels: str) -> Json:
    """An active target that is up."""
    host = url.split("/")[2]
    return {
        "discoveredLabels": {"__address__": host, "job": job},
        "labels": {"job": job, "instance": host, "cluster": "local", "environment": "dev", **labels},
        "scrapePool": job,
        "scrapeUrl": url,
        "globalUrl": url,
        "lastError": "",
        "lastScrape": "2026-01-01T00:00:00Z",
        "health": "up",
        "scrapeInterval": "15s",
        "scrapeTimeout": "10s",
    }


def targets() -> Json:
    """What Prometheus scrapes. Kubelet and cAdvisor share an instance, as in every cluster."""
    return {
        "activeTargets": [
            target("prometheus", "http://10.88.0.7:9090/metrics"),
            target("apiserver", "https://10.88.0.1:6443/metrics"),
            target("kubelet", "https://10.88.0.1:10250/metrics", node=NODE),
            target("cadvisor", "https://10.88.0.1:10250/metrics/cadvisor", node=NODE),
        ],
        "droppedTargets": [],
        "droppedTargetCounts": dict.fromkeys(JOBS, 0),
    }


def rule(name: str, evaluated: str = "2026-01-01T00:00:00Z", **labels: str) -> Json:
    """A healthy recording rule."""
    return {
        "labels": labels,
        "name": name,
        "query": "vector(1)",
        "health": "ok",
        "evaluationTime": 0.0002,
        "lastEvaluation": evaluated,
        "type": "recording",
    }


def group(name: str, *rules: Json, interval: float = 15) -> Json:
    """A rule group."""
    return {"name": name, "file": f"/etc/prometheus/{name}.yml", "rules": list(rules), "interval": interval}


def series(value: float | str, **labels: str) -> Json:
    """One series of an instant query's result."""
    return {"metric": labels, "value": [1767225600.0, str(value)]}
