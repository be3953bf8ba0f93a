"""Names of node-exporter's objects, ports and paths: shared by its manifests, the outputs contract and the checks."""

from __future__ import annotations

from typing import Final

from components.naming import labels, selector_labels

NAME: Final = "node-exporter"
CONTAINER: Final = NAME
PORT: Final = 9100
"""Default; the settings may name another, because it is a port of the node."""
PORT_NAME: Final = "metrics"

PROCFS_PATH: Final = "/host/proc"
SYSFS_PATH: Final = "/host/sys"
ROOTFS_PATH: Final = "/host/root"
TEXTFILE_PATH: Final = "/host/textfile"


def selector(instance: str) -> dict[str, str]:
    """Labels that select the pods. instance: the stack's namespace, not the one of node agents."""
    return selector_labels(NAME, instance)


def object_labels(instance: str, version: str | None = None) -> dict[str, str]:
    """Labels of every object of the component."""
    return labels(NAME, instance, "metrics", version)
