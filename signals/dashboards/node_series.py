"""How panels about nodes choose their series."""

from __future__ import annotations

from typing import Final

from signals.dashboards.variables import chosen

BY: Final = "cluster, environment, node"
MOUNT: Final = f"{BY}, device, mountpoint"
EXPORTER: Final = 'job="node-exporter"'
PSI: Final = "the kernel accounts for pressure (4.20 or newer, not switched off with psi=0)"
RDMA: Final = "the node has an InfiniBand or RoCE adapter"
"""Events of the catalogue, in its words."""


def of(metric: str, more: str = "") -> str:
    """The series of a metric that are of the chosen nodes. more: further matchers."""
    return chosen(metric, f'node=~"$node"{", " + more if more else ""}')


def every(metric: str, by: str, more: str = "") -> str:
    """Each once, though two exporters may tell of it."""
    return f"max by ({by}) ({of(metric, more)})"
