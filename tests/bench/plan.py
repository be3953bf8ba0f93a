"""What the bench of signals measures: how large the fleet is, which fields, for how long, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from components.dcgm_exporter.args import Counter
from signals.catalogue.dcgm import COUNTERS
from tests.bench.errors import BenchError

if TYPE_CHECKING:
    from pathlib import Path

_Type = Literal["gauge", "counter", "label"]
TWENTY: Final = (
    *("DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE"),
    *("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_UTIL"),
    *("DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_RESERVED"),
    *("DCGM_EXP_XID_ERRORS_COUNT", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_ROW_REMAP_FAILURE"),
    *("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL"),
    *("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_THERMAL_VIOLATION", "DCGM_FI_DEV_POWER_VIOLATION"),
    *("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_SM_ACTIVE"),
    *("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE"),
)
"""Nineteen that the rules use, and the clock, which public dashboard 12239 asks for: one series each on every GPU."""

LAST_XID: Final = "DCGM_FI_DEV_XID_ERRORS"
"""Measured beside them, and no series before a GPU has had an XID."""

XIDS: Final = (79, 48, 13)
"""Played on the first GPU of the first nodes, so that what looks for XIDs finds some: one lost, one memory, one app."""

_KIB_PER_SERIES: Final = 6
_MIB_BESIDE: Final = 1024
"""Measured with 294000 series: Prometheus took 4 KiB for each at its peak; the fleet and the objects are beside it."""

_KUBERNETES_PER_NODE: Final = 120
_EVENTS_AT_MOST: Final = 25


@dataclass(frozen=True, kw_only=True)
class Plan:
    """nodes, gpus: of the fleet, per node. fields: of the counters file, beside LAST_XID. Times in seconds.

    steady: how long every target is scraped before figures are taken. window: the last part of it, over which CPU time
    is counted. without: the same, without rule files. runs: of each query, beside one that is thrown away.
    prometheus: path of the program. out: the report.
    """

    prometheus: Path
    out: Path
    nodes: int = 1024
    gpus: int = 8
    fields: tuple[str, ...] = TWENTY
    interval: int = 15
    steady: int = 180
    window: int = 120
    without: int = 90
    runs: int = 5

    @property
    def boards(self) -> int:
        """GPUs of the whole fleet."""
        return self.nodes * self.gpus

    def need_mib(self) -> int:
        """Memory in MiB that must be available: Prometheus, the fleet, and what is served beside it."""
        events = 0 if self.fields == TWENTY else _EVENTS_AT_MOST
        series = self.boards * (len(self.fields) + events) + self.nodes * _KUBERNETES_PER_NODE
        return _MIB_BESIDE + series * _KIB_PER_SERIES // 1024


def every_field() -> tuple[str, ...]:
    """Fields of the counters file that this project ships."""
    return tuple(name for name, kind, _ in COUNTERS if kind != "label")


def counters(fields: tuple[str, ...]) -> tuple[Counter, ...]:
    """Lines of the counters file, as the catalogue has them, and the label that all series carry. Raises BenchError."""
    known = {name for name, _, _ in COUNTERS}
    strangers = [name for name in fields if name not in known]
    if strangers:
        raise BenchError(f"the catalogue does not know {', '.join(strangers)}; see signals/catalogue/dcgm.py")
    rows = (row for row in COUNTERS if row[0] in (*fields, LAST_XID) or row[1] == "label")
    return tuple(Counter(field=name, type=cast("_Type", kind), help=text) for name, kind, text in rows)


def check_memory(plan: Plan, meminfo: str) -> None:
    """Refuse when less is available than needed. meminfo: text of the kernel's page. Raises BenchError."""
    found = next((line.split()[1] for line in meminfo.splitlines() if line.startswith("MemAvailable:")), None)
    if found is None:
        raise BenchError("the kernel does not tell MemAvailable; the bench needs Linux")
    available = int(found) // 1024
    if available < plan.need_mib():
        raise BenchError(
            f"{available} MiB of memory are available; {plan.boards} GPUs with {len(plan.fields)} fields need "
            f"{plan.need_mib()} MiB; end other programs, or take fewer nodes with --nodes"
        )
