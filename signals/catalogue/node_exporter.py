"""What node-exporter exposes about a node: processors, memory, disks, kernel. The network is in a module of its own."""

from __future__ import annotations

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer
from signals.catalogue.node_network import NETWORK_METRICS
from signals.catalogue.process import EPOCH_2020, PROCESS_METRICS

COLLECTORS: tuple[str, ...] = (
    *("conntrack", "cpu", "diskstats", "edac", "filefd", "filesystem", "infiniband", "loadavg", "meminfo", "netclass"),
    *("netdev", "netstat", "pressure", "sockstat", "stat", "textfile", "time", "timex", "uname", "vmstat"),
)
"""Collectors that run; every other one is off, so that nothing is scraped that no page describes."""

_POD_DEVICES = "^(veth|cali|lxc|cni|docker|br-|flannel|tunl|vxlan|kube-|nodelocaldns|ifb|dummy|lo$).*"
# Below these directories every container has mounts of its own; they themselves may be disks that fill up.
_MOUNTS = "^/((dev|proc|run|sys|var/run)($|/)|var/lib/(docker|kubelet|containerd|containers|plumbline)/.+)"
_FILE_SYSTEMS = (
    "^(autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|efivarfs|erofs|fuse.lxcfs|fusectl|hugetlbfs|"
    "iso9660|mqueue|nsfs|overlay|proc|procfs|pstore|ramfs|rpc_pipefs|securityfs|selinuxfs|squashfs|sysfs|tmpfs|tracefs)$"
)

FLAGS: tuple[str, ...] = (
    "--collector.disable-defaults",
    *(f"--collector.{name}" for name in COLLECTORS),
    "--no-collector.cpu.guest",
    f"--collector.netdev.device-exclude={_POD_DEVICES}",
    f"--collector.netclass.ignored-devices={_POD_DEVICES}",
    f"--collector.filesystem.mount-points-exclude={_MOUNTS}",
    f"--collector.filesystem.fs-types-exclude={_FILE_SYSTEMS}",
    "--collector.vmstat.fields=^(oom_kill|pgmajfault)$",
    "--collector.netstat.fields=^(Tcp_(OutSegs|RetransSegs)|TcpExt_(ListenDrops|ListenOverflows|TCPTimeouts))$",
)
"""How node-exporter must be started for this page to be true. Paths and ports are the deployment's own matter."""

_MODULE = "github.com/prometheus/node_exporter v1.12.1 collector/"
_FILE_SYSTEM = ("device", "mountpoint", "fstype")
_PSI = "the kernel accounts for pressure (4.20 or newer, not switched off with psi=0)"


def _metric(  # noqa: PLR0913  # one parameter per field of the record that varies here
    name: str,
    kind: MetricType,
    unit: str,
    meaning: str,
    file: str,
    *,
    labels: tuple[str, ...] = (),
    event: str = "",
    low: float | None = 0.0,
    high: float | None = None,
) -> Metric:
    return Metric(
        name=name,
        type=kind,
        unit=unit,
        meaning=meaning,
        labels=labels,
        event=event,
        low=low,
        high=high,
        source=f"{_MODULE}{file}",
    )


_GAUGE, _COUNTER, _UNKNOWN = MetricType.GAUGE, MetricType.COUNTER, MetricType.UNKNOWN

_PROCESSORS = (
    _metric(
        "node_cpu_seconds_total",
        _COUNTER,
        "seconds",
        "Time of each logical processor, by what it was spent on.",
        "cpu_linux.go",
        labels=("cpu", "mode"),
    ),
    _metric("node_load1", _GAUGE, "1", "Processes that run or wait, mean over a minute.", "loadavg.go"),
    _metric("node_load5", _GAUGE, "1", "Processes that run or wait, mean over five minutes.", "loadavg.go"),
    _metric("node_load15", _GAUGE, "1", "Processes that run or wait, mean over fifteen minutes.", "loadavg.go"),
    _metric("node_context_switches_total", _COUNTER, "1", "Context switches.", "stat_linux.go"),
    _metric("node_procs_blocked", _GAUGE, "1", "Processes that wait for a disk.", "stat_linux.go"),
)

