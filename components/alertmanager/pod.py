"""The pod that runs Alertmanager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.alertmanager.names import (
    CLAIM,
    CONFIG_MAP,
    CONFIG_PATH,
    DATA_PATH,
    FLAGS,
    NAME,
    PORT,
    PORT_NAME,
    secret_directory,
)
from components.pods import probes, quantities, restricted_container, restricted_pod
from signals.alertmanager_config import seconds

if TYPE_CHECKING:
    from components.alertmanager.args import AlertmanagerArgs
    from components.objects import Manifest

_STOP_SECONDS = 60
_START_SECONDS = 120


def pod_spec(args: AlertmanagerArgs) -> Manifest:
    """The spec of the pod template. Each referenced Secret is mounted with the referenced keys and no others."""
    secrets = _keys_by_secret(args)
    volumes = {f"secret-{index}": name for index, name in enumerate(secrets)}
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": restricted_pod(),
        "containers": [_container(args, volumes)],
        "volumes": [
            {"name": "config", "configMap": {"name": CONFIG_MAP}},
            {"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}},
            *(_secret_volume(volume, name, secrets[name]) for volume, name in volumes.items()),
        ],
    }


def arguments(args: AlertmanagerArgs) -> list[str]:
    """The command line. Durations of flags are Go's, which knows no days: retention is handed over in seconds."""
    found = {**FLAGS, "data.retention": f"{seconds(args.retention):.0f}s"}
    if args.external_url is not None:
        found["web.external-url"] = args.external_url
    return [f"--{name}={value}" for name, value in found.items()]


def _container(args: AlertmanagerArgs, secret_volumes: dict[str, str]) -> Manifest:
    secrets = (
        {"name": volume, "mountPath": secret_directory(secret), "readOnly": True}
        for volume, secret in secret_volumes.items()
    )
    return {
        "name": NAME,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(args),
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        **probes(PORT_NAME, start_seconds=_START_SECONDS),
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "data", "mountPath": DATA_PATH},
            *secrets,
        ],
    }


def _keys_by_secret(args: AlertmanagerArgs) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for receiver in args.receivers:
        for webhook in receiver.webhooks:
            for entry in (webhook.url_secret, webhook.token):
                if entry is not None:
                    found.setdefault(entry.name, set()).add(entry.key)
    return dict(sorted(found.items()))


def _secret_volume(volume: str, secret: str, keys: set[str]) -> Manifest:
    items = [{"key": key, "path": key} for key in sorted(keys)]
    return {"name": volume, "secret": {"secretName": secret, "items": items}}
