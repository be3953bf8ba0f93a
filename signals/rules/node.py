"""Alerts and records about nodes, from node-exporter: disks, memory, clock, kernel tables. The network has a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.expressions import grew_since
from signals.rules.model import Alert, Group, Record, Severity
from signals.rules.node_network import network_alerts, network_records

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs
    from signals.thresholds import Thresholds

_JOB = 'job="node-exporter"'
_SELF = f"{{{_JOB}}}"
_BY = "cluster, environment, node"
_MOUNT = f"{_BY}, device, mountpoint"
_WHERE = "Node {{ $labels.node }} (cluster {{ $labels.cluster }})"
_FILE_SYSTEM = f"{_WHERE}, file system {{{{ $labels.mountpoint }}}} on {{{{ $labels.device }}}}"
_EVERY_NODE_HAS = "conntrack|cpu|diskstats|filefd|filesystem|loadavg|meminfo|netdev|netstat|stat|time|timex|vmstat"


def node_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file."""
    limits = inputs.thresholds
    return (
        Group(name="plumbline-node-records", rules=(*_records(), *network_records())),
        Group(name="plumbline-node-disks", rules=_disks(limits)),
        Group(name="plumbline-node", rules=(*_memory(limits), *_clock(limits), *_kernel(limits), *_exporter())),
        Group(name="plumbline-node-network", rules=network_alerts(limits)),
    )


def _records() -> tuple[Record, ...]:
    idle = f'node_cpu_seconds_total{{{_JOB}, mode=~"idle|iowait|steal"}}'
    available, total = (f"node_memory_Mem{what}_bytes{_SELF}" for what in ("Available", "Total"))
    avail, size = (f"node_filesystem_{what}_bytes{_SELF}" for what in ("avail", "size"))
    disk = {
        "read_bytes": f"rate(node_disk_read_bytes_total{_SELF}[5m])",
        "written_bytes": f"rate(node_disk_written_bytes_total{_SELF}[5m])",
        "operations": f"rate(node_disk_reads_completed_total{_SELF}[5m]) "
        f"+ rate(node_disk_writes_completed_total{_SELF}[5m])",
    }
    return (
        Record(
            record="node:cpu_used:ratio",
            expr=f"1 - sum by ({_BY}) (rate({idle}[5m]))\n"
            f'/ count by ({_BY}) (node_cpu_seconds_total{{{_JOB}, mode="idle"}})',
        ),
        Record(
            record="node:memory_used:ratio",
            expr=f"1 - max by ({_BY}) ({available}) / max by ({_BY}) ({total})",
        ),
        Record(
            record="node:filesystem_used:ratio",
            expr=f"1 - min by ({_MOUNT}) ({avail}) / max by ({_MOUNT}) ({size} > 0)",
        ),
        *(Record(record=f"node:disk_{name}:rate5m", expr=f"sum by ({_BY}) ({expr})") for name, expr in disk.items()),
    )


def _disks(limits: Thresholds) -> tuple[Alert, ...]:
    return (
        _filling(limits.filesystem_free_low),
        _nearly_full(limits.filesystem_free_critical),
        _inodes(limits.inodes_free_low),
        _read_only(),
        _not_answering(),
    )


def _filling(low: float) -> Alert:
    """Both a line and a level: an empty disk that fills a little, and a full one that stands still, are no news."""
    avail, size = (f"node_filesystem_{what}_bytes{_SELF}" for what in ("avail", "size"))
    return Alert(
        alert="NodeFilesystemFillingUp",
        expr=f"min by ({_MOUNT}) ({avail}) / max by ({_MOUNT}) ({size} > 0) < {low}\n"
        f"and\nmin by ({_MOUNT}) (predict_linear({avail}[6h], 86400)) < 0\n"
        f"and\nmax by ({_MOUNT}) (node_filesystem_readonly{_SELF}) == 0",
        wait="30m",
        severity=Severity.P2,
        summary="{{ $labels.mountpoint }} of node {{ $labels.node }} will be full within a day",
        description=f"{_FILE_SYSTEM}: {{{{ $value | humanizePercentage }}}} is free, and at the pace of the last six "
        "hours nothing is left in a day. Likely causes: checkpoints or datasets that nobody deletes, container images, "
        "logs.",
        runbook="node-filesystem",
    )


