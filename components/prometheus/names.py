"""Names of Prometheus' objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "prometheus"
CONFIG_MAP: Final = f"{NAME}-config"
HEADLESS_SERVICE: Final = f"{NAME}-headless"
CLAIM: Final = f"{NAME}-data"

PORT: Final = 9090
PORT_NAME: Final = "http"

CONFIG_FILE: Final = "prometheus.yml"
CONFIG_PATH: Final = "/etc/prometheus"
SECRETS_PATH: Final = "/etc/prometheus-secrets"
DATA_PATH: Final = "/prometheus"

FLAGS: Final[dict[str, str]] = {
    "config.file": f"{CONFIG_PATH}/{CONFIG_FILE}",
    "config.auto-reload": "true",
    "config.auto-reload-interval": "5s",
    "storage.tsdb.path": DATA_PATH,
    "web.enable-lifecycle": "false",
    "web.enable-admin-api": "false",
    "web.enable-remote-write-receiver": "false",
}
"""Flag → value, spelt as Prometheus' own API reports them. The last three are closed doors and stay the default."""


def arguments() -> list[str]:
    """FLAGS as a command line: switches take no value, and those that are off are left out."""
    switches = {"true": "--{0}", "false": ""}
    return [text for name, value in FLAGS.items() if (text := switches.get(value, "--{0}={1}").format(name, value))]


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "metrics", version)
