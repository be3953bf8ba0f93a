"""What VictoriaLogs must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class LogsArgs:
    """Everything that decides what VictoriaLogs runs.

    stack: whose log records the claim holds. retention: duration as VictoriaLogs spells it (`7d`), whole days, at
    least one. retention_bytes: older days go when the data is larger; the last two days always stay. volume: Kubernetes
    quantity. storage_class: None means the cluster's default. memory_bytes: limit of the container.
    """

    stack: str
    namespace: str
    image: ImagePin
    retention: str
    retention_bytes: int
    volume: str
    volume_bytes: int
    memory_bytes: int
    storage_class: str | None
    resources: Resources
    network_policies: bool
