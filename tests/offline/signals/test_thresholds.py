"""Numbers of a stack have bounds: a ratio in per cent, or a limit that never comes, is a slip."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from signals.thresholds import Sizing, Thresholds

RATIOS = (
    *("gpu_utilization_low", "gpu_memory_high", "gpu_thermal_throttle", "gpu_power_throttle", "filesystem_free_low"),
    *("filesystem_free_critical", "inodes_free_low", "memory_available_low", "pressure_stalled_high"),
    *("network_errors_high", "kernel_table_high", "quota_high", "series_budget_high", "volume_free_low"),
    *("swanlab_buffer_high", "object_store_errors_high", "object_store_volumes_high"),
    "recovery_shrink_high",
    *("telemetry_queue_high", "telemetry_memory_high", "telemetry_volume_high", "telemetry_late_spans_high"),
    "telemetry_unaccounted_high",
)
BOUNDS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "gpu_temperature_celsius": ((0.1, 129.9), (0, 130)),
    "gpu_pcie_replays_per_minute": ((0.1, 10_000), (0, 10_001)),
    "gpu_nvlink_crc_per_second": ((0.1, 1_000_000), (0, 1_000_001)),
    "gpu_replicas": ((1, 64), (0, 65)),
    "clock_skew_seconds": ((0.5, 300), (0.4, 301)),
    "rdma_timeouts_per_second": ((0.1, 1_000_000), (0, 1_000_001)),
    "job_overdue_periods": ((1, 100), (0.9, 101)),
    "swanlab_licence_days_low": ((0.1, 365), (0, 366)),
    "recovery_unverified_periods": ((1, 100), (0.9, 101)),
} | dict.fromkeys(RATIOS, ((0.001, 0.999), (0, 1, 85)))
"""Threshold → values at its bounds, values beyond them."""
COUNTS: dict[str, int] = {
    "nodes": 1,
    "api_servers": 1,
    "gpus_per_node": 0,
    "gpu_nodes": 0,
    "pods_per_gpu": 1,
    "pods": 1,
    "pods_per_node": 1,
    "log_records_per_second": 1,
    "log_bytes_per_second": 1,
    "spans_per_second": 1,
}
"""Size → the least."""
EACH = [(name, value) for name, (_, beyond) in BOUNDS.items() for value in beyond]


def thresholds(name: str, value: float) -> Thresholds:
    """With one number as a stack gives it."""
    return Thresholds.model_validate({name: value})


def test_every_threshold_has_bounds_here() -> None:
    assert set(BOUNDS) == set(Thresholds.model_fields) - {"gpu_temperature_celsius_by_model"}
    assert set(COUNTS) == set(Sizing.model_fields)


@pytest.mark.parametrize("name", BOUNDS)
def test_values_at_the_bounds_are_accepted(name: str) -> None:
    for value in BOUNDS[name][0]:
        assert getattr(thresholds(name, value), name) == value


@pytest.mark.parametrize(("name", "value"), EACH)
def test_values_beyond_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValidationError, match=name):
        thresholds(name, value)


@pytest.mark.parametrize("value", ["0.5", None, True])
def test_text_and_switches_are_no_numbers(value: Any) -> None:  # noqa: ANN401  # any value
    with pytest.raises(ValidationError):
        Thresholds(gpu_memory_high=value)


def test_numbers_of_a_model_are_told_by_its_name() -> None:
    found = Thresholds(gpu_temperature_celsius_by_model={"NVIDIA L4": 80.0})
    assert found.gpu_temperature_celsius_by_model == {"NVIDIA L4": 80.0}


@pytest.mark.parametrize("value", [0.0, 130.0, -5.0])
def test_number_of_a_model_has_the_bounds_of_the_number_itself(value: float) -> None:
    with pytest.raises(ValidationError):
        Thresholds(gpu_temperature_celsius_by_model={"NVIDIA L4": value})


@pytest.mark.parametrize("name", COUNTS)
def test_sizes_have_a_least(name: str) -> None:
    assert getattr(Sizing(**{name: COUNTS[name]}), name) == COUNTS[name]
    with pytest.raises(ValidationError, match=name):
        Sizing(**{name: COUNTS[name] - 1})


@pytest.mark.parametrize("record", [Thresholds, Sizing])
def test_misspelt_number_is_refused(record: type[Thresholds] | type[Sizing]) -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        record.model_validate({"gpu_temperature": 1})


def test_numbers_of_a_record_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Thresholds().gpu_memory_high = 0.5
