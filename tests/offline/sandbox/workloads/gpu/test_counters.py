"""A counters file is read as upstream reads it, and refused where upstream refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.workloads.gpu.counters import Counter, CountersError, parse, read
from tests.offline.sandbox.workloads.gpu.fakes import Rig

if TYPE_CHECKING:
    from pathlib import Path


def test_fields_comments_and_labels() -> None:
    text = (
        "# comment\n\n"
        "DCGM_FI_DEV_DEC_UTIL ,     gauge, Decoder utilization.\n"
        "DCGM_EXP_XID_ERRORS_COUNT,gauge,XIDs\n"
        "DCGM_FI_DRIVER_VERSION, label, Driver Version\n"
        'DCGM_FI_DEV_GPU_TEMP, gauge,"Celsius, whole"\n'
    )
    found = parse(text, "f.csv")
    assert found.families == (
        Counter("DCGM_FI_DEV_DEC_UTIL", "gauge", "Decoder utilization."),
        Counter("DCGM_EXP_XID_ERRORS_COUNT", "gauge", "XIDs"),
        Counter("DCGM_FI_DEV_GPU_TEMP", "gauge", "Celsius, whole"),
    )
    assert found.labels == ("DCGM_FI_DRIVER_VERSION",)


@pytest.mark.parametrize(
    "name", ["DCGM_FI_PROF_SM_CYCLES_ACTIVE_TOTAL", "DCGM_FI_DEV_FB_TOTAL", "dcgm_gpu_temp", "DCGM_FI_DEV_GPU_UTIL"]
)
def test_known_field_that_is_not_played_is_skipped_with_a_line(name: str, caplog: pytest.LogCaptureFixture) -> None:
    kind = "label" if name == "DCGM_FI_DEV_GPU_UTIL" else "gauge"
    assert parse(f"DCGM_FI_DEV_GPU_TEMP,gauge,x\n{name},{kind},y\n", "f.csv").families == (
        Counter("DCGM_FI_DEV_GPU_TEMP", "gauge", "x"),
    )
    assert f"Skipping line 1 ('{name}'): metric not enabled" in caplog.text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DCGM_FI_DEV_GPU_TMEP, gauge, typo", "could not find DCGM field; err: unknown ExporterCounter field"),
        ("DCGM_FI_DEV_GPU_TEMP, histogram, x", "unsupported Prometheus metric type 'histogram'"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge", "2 fields; expected 3 fields"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge, a, b", "4 fields; expected 3 fields"),
        ('DCGM_FI_DEV_GPU_TEMP, gauge, "a, b"', "line 1"),
        ('DCGM_FI_DEV_GPU_TEMP, gauge, a"b', "a quote inside a field"),
    ],
)
def test_wrong_line_is_refused(line: str, message: str) -> None:
    with pytest.raises(CountersError, match=message):
        parse(line, "f.csv")


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CountersError, match=r"Could not read metrics file '.*/none\.csv'"):
        read(tmp_path / "none.csv")


# By hand from etc/default-counters.csv of the tag 4.6.0-4.8.3: what it enables, then what it offers in comments.
ENABLED = [
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_MEM_CLOCK",
    "DCGM_FI_DEV_MEMORY_TEMP",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    "DCGM_FI_DEV_ENC_UTIL",
    "DCGM_FI_DEV_DEC_UTIL",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_FB_RESERVED",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "DCGM_FI_DEV_VGPU_LICENSE_STATUS",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
]
OFFERED = [
    "DCGM_FI_DEV_POWER_VIOLATION",
    "DCGM_FI_DEV_THERMAL_VIOLATION",
    "DCGM_FI_DEV_SYNC_BOOST_VIOLATION",
    "DCGM_FI_DEV_BOARD_LIMIT_VIOLATION",
    "DCGM_FI_DEV_LOW_UTIL_VIOLATION",
    "DCGM_FI_DEV_RELIABILITY_VIOLATION",
    "DCGM_EXP_CLOCK_EVENTS_COUNT",
    "DCGM_EXP_CLOCK_EVENTS_TOTAL",
    "DCGM_EXP_XID_ERRORS_COUNT",
    "DCGM_EXP_XID_ERRORS_TOTAL",
    "DCGM_EXP_GPU_HEALTH_STATUS",
    "DCGM_EXP_P2P_STATUS",
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
    "DCGM_FI_DEV_RETIRED_SBE",
    "DCGM_FI_DEV_RETIRED_DBE",
    "DCGM_FI_DEV_RETIRED_PENDING",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_SM_OCCUPANCY",
    "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
    "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
    "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
]


@pytest.mark.parametrize("name", [*ENABLED, *OFFERED])
def test_fields_of_upstreams_default_file_are_played(name: str) -> None:
    assert [counter.name for counter in parse(f"{name}, gauge, x\n", "f.csv").families] == [name]
    series = Rig(f"{name}, gauge, x\n").values(name)
    absent = ("DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_XID_ERRORS_TOTAL", "DCGM_EXP_CLOCK_EVENTS_TOTAL")
    assert bool(series) is (name not in absent)  # those come with the first event
