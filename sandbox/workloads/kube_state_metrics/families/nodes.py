"""Nodes, as `internal/store/node.go` defines their families."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.labels import labels_family
from sandbox.workloads.kube_state_metrics.model import Family, Resource, Sample
from sandbox.workloads.kube_state_metrics.objects import condition, items, part, text
from sandbox.workloads.kube_state_metrics.quantities import amounts, milli, unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.kube_state_metrics.model import Object


def _info(node: Object) -> Iterator[Sample]:
    system = part(node, "status", "nodeInfo")
    internal = [text(a, "address") for a in items(node, "status", "addresses") if a.get("type") == "InternalIP"]
    yield Sample(
        1.0,
        (
            ("kernel_version", text(system, "kernelVersion")),
            ("os_image", text(system, "osImage")),
            ("container_runtime_version", text(system, "containerRuntimeVersion")),
            ("kubelet_version", text(system, "kubeletVersion")),
            ("kubeproxy_version", "deprecated"),
            ("provider_id", text(node, "spec", "providerID")),
            ("pod_cidr", text(node, "spec", "podCIDR")),
            ("system_uuid", text(system, "systemUUID")),
            ("internal_ip", internal[-1] if internal else ""),
        ),
    )


def _taints(node: Object) -> Iterator[Sample]:
    for taint in items(node, "spec", "taints"):
        yield Sample(1.0, tuple((field, text(taint, field)) for field in ("key", "value", "effect")))


def _unschedulable(node: Object) -> Iterator[Sample]:
    yield Sample(float(bool(part(node, "spec").get("unschedulable"))))


def _unit(resource: str) -> str | None:
    return "integer" if resource == "pods" else unit(resource)


def _amount(_: str, quantity: str) -> float:
    return milli(quantity)


def _resources(node: Object, *, side: str) -> Iterator[Sample]:
    return amounts(part(node, "status", side), (), _unit, _amount)


def _conditions(node: Object) -> Iterator[Sample]:
    for found in items(node, "status", "conditions"):
        yield from condition(text(found, "status"), (("condition", text(found, "type")),), "status")


def _families(keys: tuple[str, ...]) -> tuple[Family, ...]:
    return (
        Family(name="kube_node_info", help="Information about a cluster node.", samples=_info),
        labels_family("kube_node_labels", keys),
        Family(name="kube_node_spec_taint", help="The taint of a cluster node.", samples=_taints),
        Family(
            name="kube_node_spec_unschedulable", help="Whether a node can schedule new pods.", samples=_unschedulable
        ),
        Family(
            name="kube_node_status_allocatable",
            help="The allocatable for different resources of a node that are available for scheduling.",
            samples=partial(_resources, side="allocatable"),
        ),
        Family(
            name="kube_node_status_capacity",
            help="The capacity for different resources of a node.",
            samples=partial(_resources, side="capacity"),
        ),
        Family(name="kube_node_status_condition", help="The condition of a cluster node.", samples=_conditions),
    )


NODES: Final = Resource(
    name="nodes",
    group="/api/v1",
    type="*v1.Node",
    identity=(("node", "name"),),
    families=_families,
    namespaced=False,
    labelled=True,
)
