"""The DCGM fields that the simulator plays: how each is read from a GPU, and from an instance of a sliced one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from sandbox.workloads.gpu.gpu import MEMORY_MHZ, POWER, RESERVED_MIB, THERMAL
from sandbox.workloads.gpu.identity import DRIVER_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.workloads.gpu.gpu import Gpu

NOT_SUPPORTED: Final = 0x7FFFFFFFFFFFFFF2  # DCGM_INT64_NOT_SUPPORTED of dcgm_structs.h, the value that leaks
_PROFILE: Final = re.compile(r"^([1-7])g\.(\d{1,3})gb$")


@dataclass(frozen=True)
class Instance:
    """A slice of a GPU (MIG). number: id of the GPU instance, as NVML counts them."""

    profile: str
    number: int

    @property
    def mib(self) -> int:
        """Its memory; the profile's name says gibibytes."""
        match = _PROFILE.match(self.profile)
        if match is None:
            raise ValueError(f"{self.profile} is no MIG profile; accepted is for example 1g.10gb")
        return int(match[2]) * 1024 - 256


@dataclass(frozen=True)
class Field:
    """A field. kind: its type in DCGM, which decides the digits. of_instance: None when DCGM has no value for them.

    A value of None is a blank one: the exporter leaves the series out.
    """

    kind: Literal["int", "float"]
    of_gpu: Callable[[Gpu], float | None]
    of_instance: Callable[[Gpu, Instance], float | None] | None


def _sensor(read: Callable[[Gpu], float | None], kind: Literal["int", "float"] = "int") -> Field:
    """A value of the board, which each of its instances repeats."""
    return Field(kind, read, lambda gpu, _: read(gpu))


def _ratio(read: Callable[[Gpu], float]) -> Field:
    return _sensor(read, "float")


def _whole(read: Callable[[Gpu], float]) -> Field:
    """A value that DCGM has for whole GPUs alone."""
    return Field("int", read, None)


def _zero(_: Gpu) -> float:
    return 0


FIELDS: Final[dict[str, Field]] = {
    "DCGM_FI_DEV_SM_CLOCK": _sensor(lambda g: g.sm_mhz),
    "DCGM_FI_DEV_MEM_CLOCK": _sensor(lambda _: MEMORY_MHZ),
    "DCGM_FI_DEV_MEMORY_TEMP": _sensor(lambda g: int(g.celsius + 4 + 6 * g.load)),
    "DCGM_FI_DEV_GPU_TEMP": _sensor(lambda g: int(g.celsius)),
    "DCGM_FI_DEV_POWER_USAGE": _sensor(lambda g: g.watts, "float"),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": _sensor(lambda g: int(g.millijoules)),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": _sensor(_zero),
    "DCGM_FI_DEV_GPU_UTIL": _whole(lambda g: round(100 * g.load)),
    "DCGM_FI_DEV_MEM_COPY_UTIL": _whole(lambda g: round(100 * g.dram_ratio)),
    "DCGM_FI_DEV_ENC_UTIL": _whole(_zero),
    "DCGM_FI_DEV_DEC_UTIL": _whole(_zero),
    "DCGM_FI_DEV_XID_ERRORS": _sensor(lambda g: g.events.last_xid),
    "DCGM_FI_DEV_POWER_VIOLATION": _sensor(lambda g: int(g.throttled_ns[POWER])),
    "DCGM_FI_DEV_THERMAL_VIOLATION": _sensor(lambda g: int(g.throttled_ns[THERMAL])),
    "DCGM_FI_DEV_SYNC_BOOST_VIOLATION": _sensor(_zero),
    "DCGM_FI_DEV_BOARD_LIMIT_VIOLATION": _sensor(_zero),
    "DCGM_FI_DEV_LOW_UTIL_VIOLATION": _sensor(_zero),
    "DCGM_FI_DEV_RELIABILITY_VIOLATION": _sensor(_zero),
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": _sensor(lambda g: g.reasons),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": _sensor(lambda g: g.reasons),
    "DCGM_FI_DEV_FB_FREE": Field("int", lambda g: g.free_mib, lambda g, i: i.mib - 16 - (i.mib // 2 if g.held else 4)),
    "DCGM_FI_DEV_FB_USED": Field("int", lambda g: g.used_mib, lambda g, i: i.mib // 2 if g.held else 4),
    "DCGM_FI_DEV_FB_RESERVED": Field("int", lambda _: RESERVED_MIB, lambda _g, _i: 16),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": _sensor(lambda g: g.memory.sbe_volatile),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _sensor(lambda g: g.memory.dbe_volatile),
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": _sensor(lambda g: g.memory.sbe_ever),
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": _sensor(lambda g: g.memory.dbe_ever),
    "DCGM_FI_DEV_RETIRED_SBE": _sensor(_zero),
    "DCGM_FI_DEV_RETIRED_DBE": _sensor(_zero),
    "DCGM_FI_DEV_RETIRED_PENDING": _sensor(_zero),
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": _sensor(_zero),
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": _sensor(_zero),
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": _sensor(_zero),
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": _sensor(_zero),
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": _sensor(lambda g: int(g.nvlink_bytes / 1e6)),
    "DCGM_FI_DEV_VGPU_LICENSE_STATUS": _sensor(_zero),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": _sensor(lambda g: g.memory.remapped_uncorrectable),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": _sensor(_zero),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": _sensor(lambda g: int(g.memory.remap_failed)),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": _ratio(lambda g: g.load),
    "DCGM_FI_PROF_SM_ACTIVE": _ratio(lambda g: 0.93 * g.load),
    "DCGM_FI_PROF_SM_OCCUPANCY": _ratio(lambda g: 0.48 * g.load),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": _ratio(lambda g: g.tensor_ratio),
    "DCGM_FI_PROF_DRAM_ACTIVE": _ratio(lambda g: g.dram_ratio),
    "DCGM_FI_PROF_PIPE_FP64_ACTIVE": _ratio(_zero),
    "DCGM_FI_PROF_PIPE_FP32_ACTIVE": _ratio(lambda g: 0.11 * g.load),
    "DCGM_FI_PROF_PIPE_FP16_ACTIVE": _ratio(lambda g: 0.06 * g.load),
    "DCGM_FI_PROF_PCIE_TX_BYTES": _sensor(lambda g: int(2.1e9 * g.load)),
    "DCGM_FI_PROF_PCIE_RX_BYTES": _sensor(lambda g: int(3.4e9 * g.load)),
}

LABELS: Final[dict[str, str]] = {
    "DCGM_FI_DRIVER_VERSION": DRIVER_VERSION,
    "DCGM_FI_NVML_VERSION": "13." + DRIVER_VERSION,
    "DCGM_FI_DEV_BRAND": "NvidiaTesla",
    "DCGM_FI_DEV_VBIOS_VERSION": "96.00.74.00.01",
    "DCGM_FI_DEV_INFOROM_IMAGE_VER": "G520.0200.00.05",
}
