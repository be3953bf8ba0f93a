"""Names of the Pushgateway's objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "pushgateway"
HEADLESS_SERVICE: Final = f"{NAME}-headless"
CLAIM: Final = f"{NAME}-data"

PORT: Final = 9091
PORT_NAME: Final = "http"

DATA_PATH: Final = "/pushgateway"

FLAGS: Final[dict[str, str]] = {
    "persistence.file": f"{DATA_PATH}/metrics",
    # The default of 5 minutes is what a killed pod forgets, the success of a backup among it.
    "persistence.interval": "10s",
    "web.enable-lifecycle": "false",
    "web.enable-admin-api": "false",
    "push.disable-consistency-check": "false",
}
"""Flag → value, spelt as the Pushgateway's /api/v1/status reports them. The last three stay the default: closed doors,
and a push that contradicts another is refused instead of breaking every later scrape."""


def arguments() -> list[str]:
    """FLAGS as a command line: switches that are off are left out."""
    return [f"--{name}={value}" for name, value in FLAGS.items() if value != "false"]


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "metrics", version)
