"""Series budgets: what each producer may store, estimated from how large the cluster is expected to be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from signals.catalogue.model import Producer
    from signals.thresholds import Sizing

HEADROOM = 1.5
"""Scrape limits lie this far above the estimate: the alert comes at the budget, long before a scrape is lost."""


def series(page: Producer, sizing: Sizing, targets: int = 1) -> int:
    """Series that the whole job may store. targets: how many it has, if it is not one per node.

    What a GPU costs, it costs once for each pod that shares it: dcgm-exporter repeats its series for each.
    """
    if page.per_node:
        targets = sizing.nodes
    gpus = sizing.gpu_nodes * sizing.gpus_per_node * sizing.pods_per_gpu
    budget = page.budget
    return (
        budget.fixed
        + budget.per_target * targets
        + budget.per_node * sizing.nodes
        + budget.per_api_server * sizing.api_servers
        + budget.per_gpu * gpus
        + budget.per_pod * sizing.pods
    )


def samples_per_scrape(page: Producer, sizing: Sizing) -> int:
    """Limit for one scrape: the estimate for the largest target, with headroom."""
    budget = page.budget
    if page.per_node:
        gpus = sizing.gpus_per_node * sizing.pods_per_gpu
        here = budget.per_node + budget.per_gpu * gpus + budget.per_pod * sizing.pods_per_node
        largest = budget.fixed + budget.per_target + here
    else:
        largest = series(page, sizing.model_copy(update={"api_servers": 1}))
    return math.ceil(largest * HEADROOM)
