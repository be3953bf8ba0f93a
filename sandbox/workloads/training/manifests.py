"""Objects of a run in a cluster: a Job whose pod asks for the GPUs of its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sandbox.workloads.training import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "training"
CONTAINER: Final = "training"
CONTROL_PORT: Final = 9402
GPU: Final = "nvidia.com/gpu"
_NOBODY: Final = 65534
_DOWNWARD: Final = {
    "POD_NAME": "metadata.name",
    "POD_NAMESPACE": "metadata.namespace",
    "POD_UID": "metadata.uid",
    "NODE_NAME": "spec.nodeName",
}


def job(  # noqa: PLR0913  # what a caller may choose, by name
    image: str,
    *,
    namespace: str,
    identity: Mapping[str, str],
    gpus: int,
    steps: int = 60,
    step_seconds: float = 1.0,
    endpoint: str = "",
    host: str = "",
    key: tuple[str, str] | None = None,
    life: int = 3600,
) -> dict[str, Any]:
    """The Job, named after the run. A rank for each of `gpus`.

    image: of role `sandbox-training`. identity: keys of IDENTITY, run_id among them: labels
    `plumbline.dev/<key>` and TRAINING_<KEY>. endpoint: where OTLP/HTTP goes, "" for nowhere. host: SwanLab's address,
    "" for none. key: name and key of the Secret with its API key. life: seconds after which it is ended, so that a
    test that was killed holds no GPU for ever.
    Raises ValueError for a key that is no identity, and without run_id.
    """
    unknown = sorted(set(identity) - set(IDENTITY))
    if unknown or "run_id" not in identity:
        raise ValueError(f"identity has {', '.join(unknown) or 'no run_id'}; accepted are {', '.join(IDENTITY)}")
    settings = {**{key.upper(): text for key, text in identity.items()}, "RANKS": str(gpus)}
    settings |= {"STEPS": str(steps), "STEP_SECONDS": str(step_seconds)}
    environment = [*_environment(settings), *_telemetry(identity, endpoint), *_swanlab(host, key)]
    labels = {f"plumbline.dev/{name.replace('_', '-')}": text for name, text in identity.items()}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": identity["run_id"], "namespace": namespace, "labels": _own()},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": life,
            "template": {"metadata": {"labels": {**_own(), **labels}}, "spec": _pod(image, gpus, environment)},
        },
    }


def _own() -> dict[str, str]:
    return {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "simulator"}


def _environment(settings: Mapping[str, str]) -> list[dict[str, Any]]:
    downward = [
        {"name": variable, "valueFrom": {"fieldRef": {"fieldPath": path}}} for variable, path in _DOWNWARD.items()
    ]
    return [*downward, *({"name": f"TRAINING_{name}", "value": text} for name, text in settings.items())]


def _telemetry(identity: Mapping[str, str], endpoint: str) -> list[dict[str, Any]]:
    if not endpoint:
        return []
    attributes = {
        "service.name": NAME,
        "service.instance.id": f"$(POD_NAMESPACE).$(POD_NAME).{CONTAINER}",
        "k8s.namespace.name": "$(POD_NAMESPACE)",
        "k8s.pod.name": "$(POD_NAME)",
        "k8s.pod.uid": "$(POD_UID)",
        "k8s.node.name": "$(NODE_NAME)",
        "k8s.container.name": CONTAINER,
        **{key: quote(text, safe="") for key, text in identity.items()},
    }
    return [
        {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": endpoint},
        {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": ",".join(f"{key}={text}" for key, text in attributes.items())},
    ]


def _swanlab(host: str, key: tuple[str, str] | None) -> list[dict[str, Any]]:
    if not host or key is None:
        return []
    secret, name = key
    return [
        {"name": "SWANLAB_API_HOST", "value": host},
        {"name": "SWANLAB_API_KEY", "valueFrom": {"secretKeyRef": {"name": secret, "key": name}}},
        {"name": "SWANLAB_LOG_DIR", "value": "/tmp/swanlog"},  # noqa: S108  a volume of the pod's own
    ]


def _pod(image: str, gpus: int, environment: list[dict[str, Any]]) -> dict[str, Any]:
    container = {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        # Else the SDK finds no home directory, and the working directory is read-only.
        "env": [*environment, {"name": "HOME", "value": "/tmp"}],  # noqa: S108  as above
        "workingDir": "/tmp",  # noqa: S108  as above
        "resources": {
            "requests": {"cpu": "20m", "memory": "128Mi"},
            "limits": {"memory": "512Mi", **({GPU: str(gpus)} if gpus else {})},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108  as above
    }
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 60,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "fsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}}],
    }
