"""Volumes and claims, as `internal/store/persistentvolume.go` and `persistentvolumeclaim.go` define their families."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.model import Family, Resource, Sample
from sandbox.workloads.kube_state_metrics.objects import one_of, part, text
from sandbox.workloads.kube_state_metrics.quantities import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.kube_state_metrics.model import Object

_CLAIM_PHASES: Final = ("Lost", "Bound", "Pending")
_VOLUME_PHASES: Final = ("Pending", "Available", "Bound", "Released", "Failed")
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"


def _info(claim: Object) -> Iterator[Sample]:
    annotations = part(claim, "metadata", "annotations")
    storage_class = annotations.get(_CLASS_ANNOTATION, text(claim, "spec", "storageClassName"))
    yield Sample(
        1.0,
        (
            ("storageclass", str(storage_class)),
            ("volumename", text(claim, "spec", "volumeName")),
            ("volumemode", text(claim, "spec", "volumeMode")),
        ),
    )


def _phase(obj: Object, *, phases: tuple[str, ...]) -> Iterator[Sample]:
    current = text(obj, "status", "phase")
    if current:
        yield from one_of(current, phases, "phase")


def _requested(claim: Object) -> Iterator[Sample]:
    requests = part(claim, "spec", "resources", "requests")
    if "storage" in requests:
        yield Sample(whole(requests["storage"]))


def _claim_families(_: tuple[str, ...]) -> tuple[Family, ...]:
    return (
        Family(
            name="kube_persistentvolumeclaim_info", help="Information about persistent volume claim.", samples=_info
        ),
        Family(
            name="kube_persistentvolumeclaim_status_phase",
            help="The phase the persistent volume claim is currently in.",
            samples=partial(_phase, phases=_CLAIM_PHASES),
        ),
        Family(
            name="kube_persistentvolumeclaim_resource_requests_storage_bytes",
            help="The capacity of storage requested by the persistent volume claim.",
            samples=_requested,
        ),
    )


def _volume_families(_: tuple[str, ...]) -> tuple[Family, ...]:
    return (
        Family(
            name="kube_persistentvolume_status_phase",
            help="The phase indicates if a volume is available, bound to a claim, or released by a claim.",
            samples=partial(_phase, phases=_VOLUME_PHASES),
        ),
    )


VOLUME_CLAIMS: Final = Resource(
    name="persistentvolumeclaims",
    group="/api/v1",
    type="*v1.PersistentVolumeClaim",
    identity=(("namespace", "namespace"), ("persistentvolumeclaim", "name")),
    families=_claim_families,
)
VOLUMES: Final = Resource(
    name="persistentvolumes",
    group="/api/v1",
    type="*v1.PersistentVolume",
    identity=(("persistentvolume", "name"),),
    families=_volume_families,
    namespaced=False,
)
