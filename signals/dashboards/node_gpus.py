"""Rows of the node board about its GPUs, one line each, and about its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.labels import INFO_METRIC
from signals.dashboards.links import log_lines, run_page, runbook
from signals.dashboards.model import Good, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.node_series import BY, every, of
from signals.dashboards.panels import stat, table, timeseries
from signals.dashboards.variables import chosen
from signals.rules.gpu_labels import DEVICE, GPU, POD
from signals.rules.gpu_xid import CLASSIFIED

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_AT_GPU: Final = "{{node}} GPU {{gpu}}"
_VIOLATIONS: Final = "a driver that counts violations"
_IDENTITY: Final = "team, job_id, run_id"
_MOST_PODS: Final = 10


def gpus(inputs: BoardInputs) -> Row:
    """Every GPU by itself."""
    return Row(
        title="GPUs",
        panels=(*_present(inputs), _with_xid(inputs), _xids(inputs), *_use(inputs), *_held_back(inputs)),
        needs=frozenset({"dcgm-exporter"}),
    )


def _present(inputs: BoardInputs) -> tuple[Panel, ...]:
    """None where nobody says how many there should be. Zero, where no exporter answers."""
    if "kube-state-metrics" not in inputs.rules.jobs:
        return ()
    seen = f"sum({of('node:gpu_devices:count')}) * {inputs.rules.thresholds.gpu_replicas}"
    should = f"sum({of('node:gpu_capacity:sum')})"
    return (
        stat(
            "GPUs present",
            f"({seen} or 0 * {should}) / ({should} > 0)",
            "Devices that dcgm-exporter sees, of those that the nodes have. Below one a board fell off its bus, or "
            "the exporter does not answer: then the panels about GPUs are blind.",
            Unit.RATIO,
            Limits(warn=1.0, good=Good.HIGH),
            links=runbook(inputs, "gpu-lost"),
        ),
    )


def _with_xid(inputs: BoardInputs) -> Panel:
    """Zero is told of GPUs that are watched now, and of no others."""
    told = of(CLASSIFIED, 'class!="info"')
    found = f"count(group by ({BY}, UUID) (max_over_time({told}[$__range])))"
    return stat(
        "GPUs with an XID",
        f"{found}\nor\n0 * sum({of('node:gpus:count')})",
        "In the board's time, but for codes that need nothing. Which and what to do: the table of XIDs.",
        Unit.COUNT,
        Limits(warn=1.0),
        links=runbook(inputs, "gpu-xid"),
    )


def _xids(inputs: BoardInputs) -> Panel:
    return table(
        "XIDs",
        f"max by ({GPU}, xid, class, action) (max_over_time({of(CLASSIFIED)}[$__range]))",
        "Of the board's time, with the action that NVIDIA's catalogue asks for.",
        empty="dcgm-exporter reports an XID",
        links=runbook(inputs, "gpu-xid"),
        width=16,
    )


def _use(inputs: BoardInputs) -> tuple[Panel, ...]:
    limits = inputs.rules.thresholds
    return (
        timeseries(
            "GPU temperature",
            {_AT_GPU: every("DCGM_FI_DEV_GPU_TEMP", GPU)},
            "Above the line a GPU slows down soon; models that a stack's settings name have a line of their own. "
            "One hot GPU: its fan, pump or cold plate. All hot: the air at the inlet.",
            Unit.CELSIUS,
            Limits(warn=limits.gpu_temperature_celsius),
            links=runbook(inputs, "gpu-hot"),
            width=8,
        ),
        timeseries(
            "GPU power",
            {_AT_GPU: every("DCGM_FI_DEV_POWER_USAGE", GPU)},
            "Of boards. One that draws less than its neighbours in the same job waits, or is held back.",
            Unit.WATTS,
            width=8,
        ),
        timeseries(
            "GPU utilization",
            {f"{_AT_GPU} {{{{GPU_I_ID}}}}": every("gpu:utilization:ratio", DEVICE)},
            "Of boards, or of the instances that MIG made of them. Time in which any kernel ran: one and little "
            "power is a collective that waits.",
            Unit.RATIO,
            links=runbook(inputs, "gpu-utilization-low"),
            width=8,
            high=1,
        ),
    )


def _held_back(inputs: BoardInputs) -> tuple[Panel, ...]:
    limits, found = inputs.rules.thresholds, runbook(inputs, "gpu-throttled")
    heat, power = (of(f"DCGM_FI_DEV_{what}_VIOLATION") for what in ("THERMAL", "POWER"))
    return (
        timeseries(
            "Clocks held back by heat",
            {_AT_GPU: f"max by ({GPU}) (rate({heat}[10m])) / 1e9"},
            "Share of time. In training, all ranks wait for the one that is held back: look at its cooling.",
            Unit.RATIO,
            Limits(warn=limits.gpu_thermal_throttle),
            links=found,
            empty=_VIOLATIONS,
            high=1,
        ),
        timeseries(
            "Clocks held back by the power limit",
            {_AT_GPU: f"max by ({GPU}) (rate({power}[30m])) / 1e9"},
            "Share of time. Some is normal under full load; above the line the limit is too low, or the rack is "
            "short of power.",
            Unit.RATIO,
            Limits(warn=limits.gpu_power_throttle),
            links=found,
            empty=_VIOLATIONS,
            high=1,
        ),
    )


def pods(inputs: BoardInputs) -> Row:
    """What runs there, and whose it is."""
    memory = (_memory(inputs),) if "cadvisor" in inputs.rules.jobs else ()
    return Row(
        title="Pods",
        panels=(_running(), _restarts(inputs), *memory, _whose(inputs)),
        needs=frozenset({"kube-state-metrics"}),
    )


def _here() -> str:
    """One node for each pod, even while two kube-state-metrics disagree about one that moved."""
    there = of("kube_pod_info", 'node!=""')
    return f"topk by ({POD}) (1, max by ({POD}, node) ({there}))"


def _running() -> Panel:
    phase = chosen("kube_pod_status_phase", 'phase="Running"')
    running = f"max by ({POD}) ({phase}) == 1"
    return stat(
        "Pods that run",
        f"count({_here()}\nand on ({POD})\n{running})",
        "On the chosen nodes. None, and nodes that are ready: they are cordoned or tainted, or nobody needs them.",
    )


def _restarts(inputs: BoardInputs) -> Panel:
    """By subtraction: a container of ten thousand has to be asked twice, not for every sample of an hour.

    One that was not there an hour ago counts with all its restarts if its pod is younger than that; else it was only
    not seen.
    """
    container, restarts = f"{POD}, uid, container", chosen("kube_pod_container_status_restarts_total")
    now, before = (f"max by ({container}) ({restarts}{at})" for at in ("", " offset 1h"))
    young = f"{now} and on ({POD}, uid) time() - {chosen('kube_pod_start_time')} < 3600"
    return stat(
        "Restarts within an hour",
        f"sum(\n({now} - {before} or {young} or 0 * {now})\nand on ({POD})\n{_here()}\n)",
        "Of containers on the chosen nodes. Many on one node alone: it is the node's fault.",
        links=runbook(inputs, "kubernetes-pod"),
    )


def _memory(inputs: BoardInputs) -> Panel:
    used = every("container_memory_working_set_bytes", f"{POD}, container", 'container!=""')
    logs = '"k8s.namespace.name":="${__field.labels.namespace}" "k8s.pod.name":="${__field.labels.pod}"'
    return Panel(
        title="Pods with most memory",
        kind=Kind.BARS,
        unit=Unit.BYTES,
        meaning="The ten that hold most: what to look at first when a node runs out.",
        queries=(
            Query(
                expr=f"topk({_MOST_PODS}, sum by (cluster, namespace, pod) ({used}))",
                legend="{{namespace}}/{{pod}}",
                instant=True,
            ),
        ),
        links=log_lines(inputs, logs),
        width=16,
    )


def _whose(inputs: BoardInputs) -> Panel:
    """A pod without an identity is a row as well."""
    phase = f"max by ({POD}, phase) ({chosen('kube_pod_status_phase')}) == 1"
    pod = f"({phase})\n* on ({POD}) group_left (node)\n{_here()}"
    named = f"({pod})\n* on ({POD}) group_left ({_IDENTITY})\n{chosen(INFO_METRIC)}"
    return table(
        "Pods on these nodes",
        f"count by (cluster, node, namespace, pod, phase, {_IDENTITY}) (\n({named})\nor on ({POD})\n({pod})\n)",
        "With the team and the run that a pod names: who is hit when the node is taken out.",
        links=run_page(inputs),
        width=24,
    )
