"""Questions that a dashboard asks: ours by recorded series, and those of a public dashboard on scraped ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from signals.rules.gpu_labels import FLEET, NODE

if TYPE_CHECKING:
    from signals.thresholds import Thresholds

MINUTES: Final = 3
"""What a panel looks back: as much as a bench of a few minutes has."""


@dataclass(frozen=True)
class Panel:
    """A panel and its question, by recorded series where there are any. may_be_empty: while nothing is wrong."""

    title: str
    expr: str
    may_be_empty: bool = False


def panels(limits: Thresholds) -> tuple[Panel, ...]:
    """Ten panels about a fleet."""
    window = f"[{MINUTES}m]"
    idle = f'gpu:utilization:ratio{{pod!=""}} < bool {limits.gpu_utilization_low}'
    return (
        Panel("fleet utilisation", "fleet:gpu_utilization:avg"),
        Panel("utilisation, top 20 nodes", "topk(20, node:gpu_utilization:avg)"),
        Panel("utilisation by team", "team:gpu_utilization:avg"),
        Panel("utilisation, top 20 workloads", "topk(20, workload:gpu_utilization:avg)"),
        Panel("GPU-hours allocated by team", f"avg_over_time(team:gpu_allocated:sum{window}) * {MINUTES} / 60"),
        Panel("idle GPUs that are held", f"sum by ({FLEET}) ({idle})"),
        Panel("framebuffer, top 20 nodes", "topk(20, node:gpu_memory_used:avg)"),
        Panel("power of the fleet", "fleet:gpu_power_watts:sum"),
        Panel("hottest by model", f"max by ({FLEET}, modelName) (DCGM_FI_DEV_GPU_TEMP)"),
        Panel("XIDs by node", f"max by ({NODE}, xid) (max_over_time(gpu:xid_events:max{window}))"),
    )


def rival() -> tuple[Panel, ...]:
    """The eight panels of public dashboard 12239 with every host and GPU chosen.

    It groups by `Hostname`, which is no label here: dcgm-exporter spells it in two ways, so that the stack takes it off
    and has the name in `node`. That label stands in its place, or the board would be empty.
    """
    every = '{node=~".+", gpu=~".+"}'
    board, device = "node, gpu", "node, gpu, GPU_I_ID, GPU_I_PROFILE"
    return (
        Panel("12239 temperature", f"max by ({board}) (DCGM_FI_DEV_GPU_TEMP{every})"),
        Panel("12239 average temperature", f"avg(DCGM_FI_DEV_GPU_TEMP{every})"),
        Panel("12239 power", f"max by ({board}) (DCGM_FI_DEV_POWER_USAGE{every})"),
        Panel("12239 total power", f"sum(max by (gpu) (DCGM_FI_DEV_POWER_USAGE{every}))"),
        Panel("12239 SM clock", f"max by ({board}) (DCGM_FI_DEV_SM_CLOCK{every}) * 1000000"),
        Panel("12239 engine active", f"max by ({device}) (DCGM_FI_PROF_GR_ENGINE_ACTIVE{every})"),
        Panel("12239 framebuffer used", f"max by ({board}) (DCGM_FI_DEV_FB_USED{every})"),
        Panel("12239 tensor active", f"max by ({device}) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{every})"),
    )
