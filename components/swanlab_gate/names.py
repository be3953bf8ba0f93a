"""Names of the gate's objects and ports: for its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "swanlab-gate"
CONTAINER: Final = "gate"
POLICY: Final = f"{NAME}-scraped"
"""Another policy, of SwanLab's own objects, lets the gate ask; its name is the gate's."""

PORT: Final = 8080
PORT_NAME: Final = "http"

KEY_PATH: Final = "/etc/swanlab-api-key"


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods. namespace: the stack's, not SwanLab's."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component. namespace: the stack's."""
    return labels(NAME, namespace, "experiments", version)