def _nearly_full(critical: float) -> Alert:
    avail, size = (f"node_filesystem_{what}_bytes{_SELF}" for what in ("avail", "size"))
    return Alert(
        alert="NodeFilesystemNearlyFull",
        expr=f"min by ({_MOUNT}) ({avail}) / max by ({_MOUNT}) ({size} > 0) < {critical}\n"
        f"and\nmax by ({_MOUNT}) (node_filesystem_readonly{_SELF}) == 0",
        wait="10m",
        severity=Severity.P1,
        summary="{{ $labels.mountpoint }} of node {{ $labels.node }} is nearly full",
        description=f"{_FILE_SYSTEM}: {{{{ $value | humanizePercentage }}}} is free. Writes will fail, and the kubelet "
        "evicts pods before that. Likely causes: checkpoints or datasets that nobody deletes, container images, logs.",
        runbook="node-filesystem",
    )


def _inodes(low: float) -> Alert:
    free, all_of_them = (f"node_filesystem_{what}{_SELF}" for what in ("files_free", "files"))
    return Alert(
        alert="NodeInodesNearlyUsedUp",
        expr=f"min by ({_MOUNT}) ({free}) / max by ({_MOUNT}) ({all_of_them} > 0) < {low}\n"
        f"and\nmax by ({_MOUNT}) (node_filesystem_readonly{_SELF}) == 0",
        wait="15m",
        severity=Severity.P2,
        summary="{{ $labels.mountpoint }} of node {{ $labels.node }} runs out of inodes",
        description=f"{_FILE_SYSTEM}: {{{{ $value | humanizePercentage }}}} of its inodes are free. Without one no "
        "file can be made, however much space is left. Likely causes: a dataset of millions of small files, a cache "
        "without a limit.",
        runbook="node-filesystem",
    )


def _read_only() -> Alert:
    """Only one that was writable within a day: some are read-only by choice."""
    flag = f"node_filesystem_readonly{_SELF}"
    return Alert(
        alert="NodeFilesystemReadOnly",
        expr=f"max by ({_MOUNT}) ({flag}) == 1\nand\nmin by ({_MOUNT}) (min_over_time({flag}[1d])) == 0",
        wait="2m",
        severity=Severity.P1,
        summary="{{ $labels.mountpoint }} of node {{ $labels.node }} has become read-only",
        description=f"{_FILE_SYSTEM} was writable and no longer is: the kernel stops writing to what it finds damaged. "
        "Every write fails. Likely causes: a failing disk or controller, a lost path to network storage.",
        runbook="node-filesystem",
    )


def _not_answering() -> Alert:
    real = 'fstype=~"ext.|xfs|btrfs|zfs|nfs.*|lustre|ceph|fuse.*|beegfs|gpfs|wekafs"'
    return Alert(
        alert="NodeFilesystemNotAnswering",
        expr=f"max by ({_MOUNT}) (node_filesystem_device_error{{{_JOB}, {real}}}) == 1",
        wait="10m",
        severity=Severity.P2,
        summary="{{ $labels.mountpoint }} of node {{ $labels.node }} does not answer",
        description=f"{_FILE_SYSTEM} cannot be asked for its state. What reads from it hangs. Likely causes: the "
        "server of a network file system is gone, a stale handle, a network policy in the way.",
        runbook="node-filesystem",
    )


def _memory(limits: Thresholds) -> tuple[Alert, ...]:
    """A node at 92 % of its memory is well used. Kills, or time lost to waiting for memory, say that it is too much."""
    boot = f"node_boot_time_seconds{_SELF}"
    kills = grew_since(f"node_vmstat_oom_kill{_SELF}", "15m", boot, "cluster, instance")
    low = (
        f"min_over_time(node_memory_MemAvailable_bytes{_SELF}[15m]) / node_memory_MemTotal_bytes{_SELF}\n"
        f"< {limits.memory_available_low}"
    )
    return (
        Alert(
            alert="NodeOutOfMemory",
            expr=f"(\n{kills}\n)\nand on (cluster, instance)\n{low}",
            wait="0s",
            severity=Severity.P1,
            summary="Node {{ $labels.node }} kills processes because it is out of memory",
            description=f"{_WHERE} was out of memory, and the kernel killed processes: not only what used too much may "
            "be hit. Likely causes: containers without a memory limit, limits that add up to more than the node has, "
            "a data loader with too many workers.",
            runbook="node-memory",
        ),
        _stalled("memory", "15m", Severity.P2, limits.pressure_stalled_high),
        _stalled("io", "1h", Severity.P3, limits.pressure_stalled_high),
    )


