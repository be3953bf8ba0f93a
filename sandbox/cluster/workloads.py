"""Objects of the sandbox's own workloads: what stands in for the world around a stack."""

from __future__ import annotations

from typing import Any, Final

import yaml

NAMESPACE: Final = "plumbline-sandbox"
SINK: Final = "alert-sink"
SINK_PORT: Final = 8080
_NOBODY = 65534


def manifests(sink_image: str) -> str:
    """All objects as one YAML stream. sink_image: reference of the image of role `alert-sink`."""
    return yaml.safe_dump_all([_namespace(), _deployment(sink_image), _service()])


def _namespace() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
    }


def _deployment(image: str) -> dict[str, Any]:
    selector = {"app.kubernetes.io/name": SINK}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": SINK, "namespace": NAMESPACE, "labels": selector},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},  # what was received lies in memory: two at once would share it out
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": selector},
                "spec": {
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": _NOBODY,
                        "runAsGroup": _NOBODY,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [_container(image)],
                },
            },
        },
    }


def _container(image: str) -> dict[str, Any]:
    return {
        "name": SINK,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": [f"--port={SINK_PORT}"],
        "ports": [{"name": "http", "containerPort": SINK_PORT}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 2},
        "resources": {"requests": {"cpu": "5m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SINK, "namespace": NAMESPACE},
        "spec": {
            "selector": {"app.kubernetes.io/name": SINK},
            "ports": [{"name": "http", "port": SINK_PORT, "targetPort": "http"}],
        },
    }