_MEMORY = (
    _metric(
        "node_memory_MemTotal_bytes", _GAUGE, "bytes", "Memory of the node.", "meminfo_linux.go", low=100_000_000.0
    ),
    _metric(
        "node_memory_MemAvailable_bytes",
        _GAUGE,
        "bytes",
        "Memory that programs can still get without swapping; page cache counts as available.",
        "meminfo_linux.go",
    ),
    _metric("node_memory_MemFree_bytes", _GAUGE, "bytes", "Memory that nothing uses at all.", "meminfo_linux.go"),
    _metric("node_memory_Cached_bytes", _GAUGE, "bytes", "Page cache.", "meminfo_linux.go"),
    _metric("node_memory_Dirty_bytes", _GAUGE, "bytes", "Memory that waits to be written to disk.", "meminfo_linux.go"),
    _metric("node_memory_SwapTotal_bytes", _GAUGE, "bytes", "Swap space; 0 where there is none.", "meminfo_linux.go"),
    _metric("node_memory_SwapFree_bytes", _GAUGE, "bytes", "Unused swap space.", "meminfo_linux.go"),
    _metric(
        "node_vmstat_oom_kill",
        _UNKNOWN,
        "1",
        "Kills by the out-of-memory killer since the node started, those within a container's limit included.",
        "vmstat_linux.go",
    ),
    _metric("node_vmstat_pgmajfault", _UNKNOWN, "1", "Page faults that had to read from a disk.", "vmstat_linux.go"),
    _metric(
        "node_edac_correctable_errors_total",
        _COUNTER,
        "1",
        "Memory errors that ECC corrected, per memory controller.",
        "edac_linux.go",
        labels=("controller",),
        event="the node has ECC memory and a driver for its controller",
    ),
    _metric(
        "node_edac_uncorrectable_errors_total",
        _COUNTER,
        "1",
        "Memory errors that ECC could not correct, per memory controller.",
        "edac_linux.go",
        labels=("controller",),
        event="the node has ECC memory and a driver for its controller",
    ),
)

_PRESSURE = tuple(
    _metric(
        f"node_pressure_{resource}_{how}_seconds_total", _COUNTER, "seconds", meaning, "pressure_linux.go", event=_PSI
    )
    for resource, how, meaning in (
        ("cpu", "waiting", "Time in which some process waited for a processor."),
        ("io", "waiting", "Time in which some process waited for a disk."),
        ("io", "stalled", "Time in which no process got on, for waiting for a disk."),
        ("memory", "waiting", "Time in which some process waited for memory."),
        ("memory", "stalled", "Time in which no process got on, for waiting for memory."),
    )
)

_FILES = (
    *(
        _metric(f"node_filesystem_{what}", _GAUGE, unit, meaning, "filesystem_common.go", labels=_FILE_SYSTEM)
        for what, unit, meaning in (
            ("size_bytes", "bytes", "Size of a mounted file system."),
            ("avail_bytes", "bytes", "Space that programs without privileges can still use."),
            ("files", "1", "Inodes of a file system; 0 where it makes them as needed."),
            ("files_free", "1", "Free inodes; without one no file can be made, whatever space is left."),
        )
    ),
    _metric(
        "node_filesystem_readonly",
        _GAUGE,
        "1",
        "1 if mounted read-only: by choice, or because the kernel found it damaged.",
        "filesystem_common.go",
        labels=_FILE_SYSTEM,
        high=1.0,
    ),
    _metric(
        "node_filesystem_device_error",
        _GAUGE,
        "1",
        "1 if the file system does not answer, as an NFS mount whose server is gone.",
        "filesystem_common.go",
        labels=_FILE_SYSTEM,
        high=1.0,
    ),
    _metric("node_filefd_allocated", _GAUGE, "1", "Open files of the whole node.", "filefd_linux.go"),
    _metric("node_filefd_maximum", _GAUGE, "1", "Open files that the kernel allows.", "filefd_linux.go", low=1.0),
    *(
        _metric(f"node_disk_{what}", _COUNTER, unit, meaning, "diskstats_common.go", labels=("device",))
        for what, unit, meaning in (
            ("read_bytes_total", "bytes", "Bytes read from a disk."),
            ("written_bytes_total", "bytes", "Bytes written to a disk."),
            ("reads_completed_total", "1", "Reads from a disk."),
            ("writes_completed_total", "1", "Writes to a disk."),
            ("read_time_seconds_total", "seconds", "Time spent by all reads, queueing included."),
            ("write_time_seconds_total", "seconds", "Time spent by all writes, queueing included."),
            ("io_time_seconds_total", "seconds", "Time in which the disk was busy."),
        )
    ),
)

