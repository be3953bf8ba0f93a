"""Names of kube-state-metrics' objects and ports: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "kube-state-metrics"
CONTAINER: Final = NAME
PORT: Final = 8080
PORT_NAME: Final = "http-metrics"
TELEMETRY_PORT: Final = 8081
TELEMETRY_PORT_NAME: Final = "telemetry"
"""Metrics about the program itself: whether its lists and watches succeed."""


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pod."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "metrics", version)
