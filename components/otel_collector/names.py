"""Names of the collector's objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import PART_OF, labels, selector_labels

COMPONENT: Final = "otel-collector"
AGENT: Final = "otel-agent"
GATEWAY: Final = "otel-gateway"
HEADLESS_SERVICE: Final = f"{GATEWAY}-headless"
AGENT_CONFIG: Final = f"{AGENT}-config"
GATEWAY_CONFIG: Final = f"{GATEWAY}-config"
"""Begin of a ConfigMap's name, which ends in its revision."""
REPLICA_LABEL: Final = f"{PART_OF}/replica"
"""Label of a replica's StatefulSet and pod: without it two StatefulSets would select each other's pods."""
DEBUG: Final = "otel-debug"
"""Begin of a ConfigMap's name, see debug_config()."""

GRPC_PORT: Final = 4317
HTTP_PORT: Final = 4318
METRICS_PORT: Final = 8888
SPAN_METRICS_PORT: Final = 8889
HEALTH_PORT: Final = 13133
PORTS: Final[dict[str, int]] = {
    "otlp-grpc": GRPC_PORT,
    "otlp-http": HTTP_PORT,
    "metrics": METRICS_PORT,
    "health": HEALTH_PORT,
}
SPAN_METRICS_PORT_NAME: Final = "span-metrics"

PROGRAM: Final = "/otelcol-contrib"
GATES: Final = ("ottl.set.allowNil", "stanza.synchronousLogEmitter")
"""Feature gates of the program that the configuration needs: without the first span links cannot be taken off; without
the second lines are ticked off that are in memory alone, which a killed agent loses."""
CONFIG_PATH: Final = "/etc/otelcol"
CONFIG_FILE: Final = "collector.yaml"
DEBUG_PATH: Final = "/etc/otelcol-debug"
DEBUG_FILE: Final = "debug.yaml"
AGENT_FILES: Final = (f"{CONFIG_PATH}/{CONFIG_FILE}", f"{DEBUG_PATH}/{DEBUG_FILE}")
GATEWAY_FILES: Final = (f"{CONFIG_PATH}/{CONFIG_FILE}",)
"""What each is started with; of two files the later one wins."""
QUEUE_PATH: Final = "/var/lib/otelcol"
POD_LOGS: Final = "/var/log/pods"
REVISION: Final = "plumbline.revision"
"""Resource attribute of the collector's own metrics: the revision of the configuration that it runs."""


def debug_config(lowest_level: str) -> str:
    """ConfigMap beside the agents that says whose debug lines are kept until when; written by `make debug-logs`.

    lowest_level: which its condition repeats. In the name, because the stack writes the first content alone: with
    another level there is another ConfigMap, and not one that still says the old level.
    """
    return f"{DEBUG}-{lowest_level.lower()}"


def replica_name(replica: int) -> str:
    """StatefulSet of one replica of the gateway, with one pod. The first is named as the gateway is."""
    return f"{GATEWAY}-{replica}" if replica else GATEWAY


def claim_name(replica: int) -> str:
    """Claim of one replica's queue."""
    return f"{GATEWAY}-queue-{replica}"


def selector(name: str, instance: str) -> dict[str, str]:
    """Labels that select the pods. name: AGENT or GATEWAY. instance: the stack's namespace."""
    return selector_labels(name, instance)


def object_labels(name: str, instance: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of agents or gateway."""
    return labels(name, instance, "telemetry", version)
