"""What the kube-state-metrics component must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class KubeStateMetricsArgs:
    """Everything that decides what kube-state-metrics runs.

    namespace: the stack's. objects: kinds of objects that it reads, in the plural (`pods`); it gets rights to no
    other. metric_allowlist, labels_allowlist: values of upstream's flags of these names, as the catalogue makes them:
    expressions for whole names, and `kind=[key,…]` for the labels that become labels of `kube_<kind>_labels`.
    """

    namespace: str
    image: ImagePin
    objects: tuple[str, ...]
    metric_allowlist: str
    labels_allowlist: str
    resources: Resources
    network_policies: bool
