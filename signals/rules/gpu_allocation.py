"""Recording rules about allocated GPUs, which need kube-state-metrics: per node, workload, team and fleet.

A device is one unit of a GPU resource: a board, a MIG instance, or a share of a board with time-slicing. Pods that have
finished hold nothing, though the API server still knows them. What no team claims is a team of its own, so that sums
over teams are the fleet's.
"""

from __future__ import annotations

from signals.rules.gpu_labels import FLEET, NODE, POD, RESOURCES, by_team
from signals.rules.model import Group, Record


def gpu_allocation_records() -> Group:
    """Allocated, offered and used."""
    return Group(
        name="plumbline-gpu-allocation", interval="1m", rules=(*_offered(), *_allocated(), *_teams(), *_remainders())
    )


def _offered() -> tuple[Record, ...]:
    return (
        Record(record="node:gpu_capacity:sum", expr=_summed("kube_node_status_capacity")),
        Record(record="node:gpu_allocatable:sum", expr=_summed("kube_node_status_allocatable")),
        Record(record="fleet:gpu_allocatable:sum", expr=f"sum by ({FLEET}) (node:gpu_allocatable:sum)"),
    )


def _summed(metric: str) -> str:
    """The maximum over five minutes bridges a restart of kube-state-metrics."""
    series = f'{metric}{{resource=~"{RESOURCES}"}}'
    return f"sum by ({NODE}) (\n  max by ({NODE}, resource) (max_over_time({series}[5m]))\n)"


def _allocated() -> tuple[Record, ...]:
    """One node per container, even while two kube-state-metrics disagree about a pod that moved."""
    requests = f'kube_pod_container_resource_requests{{resource=~"{RESOURCES}", node!=""}}'
    container = f"{POD}, container, resource"
    one = f"topk by ({container}) (1, max by ({container}, node) ({requests}))"
    finished = f'max by ({POD}) (kube_pod_status_phase{{phase=~"Succeeded|Failed"}}) == 1'
    return (
        Record(
            record="workload:gpu_allocated:sum",
            expr=f"sum by ({POD}, node) (\n  {one}\n)\nunless on ({POD})\n{finished}",
        ),
        Record(
            record="node:gpu_allocated:sum",
            expr=f"sum by ({NODE}) (workload:gpu_allocated:sum)\nor\n0 * node:gpu_allocatable:sum",
        ),
        Record(
            record="node:gpu_allocation:ratio",
            expr="node:gpu_allocated:sum / (node:gpu_allocatable:sum > 0)",
        ),
        Record(record="fleet:gpu_allocated:sum", expr=f"sum by ({FLEET}) (node:gpu_allocated:sum)"),
        Record(
            record="fleet:gpu_allocation:ratio",
            expr="fleet:gpu_allocated:sum / (fleet:gpu_allocatable:sum > 0)",
        ),
    )


def _teams() -> tuple[Record, ...]:
    """Use is weighted with devices: a pod of eight counts eight times."""
    busy = "workload:gpu_utilization:avg * on (" + POD + ") workload:gpu_devices:count"
    return (
        Record(record="team:gpu_allocated:sum", expr=by_team("workload:gpu_allocated:sum")),
        Record(record="workload:gpu_busy:sum", expr=busy),
        Record(record="team:gpu_busy:sum", expr=by_team("workload:gpu_busy:sum")),
        Record(record="team:gpu_devices:count", expr=by_team("workload:gpu_devices:count")),
        Record(record="team:gpu_utilization:avg", expr="team:gpu_busy:sum / (team:gpu_devices:count > 0)"),
        Record(record="team:gpu_energy_joules:rate5m", expr=by_team("workload:gpu_energy_joules:rate5m")),
    )


def _remainders() -> tuple[Record, ...]:
    """What is in no team's sum: offered and not allocated; used by GPUs that nobody holds or that MIG splits."""
    teams = f"(sum by ({FLEET}) (team:gpu_energy_joules:rate5m) or 0 * fleet:gpu_energy_joules:rate5m)"
    return (
        Record(
            record="fleet:gpu_unallocated:sum",
            expr="fleet:gpu_allocatable:sum - fleet:gpu_allocated:sum",
        ),
        Record(
            record="fleet:gpu_energy_unallocated_joules:rate5m",
            expr=f"fleet:gpu_energy_joules:rate5m\n-\n{teams}",
        ),
    )
