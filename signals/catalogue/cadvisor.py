"""What the kubelet's built-in cAdvisor exposes about containers and the machine."""

from __future__ import annotations

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer
from signals.catalogue.process import EPOCH_2020

_MODULE = "github.com/google/cadvisor v0.52.1 "
_CONTAINERS = _MODULE + "metrics/prometheus.go"
_MACHINE = _MODULE + "metrics/prometheus_machine.go"
_IDENTITY = ("namespace", "pod", "container")

_USE = (
    Metric(
        name="container_cpu_usage_seconds_total",
        type=MetricType.COUNTER,
        unit="seconds",
        meaning="Processor time used by a container; for a whole pod `container` is empty.",
        labels=(*_IDENTITY, "cpu"),
        source=_CONTAINERS,
    ),
    Metric(
        name="container_cpu_cfs_throttled_periods_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Scheduling periods in which a container ran into its processor limit.",
        labels=_IDENTITY,
        event="a container with a processor limit runs",
        source=_CONTAINERS,
    ),
    Metric(
        name="container_memory_working_set_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Memory that cannot be given back at once: what the out-of-memory killer goes by.",
        labels=_IDENTITY,
        source=_CONTAINERS,
    ),
    Metric(
        name="container_memory_rss",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Anonymous memory, without page cache.",
        labels=_IDENTITY,
        source=_CONTAINERS,
    ),
    Metric(
        name="container_oom_events_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Kills by the out-of-memory killer in a container.",
        labels=_IDENTITY,
        source=_CONTAINERS,
    ),
    Metric(
        name="container_network_receive_bytes_total",
        type=MetricType.COUNTER,
        unit="bytes",
        meaning="Bytes received by a pod, per interface.",
        labels=("namespace", "pod", "interface"),
        source=_CONTAINERS,
    ),
    Metric(
        name="container_network_transmit_bytes_total",
        type=MetricType.COUNTER,
        unit="bytes",
        meaning="Bytes sent by a pod, per interface.",
        labels=("namespace", "pod", "interface"),
        source=_CONTAINERS,
    ),
)

_PLACE = (
    Metric(
        name="container_last_seen",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When cAdvisor last saw the container, since 1970.",
        labels=_IDENTITY,
        low=EPOCH_2020,
        source=_CONTAINERS,
    ),
    Metric(
        name="container_start_time_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When the container was created, since 1970.",
        labels=_IDENTITY,
        source=_CONTAINERS,
    ),
    Metric(
        name="container_spec_memory_limit_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Memory limit of a container; 0 means none.",
        labels=_IDENTITY,
        source=_CONTAINERS,
    ),
    Metric(
        name="machine_cpu_cores",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Logical processor cores of the node.",
        labels=("boot_id",),
        low=1.0,
        source=_MACHINE,
    ),
    Metric(
        name="machine_memory_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Memory of the node.",
        labels=("boot_id",),
        low=100_000_000.0,
        source=_MACHINE,
    ),
)

_DROPS = (
    Drop(
        metric=".+",
        labels=(("id", "/.+"), ("pod", "")),
        why="Control groups that belong to no pod: slices, system services, parents of pods, each adding up what the "
        "pods below it already say. The root `/`, which is the node, stays.",
    ),
    Drop(
        metric="container_(tasks_state|memory_failures_total|memory_failcnt|memory_numa_pages|ulimits_soft)",
        why="Kernel internals with many label values per container and no question that they answer here.",
    ),
    Drop(
        metric="container_(blkio_device_usage_total|cpu_load_.+|fs_inodes_.+|fs_sector_.+)",
        why="Per device and container; bytes read and written, which are asked for, stay.",
    ),
    Drop(
        metric="container_fs_((read|write)_seconds_total|io_.+|(reads|writes)_merged_total)",
        why="Internals of the disk scheduler per container and device.",
    ),
)

PRODUCER = Producer(
    job="cadvisor",
    title="cAdvisor in the kubelet",
    versions="Kubernetes 1.34 (cAdvisor 0.52), containerd 1.6 and later",
    target_labels=("cluster", "environment", "node"),
    per_node=True,
    metrics=(*_USE, *_PLACE),
    drops=_DROPS,
    own_timestamps=True,
    # Housekeeping runs every 15 s and is spread by up to as much again, so that containers do not all come at once.
    sample_delay_seconds=30.0,
    # By structure: 27 series for each of two containers, the sandbox and their sum, and 8 for each network interface of
    # a pod; the node itself has some for every disk and processor.
    budget=Budget(per_node=400, per_pod=130),
)
