"""Objects of the service in a cluster: a Deployment and a Service for each role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sandbox.workloads.inference import IDENTITY, ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "inference"
PORT: Final = 8000
CONTAINER: Final = "inference"
_NOBODY: Final = 65534
_DOWNWARD: Final = {
    "POD_NAME": "metadata.name",
    "POD_NAMESPACE": "metadata.namespace",
    "POD_UID": "metadata.uid",
    "POD_IP": "status.podIP",
    "NODE_NAME": "spec.nodeName",
}
_ASKS: Final = {
    "router": ("prefill", "decode"),
    "gateway": ("router", "retrieval"),
}


def name(role: str) -> str:
    """Of the role's Deployment, Service and service.name: `inference-gateway`."""
    return f"{NAME}-{role}"


def manifests(  # noqa: PLR0913  # what a caller may choose, by name
    image: str,
    *,
    namespace: str,
    endpoint: str,
    identity: Mapping[str, str] | None = None,
    resource: Mapping[str, str] | None = None,
    logs: str = "stdout",
    metrics: bool = True,
    decode_replicas: int = 1,
) -> list[dict[str, Any]]:
    """All objects, without the namespace. Those who ask: Service `inference-gateway`, port 8000.

    image: of role `sandbox-inference`. endpoint: where OTLP/HTTP goes, `http://host:4318`, "" for nowhere.
    identity: whose it is, keys of IDENTITY: labels `plumbline.dev/<key>` of pods and resource attributes.
    resource: more resource attributes of every role, a secret among them if that is what is to be tried.
    logs: `stdout`, `otlp` or `both`. metrics: whether decode sends metrics of requests as OTLP.
    Raises ValueError for a key that is no identity.
    """
    whose = dict(identity or {})
    unknown = sorted(set(whose) - set(IDENTITY))
    if unknown:
        raise ValueError(f"identity has {', '.join(unknown)}; accepted are {', '.join(IDENTITY)}")
    found = []
    for role in ROLES:
        replicas = decode_replicas if role == "decode" else 1
        environment = _environment(role, endpoint, {**whose, **(resource or {})})
        environment += [] if metrics else [{"name": "OTEL_METRICS_EXPORTER", "value": "none"}]
        container = _container(image, role, logs, environment)
        found += [_deployment(role, namespace, replicas, whose, container), _service(role, namespace)]
    return found


def _environment(role: str, endpoint: str, resource: Mapping[str, str]) -> list[dict[str, Any]]:
    attributes = {
        "service.name": name(role),
        "service.namespace": NAME,
        "service.instance.id": f"$(POD_NAMESPACE).$(POD_NAME).{CONTAINER}",
        "k8s.namespace.name": "$(POD_NAMESPACE)",
        "k8s.pod.name": "$(POD_NAME)",
        "k8s.pod.uid": "$(POD_UID)",
        "k8s.node.name": "$(NODE_NAME)",
        "k8s.container.name": CONTAINER,
        **{key: quote(text, safe="") for key, text in resource.items()},
    }
    downward = [
        {"name": variable, "valueFrom": {"fieldRef": {"fieldPath": path}}} for variable, path in _DOWNWARD.items()
    ]
    return [
        *downward,
        {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": endpoint},
        {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": ",".join(f"{key}={text}" for key, text in attributes.items())},
    ]


def _container(image: str, role: str, logs: str, environment: list[dict[str, Any]]) -> dict[str, Any]:
    others = [f"--{other}=http://{name(other)}:{PORT}" for other in _ASKS.get(role, ())]
    return {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": [f"--role={role}", f"--port={PORT}", f"--logs={logs}", *others],
        "env": environment,
        "ports": [{"name": "http", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 2},
        "resources": {"requests": {"cpu": "10m", "memory": "96Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _deployment(
    role: str, namespace: str, replicas: int, whose: Mapping[str, str], container: dict[str, Any]
) -> dict[str, Any]:
    selector = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": role}
    labels = {f"plumbline.dev/{key.replace('_', '-')}": text for key, text in whose.items()}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name(role), "namespace": namespace, "labels": selector},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": {**selector, **labels}},
                "spec": {
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": _NOBODY,
                        "runAsGroup": _NOBODY,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container],
                },
            },
        },
    }


def _service(role: str, namespace: str) -> dict[str, Any]:
    selector = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": role}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name(role), "namespace": namespace, "labels": selector},
        "spec": {"selector": selector, "ports": [{"name": "http", "port": PORT, "targetPort": "http"}]},
    }
