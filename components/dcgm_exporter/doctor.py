"""The conflict doctor: whether the wanted way of measuring GPUs can work beside what the cluster already runs.

DCGM's profiling serves one client at a time, and two exporters give every GPU twice; either breaks data without an
error. So the doctor refuses before anything is created, and says what to write instead. It cannot see a hostengine
that a node runs outside Kubernetes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.dcgm_exporter.doctor_existing import existing
from components.dcgm_exporter.doctor_managed import managed
from components.dcgm_exporter.findings import SECTION, Finding, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from components.dcgm_exporter.findings import Mode
    from components.dcgm_exporter.seen import Cluster


def examine(wanted: Wanted, cluster: Cluster) -> list[Finding]:
    """Every finding, fatal ones first. An empty list means that nothing is known to be in the way."""
    judges: dict[Mode, Callable[[Wanted, Cluster], Iterator[Finding]]] = {
        "managed": managed,
        "existing": existing,
        "simulated": _simulated,
        "off": _nothing,
    }
    found = list(judges[wanted.mode](wanted, cluster))
    return sorted(found, key=lambda finding: not finding.fatal)


def _nothing(_: Wanted, __: Cluster) -> Iterator[Finding]:
    return iter(())


def _simulated(_: Wanted, cluster: Cluster) -> Iterator[Finding]:
    for node in cluster.nodes:
        if node.real:
            yield Finding(
                kind="real_gpus",
                where=f"Node/{node.name}",
                why=f"has real GPUs ({node.real[0]}); made-up values beside them would be taken for theirs",
                remedy=f"Set {SECTION}.mode to `managed` or `existing`.",
                fatal=True,
            )
