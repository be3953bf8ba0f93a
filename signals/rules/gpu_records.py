"""Recording rules about GPUs from dcgm-exporter alone: per device, node, workload and fleet.

Power and energy of a board that MIG splits belong to no instance, so they count for the node and never for a workload.
Where pods share a board, dcgm-exporter repeats its values for each of them; only utilisation and used memory are their
own, and the board's stand beside them without a pod. So a node counts a board once, and its pods share what it draws.
Energy is recorded as joules per second; kilowatt-hours of a span are `avg_over_time(x[1h]) / 3.6e6 * 3600`.
"""

from __future__ import annotations

from signals.rules.gpu_labels import DEVICE, FLEET, HELD, NODE, POD
from signals.rules.model import Group, Record

_ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
_ACTIVITY = (
    ("sm_active", "DCGM_FI_PROF_SM_ACTIVE"),
    ("tensor_active", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"),
    ("dram_active", "DCGM_FI_PROF_DRAM_ACTIVE"),
)
_THROTTLES = (("thermal", "DCGM_FI_DEV_THERMAL_VIOLATION"), ("power", "DCGM_FI_DEV_POWER_VIOLATION"))


def gpu_records() -> Group:
    """dcgm-exporter collects every 30 seconds at best, so a minute loses little and costs half."""
    return Group(
        name="plumbline-gpu-records",
        interval="1m",
        rules=(*_devices(), *_nodes(), *_workloads(), *_fleet()),
    )


def _devices() -> tuple[Record, ...]:
    """A GPU that MIG splits has no utilisation of its own; the activity of the engine takes its place.

    Used memory is the pod's, where pods share a GPU, and the whole that it is a share of always the GPU's.
    """
    used, free, reserved = (f"max by ({DEVICE}) (DCGM_FI_DEV_FB_{what})" for what in ("USED", "FREE", "RESERVED"))
    return (
        Record(
            record="gpu:utilization:ratio",
            expr=f'max by ({HELD}) (DCGM_FI_PROF_GR_ENGINE_ACTIVE{{GPU_I_PROFILE!=""}})\n'
            f'or\nmax by ({HELD}) (DCGM_FI_DEV_GPU_UTIL{{GPU_I_PROFILE=""}}) / 100',
        ),
        Record(
            record="gpu:memory_used:ratio",
            expr=f"max by ({HELD}) (DCGM_FI_DEV_FB_USED)\n/ on ({DEVICE}) group_left ()\n"
            f"(\n  {used} + {free}\n  + ({reserved} or 0 * {free})\n  > 0\n)",
        ),
    )


def _nodes() -> tuple[Record, ...]:
    device = f"{NODE}, UUID, GPU_I_ID"
    count = "count by ({0}) (group by ({1}) (DCGM_FI_DEV_FB_FREE))"
    return (
        Record(record="node:gpus:count", expr=count.format(NODE, f"{NODE}, UUID")),
        Record(record="node:gpu_devices:count", expr=count.format(NODE, device)),
        Record(record="node:gpu_utilization:avg", expr=f"avg by ({NODE}) (max by ({device}) (gpu:utilization:ratio))"),
        Record(record="node:gpu_memory_used:avg", expr=f"avg by ({NODE}) (max by ({device}) (gpu:memory_used:ratio))"),
        *(
            Record(record=f"node:gpu_{name}:avg", expr=f"avg by ({NODE}) (max by ({device}) ({metric}))")
            for name, metric in _ACTIVITY
        ),
        Record(record="node:gpu_temperature_celsius:max", expr=f"max by ({NODE}) (DCGM_FI_DEV_GPU_TEMP)"),
        Record(
            record="node:gpu_power_watts:sum",
            expr=f"sum by ({NODE}) (max by ({NODE}, UUID) (DCGM_FI_DEV_POWER_USAGE))",
        ),
        Record(
            record="node:gpu_energy_joules:rate5m",
            expr=f"sum by ({NODE}) (max by ({NODE}, UUID) (rate({_ENERGY}[5m]))) / 1000",
        ),
        *(
            Record(
                record=f"node:gpu_{name}_throttle:ratio",
                expr=f"avg by ({NODE}) (max by ({NODE}, UUID) (rate({metric}[5m]))) / 1e9",
            )
            for name, metric in _THROTTLES
        ),
    )


def _workloads() -> tuple[Record, ...]:
    board = f"{POD}, node, UUID"
    return (
        Record(
            record="workload:gpu_devices:count",
            expr=f'count by ({POD}) (group by ({board}, GPU_I_ID) (DCGM_FI_DEV_FB_FREE{{pod!=""}}))',
        ),
        Record(record="workload:gpu_utilization:avg", expr=f'avg by ({POD}) (gpu:utilization:ratio{{pod!=""}})'),
        Record(record="workload:gpu_memory_used:avg", expr=f'avg by ({POD}) (gpu:memory_used:ratio{{pod!=""}})'),
        *(
            Record(record=f"workload:gpu_{name}:avg", expr=f'avg by ({POD}) ({metric}{{pod!=""}})')
            for name, metric in _ACTIVITY
        ),
        Record(
            record="workload:gpu_power_watts:sum",
            expr=_shared("DCGM_FI_DEV_POWER_USAGE"),
        ),
        Record(
            record="workload:gpu_energy_joules:rate5m",
            expr=f"{_shared(_ENERGY, '5m')}\n/ 1000",
        ),
    )


def _shared(metric: str, range_: str = "") -> str:
    """Sum per pod of a value of boards: the metric, or its rate over a range. Pods on one board share the value.

    Each gets a part in proportion to what is told for it, which is the same for all that hold the board now. In a rate
    a pod that came or went within the range counts for its time, so the parts never add up to more than the board.
    """
    every, held = (f'{metric}{{{pods}GPU_I_PROFILE=""}}' for pods in ("", 'pod!="", '))
    if range_:
        every, held = (f"rate({series}[{range_}])" for series in (every, held))
    per_pod, board = f"max by ({POD}, node, UUID)", f"{NODE}, UUID"
    part = f"max by ({board}) ({every})\n    / (sum by ({board}) ({per_pod} ({every})) > 0)"
    return f"sum by ({POD}) (\n  {per_pod} ({held})\n  * on ({board}) group_left ()\n  (\n    {part}\n  )\n)"


def _fleet() -> tuple[Record, ...]:
    sums = ("gpus:count", "gpu_devices:count", "gpu_power_watts:sum", "gpu_energy_joules:rate5m")
    return (
        *(Record(record=f"fleet:{name}", expr=f"sum by ({FLEET}) (node:{name})") for name in sums),
        Record(record="fleet:gpu_temperature_celsius:max", expr=f"max by ({FLEET}) (node:gpu_temperature_celsius:max)"),
        *(
            Record(record=f"fleet:gpu_{name}:avg", expr=_weighted(f"node:gpu_{name}:avg"))
            for name in ("utilization", "memory_used", *(name for name, _ in _ACTIVITY))
        ),
    )


def _weighted(metric: str) -> str:
    """An average over nodes of different size must count devices, not nodes."""
    devices = "node:gpu_devices:count"
    return (
        f"sum by ({FLEET}) ({metric} * on ({NODE}) {devices})\n/\nsum by ({FLEET}) ({devices} and on ({NODE}) {metric})"
    )
