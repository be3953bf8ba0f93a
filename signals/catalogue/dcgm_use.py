"""Fields about what a GPU does: clocks, temperature, power, utilisation, framebuffer, profiling, links."""

from __future__ import annotations

from signals.catalogue.dcgm_field import Field
from signals.catalogue.model import MetricType

_PROFILING = "a data-centre GPU, a driver with the profiling module, and no other client that holds it"
_WHOLE = "a GPU that is not split by MIG"
MEBIBYTES_MAX = 4_194_304.0
"""4 TiB: far above any board, far below the sentinels of DCGM, which start at 2147483632."""

CLOCKS_AND_POWER = (
    Field(
        name="DCGM_FI_DEV_SM_CLOCK",
        type=MetricType.GAUGE,
        unit="megahertz",
        help="SM clock frequency (in MHz).",
        meaning="Clock of the multiprocessors.",
        high=10_000.0,
    ),
    Field(
        name="DCGM_FI_DEV_MEM_CLOCK",
        type=MetricType.GAUGE,
        unit="megahertz",
        help="Memory clock frequency (in MHz).",
        meaning="Clock of the memory.",
        high=20_000.0,
    ),
    Field(
        name="DCGM_FI_DEV_MEMORY_TEMP",
        type=MetricType.GAUGE,
        unit="celsius",
        help="Memory temperature (in C).",
        meaning="Temperature of the memory.",
        high=130.0,
        event="a board whose memory has a sensor, as HBM has",
    ),
    Field(
        name="DCGM_FI_DEV_GPU_TEMP",
        type=MetricType.GAUGE,
        unit="celsius",
        help="GPU temperature (in C).",
        meaning="Temperature of the GPU.",
        high=130.0,
    ),
    Field(
        name="DCGM_FI_DEV_POWER_USAGE",
        type=MetricType.GAUGE,
        unit="watts",
        help="Power draw (in W).",
        meaning="Power that the board draws.",
        high=2000.0,
    ),
    Field(
        name="DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        type=MetricType.COUNTER,
        unit="millijoules",
        help="Total energy consumption since boot (in mJ).",
        meaning="Energy used since the driver was loaded. An idle GPU draws power too, so it always moves.",
        moves=True,
    ),
)

UTILIZATION = (
    Field(
        name="DCGM_FI_DEV_GPU_UTIL",
        type=MetricType.GAUGE,
        unit="percent",
        help="GPU utilization (in %).",
        meaning="Share of time in which any kernel ran. Not known for a GPU that is split by MIG.",
        high=100.0,
        event=_WHOLE,
    ),
    Field(
        name="DCGM_FI_DEV_MEM_COPY_UTIL",
        type=MetricType.GAUGE,
        unit="percent",
        help="Memory utilization (in %).",
        meaning="Share of time in which memory was read or written.",
        high=100.0,
        event=_WHOLE,
    ),
    Field(
        name="DCGM_FI_DEV_ENC_UTIL",
        type=MetricType.GAUGE,
        unit="percent",
        help="Encoder utilization (in %).",
        meaning="Use of the video encoder.",
        high=100.0,
        event=_WHOLE,
    ),
    Field(
        name="DCGM_FI_DEV_DEC_UTIL",
        type=MetricType.GAUGE,
        unit="percent",
        help="Decoder utilization (in %).",
        meaning="Use of the video decoder.",
        high=100.0,
        event=_WHOLE,
    ),
)

FRAMEBUFFER = (
    Field(
        name="DCGM_FI_DEV_FB_FREE",
        type=MetricType.GAUGE,
        unit="mebibytes",
        help="Framebuffer memory free (in MiB).",
        meaning="Framebuffer that is free; with MIG, of the instance.",
        high=MEBIBYTES_MAX,
    ),
    Field(
        name="DCGM_FI_DEV_FB_USED",
        type=MetricType.GAUGE,
        unit="mebibytes",
        help="Framebuffer memory used (in MiB).",
        meaning="Framebuffer that is used; with MIG, of the instance.",
        high=MEBIBYTES_MAX,
    ),
    Field(
        name="DCGM_FI_DEV_FB_RESERVED",
        type=MetricType.GAUGE,
        unit="mebibytes",
        help="Framebuffer memory reserved (in MiB).",
        meaning="Framebuffer that the driver keeps for itself; a part of neither used nor free.",
        high=MEBIBYTES_MAX,
        event="a driver that counts it apart, 510 or newer",
    ),
)


def _ratio(name: str, text: str, meaning: str) -> Field:
    return Field(name=name, type=MetricType.GAUGE, unit="1", help=text, meaning=meaning, high=1.0, event=_PROFILING)


def _bytes_per_second(name: str, text: str, meaning: str) -> Field:
    """A rate already: `rate()` over it would be a fault. The bound is above PCIe 6 with 16 lanes."""
    return Field(
        name=name,
        type=MetricType.GAUGE,
        unit="bytes per second",
        help=text,
        meaning=meaning,
        high=1e12,
        event=_PROFILING,
    )


PROFILING = (
    _ratio(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "Ratio of time the graphics engine is active.",
        "Share of time in which a graphics or compute engine was busy; the utilisation of a MIG instance.",
    ),
    _ratio(
        "DCGM_FI_PROF_SM_ACTIVE",
        "The ratio of cycles an SM has at least 1 warp assigned.",
        "Share of cycles in which a multiprocessor had work, over all of them.",
    ),
    _ratio(
        "DCGM_FI_PROF_SM_OCCUPANCY",
        "The ratio of number of warps resident on an SM.",
        "Resident warps against the most that fit.",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "Ratio of cycles the tensor (HMMA) pipe is active.",
        "Share of cycles in which the tensor cores worked.",
    ),
    _ratio(
        "DCGM_FI_PROF_DRAM_ACTIVE",
        "Ratio of cycles the device memory interface is active sending or receiving data.",
        "Share of cycles in which memory was read or written.",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
        "Ratio of cycles the fp64 pipes are active.",
        "Share of cycles with double precision outside the tensor cores.",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
        "Ratio of cycles the fp32 pipes are active.",
        "Share of cycles with single precision outside the tensor cores.",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
        "Ratio of cycles the fp16 pipes are active.",
        "Share of cycles with half precision outside the tensor cores.",
    ),
    _bytes_per_second(
        "DCGM_FI_PROF_PCIE_TX_BYTES",
        "The rate of data transmitted over the PCIe bus - including both protocol headers and data payloads - in "
        "bytes per second.",
        "Sent over PCIe, a rate already.",
    ),
    _bytes_per_second(
        "DCGM_FI_PROF_PCIE_RX_BYTES",
        "The rate of data received over the PCIe bus - including both protocol headers and data payloads - in bytes "
        "per second.",
        "Received over PCIe, a rate already.",
    ),
)

LINKS = (
    Field(
        name="DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        type=MetricType.COUNTER,
        unit="1",
        help="Total number of NVLink bandwidth counters for all lanes.",
        meaning="Moved over all NVLinks of the GPU, in a unit that DCGM does not document: good for comparisons only.",
        event="a GPU with NVLink",
    ),
    Field(
        name="DCGM_FI_DEV_VGPU_LICENSE_STATUS",
        type=MetricType.GAUGE,
        unit="1",
        help="vGPU License status",
        meaning="1 if a vGPU has its licence; 0 otherwise, as on a whole GPU.",
        high=1.0,
        event="a driver that answers for licences",
    ),
)
