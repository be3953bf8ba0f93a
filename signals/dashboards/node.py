"""Node detail: whether a node answers, what it runs out of, and what runs on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.links import runbook
from signals.dashboards.model import Board, Good, Limits, Row, Unit, Variable
from signals.dashboards.node_gpus import gpus, pods
from signals.dashboards.node_network import clock_and_kernel, network, rdma
from signals.dashboards.node_series import BY, EXPORTER, MOUNT, PSI, every, of
from signals.dashboards.panels import stat, table, timeseries
from signals.dashboards.variables import CLUSTER, ENVIRONMENT, FLEET_CHOICE

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Panel
    from signals.thresholds import Thresholds

_NODE: Final = Variable(name="node", label="Node", series=f"up{{{FLEET_CHOICE}, {EXPORTER}}}", all_at_once=False)
"""From the targets, so that a node can be chosen while its exporter, or the list of nodes, is dead."""


def node(inputs: BoardInputs) -> Board:
    """From the whole node to its devices. Colours change where alerts do."""
    limits = inputs.rules.thresholds
    return Board(
        uid="plumbline-node",
        title="Node detail",
        meaning="The chosen nodes: do they answer, what do they run out of, which device is unwell, and whose pods "
        "are hit. Starts with one node; choose several to compare them.",
        rows=(
            _state(inputs, limits),
            _alerts(inputs),
            _processors(inputs, limits),
            _disks(inputs, limits),
            network(inputs),
            rdma(inputs),
            clock_and_kernel(inputs),
            gpus(inputs),
            pods(inputs),
        ),
        variables=(CLUSTER, ENVIRONMENT, _NODE),
        needs=frozenset({"node-exporter"}),
    )


def _writable(used: str) -> str:
    """Without what is mounted read-only: that is full by design, and no alert is about it."""
    return f"{used}\nand on ({MOUNT})\n{every('node_filesystem_readonly', MOUNT)} == 0"


def _state(inputs: BoardInputs, limits: Thresholds) -> Row:
    answers = every("up", BY, EXPORTER)
    ready = _ready() if "kube-state-metrics" in inputs.rules.jobs else ()
    return Row(
        title="State",
        panels=(
            stat(
                "Nodes that answer",
                f"sum({answers}) / count({answers})",
                "Share of the chosen nodes whose node-exporter answers. Below one, the rest of this board is blind "
                "for a node: look whether it is there at all.",
                Unit.RATIO,
                Limits(warn=1.0, good=Good.HIGH),
                links=runbook(inputs, "scrape-target-down"),
            ),
            *ready,
            stat(
                "Shortest uptime",
                f"min(time() - {every('node_boot_time_seconds', BY)})",
                "Since the start of the node that was started last. Minutes: it was restarted, perhaps by itself.",
                Unit.SECONDS,
            ),
            stat(
                "Processors, busiest node",
                f"max({of('node:cpu_used:ratio')})",
                "Time that processors did not idle, wait for a disk, or lose to other virtual machines.",
                Unit.RATIO,
            ),
            stat(
                "Memory, fullest node",
                f"max({of('node:memory_used:ratio')})",
                "Page cache counts as free. A full node is well used until something is killed or stands still.",
                Unit.RATIO,
            ),
            stat(
                "Fullest file system",
                f"max({_writable(of('node:filesystem_used:ratio'))})",
                "At the first colour it is watched for filling up within a day, at the second it is an emergency. "
                "Which it is: below.",
                Unit.RATIO,
                Limits(warn=1 - limits.filesystem_free_low, bad=1 - limits.filesystem_free_critical),
                links=runbook(inputs, "node-filesystem"),
            ),
        ),
    )


def _ready() -> tuple[Panel]:
    condition = 'condition="Ready", status="true"'
    ready = every("kube_node_status_condition", BY, condition)
    return (
        stat(
            "Nodes that are ready",
            f"sum({ready}) / count({ready})",
            "As the API server sees it. Below one, pods leave the node after five minutes: ask its kubelet.",
            Unit.RATIO,
            Limits(warn=1.0, good=Good.HIGH),
        ),
    )


def _alerts(inputs: BoardInputs) -> Row:
    firing = f'ALERTS{{{FLEET_CHOICE}, alertstate="firing", node=~"$node", node!=""}}'
    return Row(
        title="Alerts",
        panels=(
            table(
                "Alerts about these nodes",
                f"count by (severity, alertname, node) ({firing})",
                "What fires now, with how many devices or pods it is about. Begin with the lowest number of P.",
                empty="no alert about these nodes fires",
                links=runbook(inputs, "README"),
                width=24,
            ),
        ),
    )


def _processors(inputs: BoardInputs, limits: Thresholds) -> Row:
    modes = of("node_cpu_seconds_total", 'mode!="idle"')
    stalled = (f"node_pressure_{what}_stalled_seconds_total" for what in ("memory", "io"))
    kills = f"max by ({BY}) (increase({of('node_vmstat_oom_kill')}[5m]))"
    memory = runbook(inputs, "node-memory")
    return Row(
        title="Processors and memory",
        panels=(
            timeseries(
                "Processor time",
                {"{{node}} {{mode}}": f"avg by ({BY}, mode) (rate({modes}[$__rate_interval]))"},
                "Share of all processors by what they do. Much iowait: a disk is slow. Much steal: the host is "
                "overbooked. Much system: many small packets or files.",
                Unit.RATIO,
                high=1,
            ),
            timeseries(
                "Memory used",
                {"{{node}}": of("node:memory_used:ratio")},
                "Above the line the kernel's kills are for want of the node's memory, below it for a container's own "
                "limit.",
                Unit.RATIO,
                Limits(warn=1 - limits.memory_available_low),
                links=memory,
                high=1,
            ),
            timeseries(
                "Standing still",
                {
                    f"{{{{node}}}} {what}": f"max by ({BY}) (rate({of(metric)}[10m]))"
                    for metric, what in zip(stalled, ("memory", "disks"), strict=True)
                },
                "Share of time in which no process got on, for waiting for memory or a disk. Move work away from the "
                "node; a checkpoint stalls disks for minutes, by design.",
                Unit.RATIO,
                Limits(warn=limits.pressure_stalled_high),
                links=memory,
                empty=PSI,
                high=1,
            ),
            timeseries(
                "Kills for want of memory",
                {"{{node}}": kills},
                "Processes that the kernel killed within five minutes, for the node's memory or a container's limit.",
                links=memory,
            ),
        ),
    )


def _disks(inputs: BoardInputs, limits: Thresholds) -> Row:
    free, whole = of("node_filesystem_files_free"), of("node_filesystem_files")
    inodes = f"1 - min by ({MOUNT}) ({free}) / max by ({MOUNT}) ({whole} > 0)"
    full = runbook(inputs, "node-filesystem")
    moved = {
        f"{{{{node}}}} {{{{device}}}} {what}": (
            f"max by ({BY}, device) (rate({of(f'node_disk_{what}_bytes_total')}[$__rate_interval]))"
        )
        for what in ("read", "written")
    }
    busy = of("node_disk_io_time_seconds_total")
    return Row(
        title="Disks",
        panels=(
            timeseries(
                "Space used",
                {"{{node}} {{mountpoint}}": _writable(of("node:filesystem_used:ratio"))},
                "Of file systems that can be written to. When one is full writes fail, and before that the kubelet "
                "evicts pods: delete checkpoints, datasets, images.",
                Unit.RATIO,
                Limits(warn=1 - limits.filesystem_free_low, bad=1 - limits.filesystem_free_critical),
                links=full,
                high=1,
            ),
            timeseries(
                "Inodes used",
                {"{{node}} {{mountpoint}}": _writable(inodes)},
                "Without a free one no file can be made, however much space is left. Look for millions of small files.",
                Unit.RATIO,
                Limits(warn=1 - limits.inodes_free_low),
                links=full,
                high=1,
            ),
            timeseries(
                "Disks busy",
                {"{{node}} {{device}}": f"max by ({BY}, device) (rate({busy}[$__rate_interval]))"},
                "Share of time in which a disk had something to do. One that is busy and moves little is failing, or "
                "reads at random; fast disks do many things at once and are not full at one.",
                Unit.RATIO,
                high=1,
            ),
            timeseries(
                "Read and written",
                moved,
                "Bytes a second of each disk. Training that waits for data reads less than before; checkpoints write.",
                Unit.BYTES_PER_SECOND,
            ),
        ),
    )