_NODE = (
    _metric("node_boot_time_seconds", _GAUGE, "seconds", "When the node started.", "stat_linux.go", low=EPOCH_2020),
    _metric("node_time_seconds", _GAUGE, "seconds", "The node's clock at the scrape.", "time.go", low=EPOCH_2020),
    _metric(
        "node_timex_sync_status",
        _GAUGE,
        "1",
        "1 if the kernel's clock is kept by a time service (NTP, PTP).",
        "timex.go",
        high=1.0,
    ),
    _metric(
        "node_timex_offset_seconds",
        _GAUGE,
        "seconds",
        "Offset from the reference clock that the time service still corrects.",
        "timex.go",
        low=None,
    ),
    _metric("node_timex_maxerror_seconds", _GAUGE, "seconds", "Largest error that the clock may have.", "timex.go"),
    _metric(
        "node_uname_info",
        _GAUGE,
        "1",
        "Always 1; kernel and host name are in the labels.",
        "uname.go",
        labels=("nodename", "release", "machine"),
        low=1.0,
        high=1.0,
    ),
    _metric(
        "node_textfile_scrape_error",
        _GAUGE,
        "1",
        "1 if a file of the textfile directory cannot be read or parsed.",
        "textfile.go",
        high=1.0,
    ),
    _metric(
        "node_scrape_collector_success",
        _GAUGE,
        "1",
        "1 if the collector found something; 0 also where the hardware does not exist.",
        "collector.go",
        labels=("collector",),
        high=1.0,
    ),
)

_DROPS = (
    Drop(
        metric="node_memory_(Active|Inactive|Anon|Bounce|Commit|DirectMap|FileHuge|FilePmd|HugePages|Hardware|"
        "KernelStack|KReclaimable|Mapped|Mlocked|NFS|PageTables|Percpu|SecPage|Shmem|SReclaim|SUnreclaim|Slab|"
        "SwapCached|Unaccepted|Unevictable|Vmalloc|Writeback|Zswap).*",
        why="Internals of the kernel's memory management. Total, available, free, cache, dirty and swap stay.",
    ),
    Drop(metric="node_memory_(Hugepagesize|Hugetlb|Balloon|GPU|Cma|Buffers).*", why="The same."),
    Drop(
        metric="node_disk_(discard|flush|ata_|device_mapper|filesystem_|info|io_now|io_time_weighted|"
        "reads_merged|writes_merged).*",
        why="Internals of the block layer; bytes, operations, their time and busy time stay.",
    ),
    Drop(metric="node_filesystem_(free_bytes|purgeable_bytes|mount_info)", why="What is available is what counts."),
    Drop(
        metric="node_timex_(pps|tick|loop|frequency|tai|status|estimated).*", why="Internals of the clock discipline."
    ),
    Drop(metric="node_time_(zone|clocksource).*", why="Settings of the clock, the same for months."),
    Drop(metric="node_scrape_collector_duration_seconds", why="The duration of the whole scrape is kept with `up`."),
    Drop(metric="node_(forks|intr)_total", why="No question of this bundle is answered by them."),
    Drop(metric="node_edac_csrow_.*", why="Per memory module; the controller says that there are errors."),
    Drop(
        metric="node_network_(address_assign_type|device_id|dormant|flags|iface_.+|name_assign_type|net_dev_group|"
        "protocol_type|info|mtu_bytes|carrier|transmit_queue_length|carrier_(up|down)_changes_total)",
        why="Settings of a network device, the same for months.",
    ),
    Drop(
        metric="node_network_(receive|transmit)_(compressed|fifo|frame|multicast|nohandler|carrier|colls)_total",
        why="Kinds of errors that `errs` and `drop` already count.",
    ),
    Drop(
        metric="node_sockstat_(FRAG|RAW|UDPLITE|TCP6|UDP6|UDP|TCP_(inuse|mem|orphan)).*",
        why="Sockets in use and allocated for TCP, and those waiting to be closed, stay.",
    ),
    Drop(metric="node_nf_conntrack_stat_(found|ignore|invalid|search_restart|insert)", why="Debugging of netfilter."),
    Drop(
        metric="node_infiniband_(legacy_.+|.*multicast.*|.*unicast.*|rx_.+|roce_.+|resp_.+|req_.+|info|lifespan_.+|"
        "duplicate_.+|implied_.+|port_constraint_.+|port_receive_(remote|switch)_.+|vl15_.+)",
        why="Counters for developers of the verbs interface. Bytes, packets, discards, errors, retransmissions, "
        "timeouts, congestion and the state of the link stay.",
    ),
)

PRODUCER = Producer(
    job="node-exporter",
    title="node-exporter",
    versions="node-exporter 1.12",
    target_labels=("cluster", "environment", "node"),
    per_node=True,
    instance_is_node=True,
    metrics=(*_PROCESSORS, *_MEMORY, *_PRESSURE, *_FILES, *_NODE, *NETWORK_METRICS, *PROCESS_METRICS),
    drops=_DROPS,
    identity=("cpu", "device", "mountpoint", "port", "controller"),
    # By structure, for a large GPU server: 8 modes of 256 logical processors, 12 RDMA ports of 25 series, 24 network
    # devices of 12, 24 disks of 7, 32 file systems of 6, and 260 of which a node has one.
    budget=Budget(per_target=3500),
)
