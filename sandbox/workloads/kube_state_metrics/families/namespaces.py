"""Namespaces and their quotas, as `internal/store/namespace.go` and `resourcequota.go` define their families."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.labels import labels_family
from sandbox.workloads.kube_state_metrics.model import Family, Resource, Sample
from sandbox.workloads.kube_state_metrics.objects import one_of, part, text
from sandbox.workloads.kube_state_metrics.quantities import milli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.kube_state_metrics.model import Object


def _phase(namespace: Object) -> Iterator[Sample]:
    return one_of(text(namespace, "status", "phase"), ("Active", "Terminating"), "phase")


def _quota(quota: Object) -> Iterator[Sample]:
    for kind in ("hard", "used"):
        for name, quantity in sorted(part(quota, "status", kind).items()):
            yield Sample(milli(quantity), (("resource", name), ("type", kind)))


def _namespace_families(keys: tuple[str, ...]) -> tuple[Family, ...]:
    return (
        labels_family("kube_namespace_labels", keys),
        Family(name="kube_namespace_status_phase", help="kubernetes namespace status phase.", samples=_phase),
    )


def _quota_families(_: tuple[str, ...]) -> tuple[Family, ...]:
    return (Family(name="kube_resourcequota", help="Information about resource quota.", samples=_quota),)


NAMESPACES: Final = Resource(
    name="namespaces",
    group="/api/v1",
    type="*v1.Namespace",
    identity=(("namespace", "name"),),
    families=_namespace_families,
    namespaced=False,
    labelled=True,
)
RESOURCE_QUOTAS: Final = Resource(
    name="resourcequotas",
    group="/api/v1",
    type="*v1.ResourceQuota",
    identity=(("namespace", "namespace"), ("resourcequota", "name")),
    families=_quota_families,
)
