"""What the Pushgateway component must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class PushgatewayArgs:
    """Everything that decides what the Pushgateway runs.

    stack: whose metrics the claim holds. volume: Kubernetes quantity. storage_class: None means the cluster's
    default. push_from: other namespaces whose pods may push; those of the stack's own namespace always may.
    """

    stack: str
    namespace: str
    image: ImagePin
    volume: str
    storage_class: str | None
    resources: Resources
    network_policies: bool
    push_from: tuple[str, ...] = ()
