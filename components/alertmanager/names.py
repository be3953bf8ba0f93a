"""Names of Alertmanager's objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels
from signals.alertmanager_config import CONFIG_FILE

NAME: Final = "alertmanager"
CONFIG_MAP: Final = f"{NAME}-config"
HEADLESS_SERVICE: Final = f"{NAME}-headless"
CLAIM: Final = f"{NAME}-data"

PORT: Final = 9093
PORT_NAME: Final = "http"

CONFIG_PATH: Final = "/etc/alertmanager"
SECRETS_PATH: Final = "/etc/alertmanager-secrets"
DATA_PATH: Final = "/alertmanager"

FLAGS: Final[dict[str, str]] = {
    "config.file": f"{CONFIG_PATH}/{CONFIG_FILE}",
    "storage.path": DATA_PATH,
    # The default of 15 minutes is what a killed pod forgets: silences just made, pages just sent.
    "data.maintenance-interval": "1m",
    # One replica: no gossip, no port for it.
    "cluster.listen-address": "",
    "web.listen-address": f":{PORT}",
    # Prometheus and the probes find it at the root, whatever path the external address has.
    "web.route-prefix": "/",
}
"""Flag → value. Alertmanager's API does not report flags; retention and external address are added by the pod."""


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "alerting", version)


def secret_directory(secret: str) -> str:
    """Where the pod mounts a Secret."""
    return f"{SECRETS_PATH}/{secret}"
