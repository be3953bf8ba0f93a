"""Names of Jaeger's objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "jaeger"
HEADLESS_SERVICE: Final = f"{NAME}-headless"
CONFIG_MAP: Final = f"{NAME}-config"
"""Begin of a ConfigMap's name, which ends in its revision."""
CLAIM: Final = f"{NAME}-data"

GRPC_PORT: Final = 4317
HTTP_PORT: Final = 4318
QUERY_PORT: Final = 16686
METRICS_PORT: Final = 8888
HEALTH_PORT: Final = 13133
PORTS: Final[dict[str, int]] = {
    "otlp-grpc": GRPC_PORT,
    "otlp-http": HTTP_PORT,
    "query": QUERY_PORT,
    "metrics": METRICS_PORT,
    "health": HEALTH_PORT,
}
LOCAL_PORT: Final = 16685
"""Of the query service's gRPC, which nobody asks: it stays on the loopback."""

CONFIG_PATH: Final = "/etc/jaeger"
CONFIG_FILE: Final = "jaeger.yaml"
ARGUMENTS: Final = (f"--config={CONFIG_PATH}/{CONFIG_FILE}",)
DATA_PATH: Final = "/jaeger"


def otlp_endpoint(namespace: str) -> str:
    """`host:port` where spans go by gRPC. namespace: the stack's."""
    return f"{NAME}.{namespace}.svc:{GRPC_PORT}"


def query_url(namespace: str) -> str:
    """Where queries go. namespace: the stack's."""
    return f"http://{NAME}.{namespace}.svc:{QUERY_PORT}"


def selector(namespace: str) -> dict[str, str]:
    """Labels that select the pods."""
    return selector_labels(NAME, namespace)


def object_labels(namespace: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, namespace, "traces", version)
