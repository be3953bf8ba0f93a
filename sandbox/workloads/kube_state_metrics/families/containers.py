"""Families about the containers of a pod, as `internal/store/pod.go` defines them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sandbox.workloads.kube_state_metrics.model import Family, Sample
from sandbox.workloads.kube_state_metrics.objects import items, part, text
from sandbox.workloads.kube_state_metrics.quantities import amounts, milli, unit, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.kube_state_metrics.model import Object


def _info(pod: Object) -> Iterator[Sample]:
    for container in items(pod, "spec", "containers"):
        for status in items(pod, "status", "containerStatuses"):
            if text(status, "name") == text(container, "name"):
                yield Sample(
                    1.0,
                    (
                        ("container", text(status, "name")),
                        ("image_spec", text(container, "image")),
                        ("image", text(status, "image")),
                        ("image_id", text(status, "imageID")),
                        ("container_id", text(status, "containerID")),
                    ),
                )


def _amount(name: str, quantity: str) -> float:
    return milli(quantity) if name == "cpu" else whole(quantity)


def _resources(pod: Object, *, side: str) -> Iterator[Sample]:
    node = text(pod, "spec", "nodeName")
    for container in items(pod, "spec", "containers"):
        labels = (("container", text(container, "name")), ("node", node))
        yield from amounts(part(container, "resources", side), labels, unit, _amount)


def _number(pod: Object, *, field: str) -> Iterator[Sample]:
    for status in items(pod, "status", "containerStatuses"):
        yield Sample(float(status.get(field) or 0), (("container", text(status, "name")),))


def _reason(pod: Object, *, field: str, state: str) -> Iterator[Sample]:
    for status in items(pod, "status", "containerStatuses"):
        held = part(status, field).get(state)
        if held is not None:
            yield Sample(1.0, (("container", text(status, "name")), ("reason", text(held, "reason"))))


CONTAINER_FAMILIES: tuple[Family, ...] = (
    Family(name="kube_pod_container_info", help="Information about a container in a pod.", samples=_info),
    Family(
        name="kube_pod_container_resource_limits",
        help=(
            "The number of requested limit resource by a container. It is recommended to use the "
            "kube_pod_resource_limits metric exposed by kube-scheduler instead, as it is more precise."
        ),
        samples=partial(_resources, side="limits"),
    ),
    Family(
        name="kube_pod_container_resource_requests",
        help=(
            "The number of requested request resource by a container. It is recommended to use the "
            "kube_pod_resource_requests metric exposed by kube-scheduler instead, as it is more precise."
        ),
        samples=partial(_resources, side="requests"),
    ),
    Family(
        name="kube_pod_container_status_last_terminated_reason",
        help="Describes the last reason the container was in terminated state.",
        samples=partial(_reason, field="lastState", state="terminated"),
        stable=False,
    ),
    Family(
        name="kube_pod_container_status_ready",
        help="Describes whether the containers readiness check succeeded.",
        samples=partial(_number, field="ready"),
    ),
    Family(
        name="kube_pod_container_status_restarts_total",
        help="The number of container restarts per container.",
        samples=partial(_number, field="restartCount"),
        type="counter",
    ),
    Family(
        name="kube_pod_container_status_waiting_reason",
        help="Describes the reason the container is currently in waiting state.",
        samples=partial(_reason, field="state", state="waiting"),
    ),
)
