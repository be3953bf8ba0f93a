"""What kube-state-metrics exposes about pods and their containers. Labels of pods stand in `kube_pod_labels` alone."""

from __future__ import annotations

from signals.catalogue.labels import WORKLOAD_IDENTITY
from signals.catalogue.model import Metric, MetricType
from signals.catalogue.process import EPOCH_2020

_SOURCE = "k8s.io/kube-state-metrics/v2 v2.19.1 internal/store/pod.go"
_POD = ("namespace", "pod", "uid")
_CONTAINER = (*_POD, "container")

IDENTITY_LABELS: tuple[str, ...] = tuple(f"label_plumbline_dev_{key}" for key in WORKLOAD_IDENTITY)
"""Labels of `kube_pod_labels` for the pod labels that this bundle uses unless the settings name others."""


def _gauge(  # noqa: PLR0913  # one parameter per field of the record that varies here
    name: str,
    meaning: str,
    labels: tuple[str, ...],
    *,
    unit: str = "1",
    optional: tuple[str, ...] = (),
    event: str = "",
    low: float = 0.0,
    high: float | None = 1.0,
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
        source=_SOURCE,
    )


_PODS = (
    _gauge(
        "kube_pod_info",
        "Always 1, for every pod; `node` is empty until it is scheduled.",
        (*_POD, "node", "created_by_kind", "created_by_name"),
        optional=("host_ip", "pod_ip", "priority_class", "host_network"),
        low=1.0,
    ),
    _gauge(
        "kube_pod_owner",
        "Always 1; the object that made the pod.",
        (*_POD, "owner_kind", "owner_name", "owner_is_controller"),
        low=1.0,
    ),
    _gauge(
        "kube_pod_labels",
        "Always 1; the pod's labels, those alone that are allowed by name.",
        _POD,
        optional=IDENTITY_LABELS,
        low=1.0,
    ),
    _gauge("kube_pod_status_phase", "1 for the phase that the pod is in, 0 for each other.", (*_POD, "phase")),
    _gauge(
        "kube_pod_status_ready",
        "1 for the value of the condition Ready, 0 for each other.",
        (*_POD, "condition"),
    ),
    _gauge(
        "kube_pod_status_reason",
        "1 for the reason why a pod is as it is (Evicted, SchedulingGated, …), 0 for each other that is known.",
        (*_POD, "reason"),
    ),
    _gauge(
        "kube_pod_start_time",
        "When the kubelet first saw the pod, since 1970.",
        _POD,
        unit="seconds",
        low=EPOCH_2020,
        high=None,
    ),
)

_CONTAINERS = (
    _gauge(
        "kube_pod_container_info",
        "Always 1; the image that a container runs.",
        (*_CONTAINER, "image", "image_id", "container_id"),
        optional=("image_spec",),
        low=1.0,
    ),
    Metric(
        name="kube_pod_container_status_restarts_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Restarts of a container since the pod was made.",
        labels=_CONTAINER,
        source=_SOURCE,
    ),
    _gauge("kube_pod_container_status_ready", "1 if the container's readiness probe succeeds.", _CONTAINER),
    _gauge(
        "kube_pod_container_status_waiting_reason",
        "1 with the reason for which a container waits (CrashLoopBackOff, ImagePullBackOff, …).",
        (*_CONTAINER, "reason"),
        event="a container waits",
    ),
    _gauge(
        "kube_pod_container_status_last_terminated_reason",
        "1 with the reason why a container last ended (OOMKilled, Error, Completed, …).",
        (*_CONTAINER, "reason"),
        event="a container was started again",
    ),
    *(
        _gauge(
            f"kube_pod_container_resource_{what}",
            f"What a container {does}, by resource: bytes, cores, or a number. Dots and slashes become underscores.",
            (*_CONTAINER, "node", "resource", "unit"),
            high=None,
        )
        for what, does in (("requests", "asks for"), ("limits", "may use at most"))
    ),
)

POD_METRICS: tuple[Metric, ...] = (*_PODS, *_CONTAINERS)