def _stalled(resource: str, wait: str, severity: Severity, high: float) -> Alert:
    """An hour for disks: a checkpoint of a large model stalls a node for minutes, by design."""
    return Alert(
        alert="NodeStalled",
        expr=f"max by ({_BY}) (rate(node_pressure_{resource}_stalled_seconds_total{_SELF}[10m])) > {high}",
        wait=wait,
        severity=severity,
        labels={"resource": resource},
        summary=f"Node {{{{ $labels.node }}}} stands still, waiting for {resource}",
        description=f"{_WHERE} spent {{{{ $value | humanizePercentage }}}} of the last ten minutes with no process "
        f"getting on, for waiting for {resource}. Likely causes: too many workloads for the node, a slow or failing "
        "disk, network storage that is overloaded.",
        runbook="node-memory",
    )


def _clock(limits: Thresholds) -> tuple[Alert, ...]:
    """Compared with Prometheus' own clock, which needs no time service to be believed; scrapes take up to seconds."""
    clock = f"node_time_seconds{_SELF}"
    return (
        Alert(
            alert="NodeClockSkew",
            expr=f"max by ({_BY}) (abs(timestamp({clock}) - {clock})) > {limits.clock_skew_seconds}",
            wait="10m",
            severity=Severity.P2,
            summary="The clock of node {{ $labels.node }} is wrong",
            description=f"{_WHERE}: its clock differs from that of Prometheus by {{{{ $value | humanizeDuration }}}}. "
            "Certificates, leases, and the order of logs and traces depend on it. Likely causes: no time service runs, "
            "its servers are out of reach, or the clock of Prometheus' own node is the wrong one (then all differ).",
            runbook="node-clock",
        ),
        Alert(
            alert="NodeClockNotSynchronised",
            expr=f"max by ({_BY}) (max_over_time(node_timex_sync_status{_SELF}[15m])) == 0\n"
            f"and\nmin by ({_BY}) (node_timex_maxerror_seconds{_SELF}) >= 16",
            wait="15m",
            severity=Severity.P3,
            summary="No time service keeps the clock of node {{ $labels.node }}",
            description=f"{_WHERE}: the kernel's clock is not synchronised and drifts. Likely causes: no time service "
            "runs, its servers are out of reach, or a virtual machine leaves its clock to the host (then silence it).",
            runbook="node-clock",
        ),
    )


def _kernel(limits: Thresholds) -> tuple[Alert, ...]:
    tables = (
        ("connections", "node_nf_conntrack_entries", "node_nf_conntrack_entries_limit"),
        ("files", "node_filefd_allocated", "node_filefd_maximum"),
    )
    return tuple(
        Alert(
            alert="NodeKernelTableNearlyFull",
            expr=f"max by ({_BY}) ({used}{_SELF}) / min by ({_BY}) ({most}{_SELF} > 0) > {limits.kernel_table_high}",
            wait="10m",
            severity=Severity.P2,
            labels={"table": table},
            summary=f"Node {{{{ $labels.node }}}} runs out of {table}",
            description=f"{_WHERE} uses {{{{ $value | humanizePercentage }}}} of the {table} that its kernel allows; "
            f"beyond them, new ones fail. Likely causes: a program that leaks {table}, a burst of short requests, a "
            "limit that was never raised.",
            runbook="node-kernel-table",
        )
        for table, used, most in tables
    )


def _exporter() -> tuple[Alert, ...]:
    return (
        Alert(
            alert="NodeCollectorFailing",
            expr="max by (cluster, environment, node, collector) "
            f'(node_scrape_collector_success{{{_JOB}, collector=~"{_EVERY_NODE_HAS}"}}) == 0',
            wait="15m",
            severity=Severity.P3,
            summary="node-exporter of {{ $labels.node }} cannot read {{ $labels.collector }}",
            description=f"{_WHERE}: collector {{{{ $labels.collector }}}} of node-exporter fails, so alerts that need "
            "it are blind there. Likely causes: a path of the host is not mounted, a kernel module is missing, a new "
            "kernel.",
            runbook="node-exporter",
        ),
        Alert(
            alert="NodeTextfileBroken",
            expr=f"max by ({_BY}) (node_textfile_scrape_error{_SELF}) == 1",
            wait="15m",
            severity=Severity.P3,
            summary="A file of the textfile directory of {{ $labels.node }} cannot be read",
            description=f"{_WHERE}: node-exporter cannot read or parse a file of its textfile directory; its metrics "
            "are missing. Likely causes: a script that does not write to a temporary file and rename it, a metric "
            "that is there twice, permissions.",
            runbook="node-exporter",
        ),
    )
