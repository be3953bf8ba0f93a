"""Findings of the conflict doctor where somebody else's exporter is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.dcgm_exporter import remedies
from components.dcgm_exporter.findings import SECTION, Finding, Wanted, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.dcgm_exporter.seen import Agent, Cluster, Pod


def existing(wanted: Wanted, cluster: Cluster) -> Iterator[Finding]:
    """Whether the pods that are named exist, can be scraped, cover the GPUs, and say whose they are."""
    chosen = _chosen(wanted, cluster)
    exporters = [agent for agent in cluster.agents if agent.role == "exporter"]
    if not chosen and not wanted.targets:
        seen = "".join(f"\n{agent.where}:\n{remedies.use_existing(agent, cluster.nodes)}" for agent in exporters)
        yield Finding(
            kind="existing_not_found",
            where=f"{SECTION}.existing",
            why="no running pod is in this namespace with these labels" if wanted.existing else "nothing is named",
            remedy=f"Exporters that were found:{seen}" if seen else "No exporter was found; set mode `managed`.",
            fatal=True,
        )
        return
    yield from _port(wanted, chosen)
    nodes = {pod.node for pod in chosen} | set(wanted.targets)
    missed = [node.name for node in cluster.nodes if node.has_gpus and node.name not in nodes]
    if missed:
        yield Finding(
            kind="gpu_nodes_without_exporter",
            where=shown(missed),
            why="nodes with GPUs run none of the pods named under `existing`",
            remedy="Let the exporter run there too, as its owner deploys it, or list these nodes under `targets`.",
            fatal=False,
        )
    yield from _quality(chosen, exporters)


def _chosen(wanted: Wanted, cluster: Cluster) -> list[Pod]:
    given = wanted.existing
    if given is None:
        return []
    return [
        pod for pod in cluster.pods if pod.namespace == given.namespace and given.labels.items() <= pod.labels.items()
    ]


def _port(wanted: Wanted, chosen: list[Pod]) -> Iterator[Finding]:
    port = wanted.existing.port if wanted.existing else ""
    without = [pod for pod in chosen if port not in pod.ports]
    if without:
        known = sorted(set().union(*(pod.ports for pod in without)))
        yield Finding(
            kind="existing_port_unknown",
            where=f"Pod/{without[0].namespace}/{without[0].name}",
            why=f"has no container port named `{port}`, so nothing of it would be scraped",
            remedy=f"Accepted for {SECTION}.existing.port: {', '.join(known) or 'none, its ports are unnamed'}.",
            fatal=True,
        )


def _quality(chosen: list[Pod], exporters: list[Agent]) -> Iterator[Finding]:
    """What somebody else's exporter does worse than ours would."""
    used = [agent for agent in exporters if any(_is_of(pod, agent) for pod in chosen)]
    nodes = {pod.node for pod in chosen}
    for agent in used:
        if not agent.names_pods:
            yield Finding(
                kind="pods_not_named",
                where=agent.where,
                why="does not ask the kubelet which pod uses which GPU; no GPU can be attributed to a team",
                remedy="Set DCGM_EXPORTER_KUBERNETES to `true` there, and mount the kubelet's pod-resources directory.",
                fatal=False,
            )
    for agent in exporters:
        both = sorted(agent.nodes & nodes)
        if agent not in used and both:
            yield Finding(
                kind="two_exporters",
                where=agent.where,
                why=f"runs beside the chosen exporter on {shown(both)}; two clients of DCGM break profiling",
                remedy="Remove one of the two.",
                fatal=False,
            )


def _is_of(pod: Pod, agent: Agent) -> bool:
    return bool(agent.labels) and pod.namespace == agent.namespace and agent.labels.items() <= pod.labels.items()
