"""The pod that runs Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.naming import object_name
from components.prometheus.names import (
    CLAIM,
    CONFIG_MAP,
    CONFIG_PATH,
    DATA_PATH,
    NAME,
    PORT,
    PORT_NAME,
    SECRETS_PATH,
    arguments,
)

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.prometheus.args import PrometheusArgs, RemoteWrite, Resources

NOBODY = 65534
_STOP_SECONDS = 300
_START_SECONDS = 1800


def pod_spec(args: PrometheusArgs) -> Manifest:
    """The spec of the pod template. Nothing in it depends on the configuration: a new one must not restart the pod."""
    return {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        # Time to finish running queries and to write the head; a killed Prometheus replays its log for minutes instead.
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "fsGroup": NOBODY,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(args)],
        "volumes": [
            {"name": "config", "configMap": {"name": CONFIG_MAP}},
            {"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}},
            *(_secret_volume(store) for store in _authenticated(args)),
        ],
    }


def _container(args: PrometheusArgs) -> Manifest:
    secrets = (
        {"name": _volume_name(store), "mountPath": f"{SECRETS_PATH}/{store.name}", "readOnly": True}
        for store in _authenticated(args)
    )
    return {
        "name": NAME,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(),
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "resources": _resources(args.resources),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        **_probes(),
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "data", "mountPath": DATA_PATH},
            *secrets,
        ],
    }


def _resources(wanted: Resources) -> Manifest:
    limits = {"memory": wanted.memory_limit, **({"cpu": wanted.cpu_limit} if wanted.cpu_limit else {})}
    return {"requests": {"cpu": wanted.cpu_request, "memory": wanted.memory_request}, "limits": limits}


def _probes() -> Manifest:
    """Start-up may take half an hour: replaying the log of a large head does, and a restart would begin it anew."""
    return {
        "startupProbe": _probe("/-/ready", every=5, failures=_START_SECONDS // 5),
        "readinessProbe": _probe("/-/ready", every=5, failures=3),
        "livenessProbe": _probe("/-/healthy", every=10, failures=6),
    }


def _probe(path: str, *, every: int, failures: int) -> Manifest:
    return {
        "httpGet": {"path": path, "port": PORT_NAME},
        "periodSeconds": every,
        "timeoutSeconds": 3,
        "failureThreshold": failures,
    }


def _authenticated(args: PrometheusArgs) -> list[RemoteWrite]:
    return [store for store in args.remote_write if store.basic_auth is not None]


def _volume_name(store: RemoteWrite) -> str:
    return object_name("secret", store.name)


def _secret_volume(store: RemoteWrite) -> Manifest:
    secret = store.basic_auth.secret if store.basic_auth else ""
    return {"name": _volume_name(store), "secret": {"secretName": secret}}
