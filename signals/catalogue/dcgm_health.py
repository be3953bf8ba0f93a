"""Fields about how a GPU is: XID, health, memory errors, throttling, link errors."""

from __future__ import annotations

from signals.catalogue.dcgm_field import EXPORTER, Field
from signals.catalogue.model import MetricType

_COLLECTORS = EXPORTER + "internal/pkg/collector/"
_ECC = "a GPU with ECC switched on"
_REMAPS = "a GPU that remaps rows, Ampere or newer"
_RETIRES = "a GPU that retires pages, older than Ampere"
_NVLINK = "a GPU with NVLink, before its fifth generation"
_THROTTLES = "a driver that counts violations"
XID_MAX = 1023.0
"""Far above the last known code (172), far below the sentinels of DCGM."""

EVENTS = (
    Field(
        name="DCGM_FI_DEV_XID_ERRORS",
        type=MetricType.GAUGE,
        unit="1",
        help="Value of the last XID error encountered.",
        meaning="Code of the last XID, until the driver is loaded anew. It never clears by itself and hides repeats.",
        high=XID_MAX,
        own_labels=("err_code", "err_msg"),
        event="the first XID of a GPU; some versions expose 0 before",
        source=_COLLECTORS + "gpu_collector.go",
    ),
    Field(
        name="DCGM_EXP_XID_ERRORS_COUNT",
        type=MetricType.GAUGE,
        unit="1",
        help="reported XIDs during last window",
        meaning="XIDs of one code within the window that the label names; gone when the last one is older.",
        own_labels=("window_size_in_ms",),
        own_optional=("xid",),
        event="an XID within the window; some versions expose 0 without a code otherwise",
        source=_COLLECTORS + "xid_collector.go",
    ),
    Field(
        name="DCGM_EXP_CLOCK_EVENTS_COUNT",
        type=MetricType.GAUGE,
        unit="1",
        help="reported clock events",
        meaning="Samples within the window in which clocks were held back for that reason.",
        own_labels=("window_size_in_ms",),
        own_optional=("clock_event",),
        event="a driver that tells why clocks are held back",
        source=_COLLECTORS + "clock_events_collector.go",
    ),
    Field(
        name="DCGM_EXP_GPU_HEALTH_STATUS",
        type=MetricType.GAUGE,
        unit="1",
        help="DCGM reported health status",
        meaning="DCGM's own verdict per watched part: 0 passes, 10 is a warning, 20 a failure.",
        high=20.0,
        own_labels=("health_watch", "health_error_code"),
        own_optional=("health_error_severity", "health_error_category"),
        event="a host engine that watches health",
        source=_COLLECTORS + "gpu_health_collector.go",
    ),
)


def _counted(name: str, text: str, meaning: str, event: str) -> Field:
    return Field(name=name, type=MetricType.COUNTER, unit="1", help=text, meaning=meaning, event=event)


def _flag(name: str, text: str, meaning: str) -> Field:
    return Field(name=name, type=MetricType.GAUGE, unit="1", help=text, meaning=meaning, high=1.0, event=_REMAPS)


MEMORY_ERRORS = (
    _counted(
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
        "Total number of single-bit volatile ECC errors.",
        "Corrected memory errors since the last reset.",
        _ECC,
    ),
    _counted(
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "Total number of double-bit volatile ECC errors.",
        "Memory errors that could not be corrected, since the last reset: a reset sets it to 0.",
        _ECC,
    ),
    _counted(
        "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
        "Total number of single-bit persistent ECC errors.",
        "Corrected memory errors in the life of the board.",
        _ECC,
    ),
    _counted(
        "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
        "Total number of double-bit persistent ECC errors.",
        "Memory errors that could not be corrected, in the life of the board.",
        _ECC,
    ),
    _counted(
        "DCGM_FI_DEV_RETIRED_SBE",
        "Total number of retired pages due to single-bit errors.",
        "Pages taken out of use for corrected errors.",
        _RETIRES,
    ),
    _counted(
        "DCGM_FI_DEV_RETIRED_DBE",
        "Total number of retired pages due to double-bit errors.",
        "Pages taken out of use for an error that could not be corrected.",
        _RETIRES,
    ),
    _counted(
        "DCGM_FI_DEV_RETIRED_PENDING",
        "Total number of pages pending retirement.",
        "Pages that leave use with the next reset.",
        _RETIRES,
    ),
    _counted(
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "Number of remapped rows for uncorrectable errors",
        "Rows replaced by spares after an error that could not be corrected.",
        _REMAPS,
    ),
    _counted(
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "Number of remapped rows for correctable errors",
        "Rows replaced by spares after corrected errors.",
        _REMAPS,
    ),
    _flag(
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "Whether remapping of rows has failed",
        "1 if there is no spare row left for a damaged one: the board must be replaced.",
    ),
    _flag(
        "DCGM_FI_DEV_ROW_REMAP_PENDING",
        "Whether remapping of rows is pending",
        "1 if a row is replaced with the next reset.",
    ),
)

BUS_ERRORS = (
    Field(
        name="DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        type=MetricType.COUNTER,
        unit="1",
        help="Total number of PCIe retries.",
        meaning="Packets that had to be sent again over PCIe.",
    ),
    _counted(
        "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "Total number of NVLink flow-control CRC errors.",
        "Damaged flow-control units on NVLink.",
        _NVLINK,
    ),
    _counted(
        "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
        "Total number of NVLink data CRC errors.",
        "Damaged data on NVLink.",
        _NVLINK,
    ),
    _counted(
        "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
        "Total number of NVLink retries.",
        "Packets that had to be sent again over NVLink.",
        _NVLINK,
    ),
    _counted(
        "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
        "Total number of NVLink recovery errors.",
        "Times that a link was trained anew.",
        _NVLINK,
    ),
)


def _violation(name: str, text: str, meaning: str) -> Field:
    return Field(name=name, type=MetricType.COUNTER, unit="nanoseconds", help=text, meaning=meaning, event=_THROTTLES)


THROTTLING = (
    _violation(
        "DCGM_FI_DEV_POWER_VIOLATION",
        "Throttling duration due to power constraints (in ns).",
        "Time for which the power limit held the clocks back.",
    ),
    _violation(
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "Throttling duration due to thermal constraints (in ns).",
        "Time for which temperature held the clocks back.",
    ),
)
