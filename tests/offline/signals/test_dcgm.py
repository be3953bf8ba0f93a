"""The page of dcgm-exporter and the counters file that is rendered from it, against upstream's specification."""

from __future__ import annotations

import re

import pytest

from signals.budget import samples_per_scrape, series
from signals.catalogue.dcgm import COUNTERS, PRODUCER
from signals.catalogue.dcgm_field import DRIVER_VERSION
from signals.catalogue.model import Metric, MetricType, Presence
from signals.thresholds import Sizing

NAMES = {metric.name for metric in PRODUCER.metrics}
SENTINELS = (2147483632, 2147483633, 2147483634, 2147483635, 9223372036854775792)
"""Blank, not found, not supported, not permitted of 32 bits, and blank of 64: DCGM dcgmlib/dcgm_structs.h."""

ENABLED_UPSTREAM = """
DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_MEM_CLOCK gauge
DCGM_FI_DEV_MEMORY_TEMP gauge
DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter
DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter
DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_MEM_COPY_UTIL gauge
DCGM_FI_DEV_ENC_UTIL gauge
DCGM_FI_DEV_DEC_UTIL gauge
DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_FB_FREE gauge
DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_RESERVED gauge
DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL counter
DCGM_FI_DEV_VGPU_LICENSE_STATUS gauge
DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS counter
DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS counter
DCGM_FI_DEV_ROW_REMAP_FAILURE gauge
DCGM_FI_PROF_GR_ENGINE_ACTIVE gauge
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE gauge
DCGM_FI_PROF_DRAM_ACTIVE gauge
DCGM_FI_PROF_PCIE_TX_BYTES gauge
DCGM_FI_PROF_PCIE_RX_BYTES gauge
DCGM_FI_DRIVER_VERSION label
"""
"""Rows that etc/default-counters.csv of 4.5.3-4.8.2 does not comment out."""


def metric(name: str) -> Metric:
    return next(found for found in PRODUCER.metrics if found.name == name)


def test_every_row_that_upstream_enables_is_there_with_its_type() -> None:
    wanted = {tuple(row.split()) for row in ENABLED_UPSTREAM.split("\n") if row}
    assert len(wanted) == 26
    assert wanted <= {(field, kind) for field, kind, _ in COUNTERS}


def test_a_row_has_three_fields_and_no_comma_in_any() -> None:
    assert all("," not in part and part.strip() == part and part for row in COUNTERS for part in row)


def test_no_field_is_asked_for_twice() -> None:
    fields = [field for field, _, _ in COUNTERS]
    assert len(fields) == len(set(fields))


def test_rows_are_the_metrics_in_order_and_the_driver_version_as_a_label() -> None:
    assert [field for field, kind, _ in COUNTERS if kind != "label"] == [found.name for found in PRODUCER.metrics]
    assert [row for row in COUNTERS if row[1] == "label"] == [(DRIVER_VERSION, "label", "Driver Version")]


@pytest.mark.parametrize("name", ["DCGM_FI_DEV_FB_TOTAL", "DCGM_FI_DEV_FB_USED_PERCENT", "DCGM_EXP_P2P_STATUS"])
def test_fields_that_are_not_to_be_relied_on_are_left_out(name: str) -> None:
    assert name not in NAMES


@pytest.mark.parametrize("found", PRODUCER.metrics, ids=lambda found: found.name)
def test_every_series_of_a_gpu_says_which_gpu(found: Metric) -> None:
    assert found.labels[:5] == ("gpu", "UUID", "pci_bus_id", "device", "modelName")
    assert {"GPU_I_PROFILE", "GPU_I_ID", "namespace", "pod", "container"} <= set(found.optional)


@pytest.mark.parametrize("found", [m for m in PRODUCER.metrics if m.type is MetricType.GAUGE], ids=lambda m: m.name)
def test_values_that_mean_no_value_are_out_of_range(found: Metric) -> None:
    unbounded = {"DCGM_EXP_XID_ERRORS_COUNT", "DCGM_EXP_CLOCK_EVENTS_COUNT"}
    if found.name in unbounded:
        return
    # A rate in bytes may pass what 32 bits hold; DCGM marks such a field with the 64 bit sentinel.
    sentinels = SENTINELS[-1:] if found.unit == "bytes per second" else SENTINELS
    assert found.high is not None
    assert all(value > found.high for value in sentinels)


def test_energy_alone_must_move() -> None:
    assert [found.name for found in PRODUCER.metrics if found.moves] == ["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]


def test_xids_are_absent_until_one_happens() -> None:
    for name in ("DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_XID_ERRORS_COUNT"):
        assert metric(name).presence is Presence.EVENT


def test_what_a_window_counts_is_no_counter() -> None:
    assert {metric(name).type for name in NAMES if name.startswith("DCGM_EXP_")} == {MetricType.GAUGE}


def test_series_of_two_sharers_differ_in_labels_that_are_known() -> None:
    """uidAttribute and vgpuAttribute of dcgm-exporter, internal/pkg/transformation/const.go."""
    for found in PRODUCER.metrics:
        assert {"pod_uid", "vgpu"} <= set(found.optional)


@pytest.mark.parametrize("spelling", ["Hostname", "hostname"])
def test_both_spellings_of_the_host_are_taken_off(spelling: str) -> None:
    changes = {change.target for change in PRODUCER.label_changes if re.fullmatch(change.source, spelling)}
    assert changes == {""}


def test_labels_of_pods_win_over_those_of_the_exporter() -> None:
    assert PRODUCER.honor_labels
    assert PRODUCER.instance_is_node


def test_no_label_that_tells_series_apart_may_be_dropped() -> None:
    apart = {"gpu", "UUID", "GPU_I_ID", "namespace", "pod", "container", "health_watch", "clock_event", "xid"}
    apart |= {"pod_uid", "vgpu"}
    assert apart <= set(PRODUCER.identity)
    assert not any(re.fullmatch(change.source, label) for change in PRODUCER.label_changes for label in apart)


def test_budget_covers_every_field_and_the_worst_events() -> None:
    """One series per field but the four of events; and 1 last XID, 4 codes, 9 clock events, 11 health watches."""
    fields = len(PRODUCER.metrics) - 4
    assert PRODUCER.budget.per_gpu == fields + 25
    sizing = Sizing(nodes=3, gpu_nodes=2, gpus_per_node=8)
    assert series(PRODUCER, sizing) == 16 * (fields + 25)
    assert samples_per_scrape(PRODUCER, sizing) == 12 * (fields + 25)
