"""What Jaeger must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class TracesArgs:
    """Everything that decides what Jaeger runs.

    stack: whose traces the claim holds. retention_seconds: after which a span is gone. volume: Kubernetes quantity.
    storage_class: None means the cluster's default. memory_bytes: limit of the container.
    """

    stack: str
    namespace: str
    image: ImagePin
    retention_seconds: int
    volume: str
    volume_bytes: int
    memory_bytes: int
    storage_class: str | None
    resources: Resources
    network_policies: bool
