"""What the kubelet exposes about itself, its pods and their volumes."""

from __future__ import annotations

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer
from signals.catalogue.process import EPOCH_2020, PROCESS_METRICS

_MODULE = "k8s.io/kubernetes v1.34.4 "
_METRICS = _MODULE + "pkg/kubelet/metrics/metrics.go"
_VOLUMES = _MODULE + "pkg/kubelet/metrics/collectors/volume_stats.go"
_VOLUME_EVENT = "a pod mounts a claim whose driver reports statistics (volumes on a host path never do)"

_PODS = (
    Metric(
        name="kubelet_running_pods",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Pods with a running sandbox.",
        source=_METRICS,
    ),
    Metric(
        name="kubelet_running_containers",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Containers by state.",
        labels=("container_state",),
        source=_METRICS,
    ),
    Metric(
        name="kubelet_started_pods_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Sandboxes created since the kubelet started.",
        source=_METRICS,
    ),
    Metric(
        name="kubelet_started_pods_errors_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Sandboxes that could not be created: network plugin or runtime.",
        source=_METRICS,
    ),
    Metric(
        name="kubelet_started_containers_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Containers created since the kubelet started.",
        labels=("container_type",),
        event="the kubelet creates its first container after its own start",
        source=_METRICS,
    ),
    Metric(
        name="kubelet_pod_start_duration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="From first sight of a pod until it runs.",
        labels=("le",),
        source=_METRICS,
    ),
    Metric(
        name="kubelet_evictions",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Pods evicted, by the resource that ran short.",
        labels=("eviction_signal",),
        event="the kubelet evicts its first pod for that resource",
        source=_METRICS,
    ),
)

_RUNTIME = (
    Metric(
        name="kubelet_pleg_relist_duration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="Time to list all containers; the node goes NotReady when it passes three minutes.",
        labels=("le",),
        source=_METRICS,
    ),
    Metric(
        name="kubelet_pleg_last_seen_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When containers were last listed, since 1970.",
        low=EPOCH_2020,
        source=_METRICS,
    ),
    Metric(
        name="kubelet_pod_worker_duration_seconds",
        type=MetricType.HISTOGRAM,
        unit="seconds",
        meaning="Time to bring one pod into its wanted state.",
        labels=("operation_type", "le"),
        source=_METRICS,
    ),
    Metric(
        name="kubelet_runtime_operations_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Calls to the container runtime.",
        labels=("operation_type",),
        source=_METRICS,
    ),
    Metric(
        name="kubelet_runtime_operations_errors_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Failed calls to the container runtime.",
        labels=("operation_type",),
        event="the first call to the runtime of that kind fails",
        source=_METRICS,
    ),
    Metric(
        name="rest_client_requests_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="The kubelet's calls to the API server, by status code.",
        labels=("code", "method", "host"),
        source="k8s.io/component-base v0.34.4 metrics/prometheus/restclient/metrics.go",
    ),
    Metric(
        name="kubernetes_build_info",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Always 1; the kubelet's version is in the labels.",
        labels=("git_version", "git_commit"),
        low=1.0,
        high=1.0,
        source="k8s.io/component-base v0.34.4 metrics/prometheus/version/metrics.go",
    ),
)

_STATISTICS = (
    Metric(
        name="kubelet_volume_stats_capacity_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Size of a mounted claim's file system.",
        labels=("namespace", "persistentvolumeclaim"),
        event=_VOLUME_EVENT,
        source=_VOLUMES,
    ),
    Metric(
        name="kubelet_volume_stats_available_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Free space of a mounted claim's file system.",
        labels=("namespace", "persistentvolumeclaim"),
        event=_VOLUME_EVENT,
        source=_VOLUMES,
    ),
)

_DROPS = (
    Drop(
        metric="kubelet_node_name",
        why="Its label `node` clashes with the target's, which says the same: ask `up` for the node.",
    ),
)

PRODUCER = Producer(
    job="kubelet",
    title="Kubelet",
    versions="Kubernetes 1.34",
    target_labels=("cluster", "environment", "node"),
    per_node=True,
    metrics=(*_PODS, *_RUNTIME, *_STATISTICS, *PROCESS_METRICS),
    drops=_DROPS,
    # By structure: histograms for 20 operations of the runtime and of pods, its client and its server; six series for
    # each claim that a pod mounts.
    budget=Budget(per_node=3000, per_pod=6),
)
