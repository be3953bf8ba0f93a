"""Names of dcgm-exporter's objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "dcgm-exporter"
CONTAINER: Final = "exporter"
PORT: Final = 9400
PORT_NAME: Final = "metrics"

COUNTERS_FILE: Final = "counters.csv"
COUNTERS_PATH: Final = "/etc/dcgm-exporter-counters"
"""Not /etc/dcgm-exporter: a mount there would hide the files that the image brings."""
POD_RESOURCES_PATH: Final = "/var/lib/kubelet/pod-resources"
"""In the container, wherever the kubelet's directory is on the node."""
VIRTUAL_GPUS: Final = "KUBERNETES_VIRTUAL_GPUS"
"""Variable that makes the exporter name every pod of a shared GPU, and measure each pod's processes."""


def selector(instance: str) -> dict[str, str]:
    """Labels that select the pods. instance: the stack's namespace, not the one of node agents."""
    return selector_labels(NAME, instance)


def object_labels(instance: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, instance, "metrics", version)
