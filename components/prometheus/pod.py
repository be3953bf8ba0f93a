"""The pod that runs Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.naming import object_name
from components.pods import probes, quantities, restricted_container, restricted_pod
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
    from components.prometheus.args import PrometheusArgs, RemoteWrite

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
        "securityContext": restricted_pod(),
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
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        # Replaying the log of a large head takes half an hour, and a restart would begin it anew.
        **probes(PORT_NAME, start_seconds=_START_SECONDS, start_every=5),
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "data", "mountPath": DATA_PATH},
            *secrets,
        ],
    }


def _authenticated(args: PrometheusArgs) -> list[RemoteWrite]:
    return [store for store in args.remote_write if store.basic_auth is not None]


def _volume_name(store: RemoteWrite) -> str:
    return object_name("secret", store.name)


def _secret_volume(store: RemoteWrite) -> Manifest:
    secret = store.basic_auth.secret if store.basic_auth else ""
    return {"name": _volume_name(store), "secret": {"secretName": secret}}
