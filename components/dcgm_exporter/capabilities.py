"""What a node's GPUs cannot do, as far as its labels tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from components.dcgm_exporter.seen import Node

_PROFILING = "DCGM_FI_PROF_"
_PER_GPU = ("DCGM_FI_PROF_PCIE_", "DCGM_FI_PROF_NVLINK_")
_SHARING = ("nvidia.com/gpu.sharing-strategy", "cloud.google.com/gke-gpu-sharing-strategy")


def is_shared(node: Node) -> bool:
    """Whether more than one pod can get the same GPU: replicas, a sharing strategy, or a resource of that name."""
    replicas = node.labels.get("nvidia.com/gpu.replicas", "0")
    return (
        (replicas.isdecimal() and int(replicas) > 1)
        or any(node.labels.get(key, "none") != "none" for key in _SHARING)
        or _product(node).endswith("-SHARED")
        or bool(node.resources.get("nvidia.com/gpu.shared"))
    )


def unsupported(fields: Iterable[str], nodes: Iterable[Node]) -> Iterator[tuple[str, list[str], str]]:
    """(kind, names of nodes, why) for profiling fields that will have no values there."""
    profiling = sorted(name for name in fields if name.startswith(_PROFILING))
    per_gpu = [name for name in profiling if name.startswith(_PER_GPU)]
    wide, cases = (
        list(nodes),
        (
            ("profiling_on_vgpu", _is_vgpu, profiling, "a virtual GPU has no profiling counters"),
            ("profiling_on_consumer", _is_consumer, profiling, "a consumer GPU has no profiling counters"),
            ("profiling_on_mig", _is_mig, per_gpu, "PCIe and NVLink belong to the whole GPU and not to a MIG instance"),
        ),
    )
    for kind, applies, affected, why in cases:
        names = [node.name for node in wide if applies(node)]
        if names and affected:
            yield kind, names, f"{why}; these fields will be absent: {', '.join(affected)}"


def _product(node: Node) -> str:
    return node.labels.get("nvidia.com/gpu.product", "")


def _is_vgpu(node: Node) -> bool:
    return node.labels.get("nvidia.com/vgpu.present") == "true" or _product(node).startswith("GRID")


def _is_consumer(node: Node) -> bool:
    return "GeForce" in _product(node) or "TITAN" in _product(node)


def _is_mig(node: Node) -> bool:
    """By what it offers: a label says only that it could."""
    offered = any(name.startswith("nvidia.com/mig-") and count for name, count in node.resources.items())
    return offered or "-MIG-" in _product(node)
