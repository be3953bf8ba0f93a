"""What kube-state-metrics exposes about nodes, namespaces, workloads, jobs, storage and quotas."""

from __future__ import annotations

from signals.catalogue.model import Metric, MetricType
from signals.catalogue.process import EPOCH_2020

_MODULE = "k8s.io/kube-state-metrics/v2 v2.19.1 internal/store/"


def _gauge(  # noqa: PLR0913  # one parameter per field of the record that varies here
    file: str,
    name: str,
    meaning: str,
    labels: tuple[str, ...],
    *,
    unit: str = "1",
    optional: tuple[str, ...] = (),
    event: str = "",
    low: float | None = 0.0,
    high: float | None = None,
) -> Metric:
    return Metric(
        name=name,
        type=MetricType.GAUGE,
        unit=unit,
        meaning=meaning,
        labels=labels,
        optional=optional,
        event=event,
        low=low,
        high=high,
        source=f"{_MODULE}{file}",
    )


_NODES = (
    _gauge(
        "node.go",
        "kube_node_info",
        "Always 1; versions of the node's software are in the labels.",
        ("node", "kernel_version", "os_image", "container_runtime_version", "kubelet_version"),
        optional=("internal_ip", "provider_id", "pod_cidr", "system_uuid", "kubeproxy_version"),
        low=1.0,
        high=1.0,
    ),
    _gauge(
        "node.go",
        "kube_node_labels",
        "Always 1; the node's labels, those alone that are allowed by name.",
        ("node",),
        optional=(
            "label_nvidia_com_gpu_product",
            "label_node_kubernetes_io_instance_type",
            "label_topology_kubernetes_io_zone",
            "label_node_role_kubernetes_io_control_plane",
        ),
        low=1.0,
        high=1.0,
    ),
    _gauge(
        "node.go",
        "kube_node_status_condition",
        "1 for the status that a condition of the node has, 0 for each other.",
        ("node", "condition", "status"),
        high=1.0,
    ),
    *(
        _gauge(
            "node.go",
            f"kube_node_status_{what}",
            f"{of} of a node, by resource: bytes, cores, or a number. Dots and slashes become underscores.",
            ("node", "resource", "unit"),
        )
        for what, of in (("capacity", "All"), ("allocatable", "What pods may ask for"))
    ),
    _gauge("node.go", "kube_node_spec_unschedulable", "1 if the node is cordoned.", ("node",), high=1.0),
    _gauge(
        "node.go",
        "kube_node_spec_taint",
        "Always 1, for every taint of a node.",
        ("node", "key", "effect"),
        optional=("value",),
        event="the first node is tainted",
        low=1.0,
        high=1.0,
    ),
    _gauge(
        "namespace.go",
        "kube_namespace_labels",
        "Always 1; the namespace's labels, those alone that are allowed by name.",
        ("namespace",),
        event="labels of namespaces are allowed by name",
        low=1.0,
        high=1.0,
    ),
    _gauge(
        "namespace.go",
        "kube_namespace_status_phase",
        "1 for the phase that a namespace is in, 0 for the other.",
        ("namespace", "phase"),
        high=1.0,
    ),
)


def _workload(kind: str, name: str, meaning: str) -> Metric:
    return _gauge(f"{kind}.go", f"kube_{kind}_{name}", meaning, ("namespace", kind), event=f"the first {kind} is made")


_WORKLOADS = (
    _workload("deployment", "spec_replicas", "Pods that a Deployment is to have."),
    _workload("deployment", "status_replicas_available", "Pods of a Deployment that are available."),
    _workload("deployment", "metadata_generation", "Counts changes of a Deployment's wanted state."),
    _workload("deployment", "status_observed_generation", "The change that its controller last acted upon."),
    _workload("statefulset", "replicas", "Pods that a StatefulSet is to have."),
    _workload("statefulset", "status_replicas_ready", "Pods of a StatefulSet that are ready."),
    _workload("daemonset", "status_desired_number_scheduled", "Nodes that a DaemonSet is to run on."),
    _workload("daemonset", "status_number_ready", "Nodes on which a pod of the DaemonSet is ready."),
    _workload("daemonset", "status_number_available", "Nodes on which a pod of the DaemonSet is available."),
)

