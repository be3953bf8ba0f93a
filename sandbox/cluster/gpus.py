"""Simulated GPUs of the node: the device plugin's sources, and how many of its GPUs the node offers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sandbox.workloads.gpu import device_plugin
from sandbox.workloads.gpu.identity import RESOURCE
from sandbox.workloads.gpu.kubelet import KubeletError, PodResources

if TYPE_CHECKING:
    from collections.abc import Mapping

MODULE: Final = device_plugin.__name__
DIRECTORY: Final = "python"
_ROOT: Final = Path(__file__).parents[2]
_PLUGIN: Final = (
    "sandbox/__init__.py",
    "sandbox/workloads/__init__.py",
    "sandbox/workloads/gpu/__init__.py",
    "sandbox/workloads/gpu/device_plugin.py",
    "sandbox/workloads/gpu/identity.py",
    "sandbox/workloads/gpu/kubelet.py",
    "sandbox/workloads/gpu/api/__init__.py",
    "sandbox/workloads/gpu/api/deviceplugin_pb2.py",
    "sandbox/workloads/gpu/api/podresources_pb2.py",
)


def sources() -> dict[str, str]:
    """The plugin's modules, by path below the state's `config`.

    It runs from there and not from the checkout: a cluster outlives the clone that started it, and must be started anew
    when, and only when, the code changes.
    """
    return {f"{DIRECTORY}/{name}": (_ROOT / name).read_text() for name in _PLUGIN}


def healthy(socket: Path) -> int:
    """GPUs that the kubelet can hand out. socket: of its PodResources; 0 while it does not answer there."""
    kubelet = PodResources(str(socket), (RESOURCE,))
    try:
        return len(kubelet.devices())
    except KubeletError:
        return 0
    finally:
        kubelet.close()


def offered(node: Mapping[str, Any]) -> int:
    """GPUs that pods can request. node: a Node object as the API server answers it."""
    return int(node["status"].get("allocatable", {}).get(RESOURCE, "0"))
