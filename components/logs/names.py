"""Names of VictoriaLogs' objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "victoria-logs"
HEADLESS_SERVICE: Final = f"{NAME}-headless"
CLAIM: Final = f"{NAME}-data"

PORT: Final = 9428
PORT_NAME: Final = "http"
DATA_PATH: Final = "/victoria-logs"

INGEST_PATH: Final = "/insert/opentelemetry/v1/logs"
STREAM_FIELDS: Final = ("k8s.namespace.name", "k8s.pod.name", "k8s.container.name")
INGEST_HEADERS: Final[dict[str, str]] = {"VL-Stream-Fields": ",".join(STREAM_FIELDS)}
"""Sent with every request. Without it every resource attribute makes streams, a run's id among them. Nothing is said of
fields that are messages (`VL-Msg-Field`): an attribute of such a name would take the place of the text."""


def ingest_url(namespace: str) -> str:
    """Where OTLP log records go, protobuf over HTTP. namespace: the stack's."""
    return f"{url(namespace)}{INGEST_PATH}"


def url(namespace: str) -> str:
    """Where queries go. namespace: the stack's."""
    return f"http://{NAME}.{namespace}.svc:{PORT}"


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "logs", version)