_FIRST_JOB = "the first Job is made"
_JOB = ("namespace", "job_name")
_JOBS = (
    _gauge(
        "job.go",
        "kube_job_owner",
        "Always 1; the CronJob or other object that made the Job.",
        _JOB,
        optional=("owner_kind", "owner_name", "owner_is_controller"),
        event=_FIRST_JOB,
    ),
    _gauge("job.go", "kube_job_status_active", "Pods of a Job that run or wait.", _JOB, event=_FIRST_JOB),
    _gauge("job.go", "kube_job_status_succeeded", "Pods of a Job that succeeded.", _JOB, event=_FIRST_JOB),
    _gauge(
        "job.go",
        "kube_job_status_failed",
        "Pods of a Job that failed; once the Job has failed, 1 for the reason why.",
        _JOB,
        optional=("reason",),
        event=_FIRST_JOB,
    ),
    _gauge(
        "job.go",
        "kube_job_status_start_time",
        "When the Job was started, since 1970.",
        _JOB,
        event="the first Job is started",
        low=EPOCH_2020,
    ),
    _gauge(
        "job.go",
        "kube_job_complete",
        "1 for the status of the condition Complete, 0 for each other.",
        (*_JOB, "condition"),
        event="the first Job completes",
        high=1.0,
    ),
    _gauge(
        "job.go",
        "kube_job_failed",
        "1 for the status of the condition Failed, 0 for each other. It stays as long as the Job is kept.",
        (*_JOB, "condition"),
        event="the first Job fails for good",
        high=1.0,
    ),
    _gauge(
        "cronjob.go",
        "kube_cronjob_spec_suspend",
        "1 if a CronJob is suspended.",
        ("namespace", "cronjob"),
        event="the first CronJob is made",
        high=1.0,
    ),
    _gauge(
        "cronjob.go",
        "kube_cronjob_status_last_successful_time",
        "When a CronJob last succeeded, since 1970.",
        ("namespace", "cronjob"),
        event="a CronJob succeeds for the first time",
        low=EPOCH_2020,
    ),
)

_CLAIM = ("namespace", "persistentvolumeclaim")
_FIRST_CLAIM = "the first claim is made"
_STORAGE = (
    _gauge(
        "persistentvolumeclaim.go",
        "kube_persistentvolumeclaim_info",
        "Always 1; class and volume of a claim.",
        (*_CLAIM, "storageclass", "volumename"),
        optional=("volumemode",),
        event=_FIRST_CLAIM,
    ),
    _gauge(
        "persistentvolumeclaim.go",
        "kube_persistentvolumeclaim_status_phase",
        "1 for the phase that a claim is in, 0 for each other.",
        (*_CLAIM, "phase"),
        event=_FIRST_CLAIM,
        high=1.0,
    ),
    _gauge(
        "persistentvolumeclaim.go",
        "kube_persistentvolumeclaim_resource_requests_storage_bytes",
        "Size that a claim asks for.",
        _CLAIM,
        unit="bytes",
        event=_FIRST_CLAIM,
    ),
    _gauge(
        "persistentvolume.go",
        "kube_persistentvolume_status_phase",
        "1 for the phase that a volume is in, 0 for each other.",
        ("persistentvolume", "phase"),
        event="the first volume is made",
        high=1.0,
    ),
    _gauge(
        "resourcequota.go",
        "kube_resourcequota",
        "Limit (`hard`) and use (`used`) of a quota, by resource.",
        ("namespace", "resourcequota", "resource", "type"),
        event="the first quota is made",
    ),
)

OBJECT_METRICS: tuple[Metric, ...] = (*_NODES, *_WORKLOADS, *_JOBS, *_STORAGE)
