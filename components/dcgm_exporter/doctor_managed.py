"""Findings of the conflict doctor where the stack deploys an exporter of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.dcgm_exporter import remedies
from components.dcgm_exporter.capabilities import is_shared, unsupported
from components.dcgm_exporter.findings import SECTION, Finding, Wanted, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.dcgm_exporter.seen import Agent, Cluster, Node


def managed(wanted: Wanted, cluster: Cluster) -> Iterator[Finding]:
    """Other clients of DCGM, nodes that are missed, and settings that the nodes' labels speak against."""
    ours = [node for node in cluster.nodes if wanted.node_selector.items() <= node.labels.items()]
    yield from _other_clients(wanted, cluster, frozenset(node.name for node in ours))
    yield from _selection(wanted, cluster, ours)
    yield from _runtime(wanted, cluster)
    measured = [node for node in ours if node.has_gpus]
    yield from _sharing(wanted, measured)
    yield from _dra(wanted, cluster)
    for kind, nodes, why in unsupported(wanted.fields, measured):
        yield Finding(kind=kind, where=shown(nodes), why=why, remedy=remedies.LEAVE_FIELDS_OUT, fatal=False)


def _other_clients(wanted: Wanted, cluster: Cluster, ours: frozenset[str]) -> Iterator[Finding]:
    others = [agent for agent in cluster.agents if agent.instance != wanted.instance]
    for agent in others:
        shared = sorted(agent.nodes & ours)
        if agent.role == "exporter":
            yield from _second_exporter(agent, shared, cluster)
        elif agent.role == "hostengine" and shared and wanted.hostengine is None:
            yield Finding(
                kind="hostengine_running",
                where=agent.where,
                why=f"a hostengine runs on {shown(shared)}; a second one in the exporter breaks profiling for both",
                remedy=remedies.attach(agent),
                fatal=True,
            )
        elif agent.role == "port-holder" and shared:
            yield Finding(
                kind="port_held",
                where=agent.where,
                why=f"holds a port of DCGM on {shown(shared)} under a name that is not known",
                remedy="If it is an exporter or a hostengine, set mode `existing`, or `hostengine` to its address.",
                fatal=False,
            )
    if wanted.hostengine is not None and not any(agent.role == "hostengine" for agent in others):
        yield Finding(
            kind="hostengine_not_seen",
            where=f"{SECTION}.hostengine",
            why=f"no pod of this cluster runs the hostengine at {wanted.hostengine}",
            remedy="Right if it is a service of the nodes; otherwise remove the key, and the exporter brings its own.",
            fatal=False,
        )


def _second_exporter(agent: Agent, shared: list[str], cluster: Cluster) -> Iterator[Finding]:
    """One that waits for nodes of its own is told about: the day they come, there are two."""
    if shared:
        whose = f"of the Plumbline stack in namespace {agent.instance} " if agent.instance else ""
        why = f"an exporter {whose}already runs on {shown(shared)}; a second one breaks profiling and doubles every GPU"
        yield Finding(
            kind="second_exporter",
            where=agent.where,
            why=why,
            remedy=remedies.use_existing(agent, cluster.nodes),
            fatal=True,
        )
    elif not agent.nodes:
        yield Finding(
            kind="idle_exporter",
            where=agent.where,
            why="an exporter is installed and waits for nodes; on a node that both select there will be two",
            remedy=f"Remove it before GPU nodes join. {remedies.use_existing(agent, cluster.nodes)}",
            fatal=False,
        )


def _selection(wanted: Wanted, cluster: Cluster, ours: list[Node]) -> Iterator[Finding]:
    gpus = [node for node in cluster.nodes if node.has_gpus]
    missed = [node.name for node in gpus if node not in ours]
    where = f"{SECTION}.node_selector"
    if not gpus:
        yield Finding(
            kind="no_gpu_nodes",
            where="nodes",
            why="no node offers or holds a GPU, so no exporter will run",
            remedy=f"Right if GPU nodes join later; otherwise set {SECTION}.mode to `off` or `simulated`.",
            fatal=False,
        )
    elif missed:
        none = len(missed) == len(gpus)
        selector = ", ".join(f"{key}={value}" for key, value in wanted.node_selector.items()) or "(none)"
        yield Finding(
            kind="gpu_nodes_not_selected",
            where=where,
            why=f"{'no' if none else 'not every'} node with GPUs has the labels {selector}; missed: {shown(missed)}",
            remedy=f"Select by labels that they have: {remedies.common_labels(gpus, cluster.nodes)}.",
            fatal=none,
        )


def _runtime(wanted: Wanted, cluster: Cluster) -> Iterator[Finding]:
    known = sorted(cluster.runtime_classes)
    where = f"{SECTION}.runtime_class"
    if wanted.runtime_class is not None and wanted.runtime_class not in known:
        yield Finding(
            kind="runtime_class_missing",
            where=where,
            why=f"RuntimeClass {wanted.runtime_class} does not exist, and every pod that asks for it is refused",
            remedy=f"Accepted: {', '.join(known) or 'none, the cluster has no RuntimeClass'}; or remove the key.",
            fatal=True,
        )
    if wanted.runtime_class is None and "nvidia" in known:
        yield Finding(
            kind="runtime_class_unset",
            where=where,
            why="RuntimeClass nvidia exists; where it is not the nodes' default, the exporter sees no driver",
            remedy=remedies.lines(runtime_class="nvidia"),
            fatal=False,
        )


def _sharing(wanted: Wanted, nodes: list[Node]) -> Iterator[Finding]:
    shared = [node.name for node in nodes if is_shared(node)]
    if shared and not wanted.virtual_gpus:
        yield Finding(
            kind="shared_gpus",
            where=shown(shared),
            why="GPUs are shared by time-slicing or MPS, and of the pods on one GPU the exporter would name only one",
            remedy=remedies.lines(virtual_gpus=True),
            fatal=False,
        )


def _dra(wanted: Wanted, cluster: Cluster) -> Iterator[Finding]:
    drivers = [agent.where for agent in cluster.agents if agent.role == "dra-driver"]
    if drivers and not wanted.dra:
        yield Finding(
            kind="dra_unused",
            where=drivers[0],
            why="GPUs can be claimed through Dynamic Resource Allocation, and the exporter would not name their pods",
            remedy=remedies.lines(dra=True),
            fatal=False,
        )
    if wanted.dra and not drivers:
        yield Finding(
            kind="dra_driver_not_seen",
            where=f"{SECTION}.dra",
            why="no DRA driver for NVIDIA GPUs runs in this cluster",
            remedy="Remove the key, or install the driver.",
            fatal=False,
        )
