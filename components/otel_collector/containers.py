"""The container that both collectors run in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.exporters import probes
from components.otel_collector.agent_config import NODE_NAME
from components.otel_collector.lint import gates
from components.otel_collector.sizes import runtime_limit
from components.pods import quantities, restricted_container

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from components.images import ImagePin
    from components.objects import Manifest
    from components.otel_collector.args import Agent, Gateway

_START_SECONDS: Final = 300
"""A start makes the files of full queues smaller."""


def container(
    name: str,
    image: ImagePin,
    sizes: Agent | Gateway,
    *,
    files: Sequence[str],
    ports: Mapping[str, int],
    mounts: list[Manifest],
    environment: Sequence[Manifest] = (),
) -> Manifest:
    """A collector with its configuration files, of which later ones win. sizes: what it may take.

    The probes say that the process takes requests, and nothing of delivery: health stays good while every export
    fails, and must not restart what holds a queue. Delivery is judged by metrics.
    """
    node = {"name": NODE_NAME, "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    return {
        "name": name,
        "image": image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(files),
        "env": [node, runtime_limit(sizes.memory_bytes), *environment],
        "ports": [{"name": port, "containerPort": number, "protocol": "TCP"} for port, number in ports.items()],
        "resources": quantities(sizes.resources),
        "securityContext": restricted_container(),
        **probes("/", "health", start_seconds=_START_SECONDS),
        "volumeMounts": mounts,
    }


def arguments(files: Sequence[str]) -> list[str]:
    """The command line: the image brings no configuration of its own."""
    return [*(f"--config={file}" for file in files), *gates()]
