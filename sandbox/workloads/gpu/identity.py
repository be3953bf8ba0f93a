"""Who a simulated GPU is: names that the device plugin, the exporter and the fleet agree on."""

from __future__ import annotations

import uuid
from typing import Final

RESOURCE: Final = "nvidia.com/gpu"
MODEL: Final = "NVIDIA H100 80GB HBM3"
DRIVER_VERSION: Final = "580.95.05"
GPUS_AT_MOST: Final = 16  # of one node: the largest servers of this kind hold 16
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "gpu.plumbline.local")
# PCI buses of an eight-GPU server; further ones count on from there.
_BUSES: Final = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)


def gpu_uuid(node: str, index: int) -> str:
    """UUID of GPU `index` of a node: the same on every start, different on every node."""
    return f"GPU-{uuid.uuid5(_NAMESPACE, f'{node}/{index}')}"


def pci_bus_id(index: int) -> str:
    """Bus id as NVML spells it."""
    bus = _BUSES[index] if index < len(_BUSES) else 0xE0 + index
    return f"00000000:{bus:02X}:00.0"


def indices(node: str, uuids: list[str]) -> dict[str, int]:
    """Device id → index of the GPU. Ids that are not of this node are numbered behind the known ones, by name."""
    ours = {gpu_uuid(node, index): index for index in range(GPUS_AT_MOST)}
    strangers = sorted(set(uuids) - set(ours))
    return {
        **{device: ours[device] for device in uuids if device in ours},
        **{device: GPUS_AT_MOST + number for number, device in enumerate(strangers)},
    }
