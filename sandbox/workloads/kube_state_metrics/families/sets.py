"""Deployments, stateful sets and daemon sets, as the files of their names in `internal/store` define their families."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.model import Family, Resource
from sandbox.workloads.kube_state_metrics.objects import pointer, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.kube_state_metrics.model import Object, Sample


def _value(obj: Object, *, path: tuple[str, ...]) -> Iterator[Sample]:
    return value(obj, *path)


def _pointer(obj: Object, *, path: tuple[str, ...]) -> Iterator[Sample]:
    return pointer(obj, *path)


_DEPLOYMENT: Final = (
    Family(
        name="kube_deployment_status_replicas_available",
        help="The number of available replicas per deployment.",
        samples=partial(_value, path=("status", "availableReplicas")),
    ),
    Family(
        name="kube_deployment_status_observed_generation",
        help="The generation observed by the deployment controller.",
        samples=partial(_value, path=("status", "observedGeneration")),
    ),
    Family(
        name="kube_deployment_spec_replicas",
        help="Number of desired pods for a deployment.",
        samples=partial(_pointer, path=("spec", "replicas")),
    ),
    Family(
        name="kube_deployment_metadata_generation",
        help="Sequence number representing a specific generation of the desired state.",
        samples=partial(_value, path=("metadata", "generation")),
    ),
)
_STATEFULSET: Final = (
    Family(
        name="kube_statefulset_status_replicas_ready",
        help="The number of ready replicas per StatefulSet.",
        samples=partial(_value, path=("status", "readyReplicas")),
    ),
    Family(
        name="kube_statefulset_replicas",
        help="Number of desired pods for a StatefulSet.",
        samples=partial(_pointer, path=("spec", "replicas")),
    ),
)
_DAEMONSET: Final = (
    Family(
        name="kube_daemonset_status_desired_number_scheduled",
        help="The number of nodes that should be running the daemon pod.",
        samples=partial(_value, path=("status", "desiredNumberScheduled")),
    ),
    Family(
        name="kube_daemonset_status_number_available",
        help=(
            "The number of nodes that should be running the daemon pod and have one or more of the daemon pod "
            "running and available"
        ),
        samples=partial(_value, path=("status", "numberAvailable")),
    ),
    Family(
        name="kube_daemonset_status_number_ready",
        help=(
            "The number of nodes that should be running the daemon pod and have one or more of the daemon pod "
            "running and ready."
        ),
        samples=partial(_value, path=("status", "numberReady")),
    ),
)


def _families(_: tuple[str, ...], *, families: tuple[Family, ...]) -> tuple[Family, ...]:
    return families


DEPLOYMENTS: Final = Resource(
    name="deployments",
    group="/apis/apps/v1",
    type="*v1.Deployment",
    identity=(("namespace", "namespace"), ("deployment", "name")),
    families=partial(_families, families=_DEPLOYMENT),
)
STATEFULSETS: Final = Resource(
    name="statefulsets",
    group="/apis/apps/v1",
    type="*v1.StatefulSet",
    identity=(("namespace", "namespace"), ("statefulset", "name")),
    families=partial(_families, families=_STATEFULSET),
)
DAEMONSETS: Final = Resource(
    name="daemonsets",
    group="/apis/apps/v1",
    type="*v1.DaemonSet",
    identity=(("namespace", "namespace"), ("daemonset", "name")),
    families=partial(_families, families=_DAEMONSET),
)
