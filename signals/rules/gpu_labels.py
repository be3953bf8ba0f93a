"""Label lists over which GPU rules aggregate, and joins that survive duplicates, written once."""

from __future__ import annotations

from signals.catalogue.labels import INFO_METRIC

FLEET = "cluster, environment"
NODE = f"{FLEET}, node"
POD = f"{FLEET}, namespace, pod"
TEAM = f"{FLEET}, team"
GPU = f"{NODE}, gpu, UUID, modelName"
"""A board. With MIG, values of the board repeat on each instance; the maximum over them is the value of the board."""

DEVICE = f"{GPU}, GPU_I_ID, GPU_I_PROFILE"
"""What a pod can hold: a board, or an instance of one."""

HELD = f"{DEVICE}, namespace, pod"
"""A device and the pod that holds it; without a pod, `namespace` and `pod` are empty."""

RESOURCES = "nvidia_com_(gpu|gpu_shared|mig_.+)"
"""Names of GPU resources as kube-state-metrics spells them."""

UNATTRIBUTED = "unattributed"
"""The team of pods that name none, so that sums over teams are the whole."""


def by_team(workload_metric: str) -> str:
    """Sum per team of a record per pod; what no team claims is summed under `UNATTRIBUTED`.

    The identity has one series per pod, so the join is many to one even with two kube-state-metrics.
    """
    joined = f"{workload_metric} * on ({POD}) group_left (team) {INFO_METRIC}"
    everything = f"({joined})\n    or on ({POD})\n    {workload_metric}"
    return f'sum by ({TEAM}) (\n  label_replace(\n    {everything},\n    "team", "{UNATTRIBUTED}", "team", "")\n)'
