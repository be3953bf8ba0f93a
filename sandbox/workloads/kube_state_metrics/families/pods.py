"""Pods, as `internal/store/pod.go` defines their families."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.families.containers import CONTAINER_FAMILIES
from sandbox.workloads.kube_state_metrics.labels import labels_family
from sandbox.workloads.kube_state_metrics.model import Family, Resource, Sample
from sandbox.workloads.kube_state_metrics.objects import condition_of, items, moment, one_of, owners, part, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.kube_state_metrics.model import Object

_PHASES: Final = ("Pending", "Succeeded", "Failed", "Unknown", "Running")
_REASONS: Final = (
    "Evicted",
    "NodeAffinity",
    "NodeLost",
    "PreemptionByScheduler",
    "SchedulingGated",
    "Shutdown",
    "TerminationByKubelet",
    "UnexpectedAdmissionError",
)


def _info(pod: Object) -> Iterator[Sample]:
    controllers = [owner for owner in items(pod, "metadata", "ownerReferences") if owner.get("controller")]
    controller = controllers[0] if controllers else {}
    yield Sample(
        1.0,
        (
            ("host_ip", text(pod, "status", "hostIP")),
            ("pod_ip", text(pod, "status", "podIP")),
            ("node", text(pod, "spec", "nodeName")),
            ("created_by_kind", text(controller, "kind")),
            ("created_by_name", text(controller, "name")),
            ("priority_class", text(pod, "spec", "priorityClassName")),
            ("host_network", "true" if part(pod, "spec").get("hostNetwork") else "false"),
        ),
    )


def _start_time(pod: Object) -> Iterator[Sample]:
    return moment(pod, "status", "startTime")


def _phase(pod: Object) -> Iterator[Sample]:
    current = text(pod, "status", "phase")
    if current:
        yield from one_of(current, _PHASES, "phase")


def _ready(pod: Object) -> Iterator[Sample]:
    return condition_of(pod, "Ready")


def _reason(pod: Object) -> Iterator[Sample]:
    found = {
        text(pod, "status", "reason"),
        *(text(condition, "reason") for condition in items(pod, "status", "conditions")),
        *(text(status, "state", "terminated", "reason") for status in items(pod, "status", "containerStatuses")),
    }
    for reason in _REASONS:
        yield Sample(float(reason in found), (("reason", reason),))


def _families(keys: tuple[str, ...]) -> tuple[Family, ...]:
    return (
        *CONTAINER_FAMILIES,
        Family(name="kube_pod_info", help="Information about pod.", samples=_info),
        labels_family("kube_pod_labels", keys),
        Family(name="kube_pod_owner", help="Information about the Pod's owner.", samples=owners),
        Family(name="kube_pod_start_time", help="Start time in unix timestamp for a pod.", samples=_start_time),
        Family(name="kube_pod_status_phase", help="The pods current phase.", samples=_phase),
        Family(
            name="kube_pod_status_ready", help="Describes whether the pod is ready to serve requests.", samples=_ready
        ),
        Family(name="kube_pod_status_reason", help="The pod status reasons", samples=_reason, stable=False),
    )


PODS: Final = Resource(
    name="pods",
    group="/api/v1",
    type="*v1.Pod",
    identity=(("namespace", "namespace"), ("pod", "name"), ("uid", "uid")),
    families=_families,
    labelled=True,
)
