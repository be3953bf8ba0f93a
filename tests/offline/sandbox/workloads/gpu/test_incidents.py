"""Each incident shows on the page as it would on a real node, and only there."""

from __future__ import annotations

import pytest

from sandbox.workloads.gpu.board import KINDS, IncidentError
from tests.offline.sandbox.workloads.gpu.fakes import NOW, Rig

UTIL, ENERGY = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
HEALTH = "DCGM_EXP_GPU_HEALTH_STATUS"


def families(page: str) -> set[str]:
    """Names of the families on a page."""
    return {line.split()[2] for line in page.splitlines() if line.startswith("# TYPE")}


def of_dcgm(page: str) -> list[str]:
    """Samples that come from DCGM; what the exporter counts in a window is not among them."""
    return [line for line in page.splitlines() if line.startswith("DCGM_FI_")]


def test_xid_once_and_again(rig: Rig) -> None:
    rig.node.play({"kind": "xid", "gpu": 1, "code": 31}, rig.now)
    assert rig.value("DCGM_FI_DEV_XID_ERRORS", 1, err_msg="GPU memory page fault") == 31
    assert rig.value("DCGM_EXP_XID_ERRORS_COUNT", 1, xid="31") == 1
    rig.node.play({"kind": "xid", "gpu": 1, "code": 31}, rig.now)
    assert rig.value("DCGM_FI_DEV_XID_ERRORS", 1) == 31  # the gauge does not show that it came again
    assert rig.value("DCGM_EXP_XID_ERRORS_COUNT", 1, xid="31") == 2
    assert rig.value("DCGM_EXP_XID_ERRORS_TOTAL", 1, xid="31") == 2
    assert rig.values("DCGM_FI_DEV_XID_ERRORS", gpu="0") == []


def test_xid_leaves_the_window_and_stays_in_the_gauge(rig: Rig) -> None:
    rig.node.play({"kind": "xid", "gpu": 0, "code": 79}, rig.now)
    rig.after(330)
    assert rig.value("DCGM_FI_DEV_XID_ERRORS") == 79
    assert rig.values("DCGM_EXP_XID_ERRORS_COUNT", xid="79") == []
    assert rig.value("DCGM_EXP_XID_ERRORS_COUNT") == 0
    assert rig.value("DCGM_EXP_XID_ERRORS_TOTAL", xid="79") == 1


def test_uncontained_error_fails_the_health_of_everything(rig: Rig) -> None:
    rig.node.play({"kind": "xid", "gpu": 0, "code": 95}, rig.now)
    assert rig.value(HEALTH, 0, health_watch="ALL", health_error_code="DCGM_FR_UNCONTAINED_ERROR") == 20


def test_double_bit_errors(rig: Rig) -> None:
    rig.node.play({"kind": "ecc_dbe", "gpu": 0, "errors": 3}, rig.now)
    assert rig.value("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL") == 3
    assert rig.value("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 1) == 0
    assert rig.value(HEALTH, 0, health_watch="MEM", health_error_severity="ISOLATE") == 20


def test_row_remap_failure_until_it_is_ended(rig: Rig) -> None:
    incident = rig.node.play({"kind": "row_remap_failure", "gpu": 0}, rig.now)
    assert rig.value("DCGM_FI_DEV_ROW_REMAP_FAILURE") == 1
    rig.node.calm(incident.number)
    assert rig.value("DCGM_FI_DEV_ROW_REMAP_FAILURE") == 0


def test_hot_gpu_and_its_recovery(rig: Rig) -> None:
    incident = rig.node.play({"kind": "hot", "gpu": 0, "celsius": 95}, rig.now)
    rig.after(30)
    assert rig.value("DCGM_FI_DEV_GPU_TEMP") == 95
    assert rig.value(HEALTH, 0, health_watch="THERMAL") == 10
    assert rig.value("DCGM_EXP_CLOCK_EVENTS_COUNT", 0, clock_event="sw_thermal") == 1
    assert rig.value("DCGM_FI_DEV_THERMAL_VIOLATION") == 30e9
    assert rig.value("DCGM_FI_DEV_GPU_TEMP", 1) < 40
    rig.node.calm(incident.number)
    rig.after(300)
    assert rig.value("DCGM_FI_DEV_GPU_TEMP") < 80


@pytest.mark.parametrize(
    ("reason", "event"), [("power", "power_cap"), ("thermal", "hw_thermal"), ("brake", "hw_power_brake")]
)
def test_throttled_gpu(rig: Rig, reason: str, event: str) -> None:
    rig.after(60)
    fast = rig.value("DCGM_FI_DEV_SM_CLOCK")
    rig.node.play({"kind": "throttle", "gpu": 0, "reason": reason}, rig.now)
    rig.after(60)
    assert rig.value("DCGM_FI_DEV_SM_CLOCK") < 0.6 * fast
    assert rig.value("DCGM_EXP_CLOCK_EVENTS_COUNT", 0, clock_event=event) == 2


def test_busy_gpu_whose_clocks_nothing_limits_has_no_clock_events(rig: Rig) -> None:
    rig.after(330)  # until the samples from before its container are out of the window
    assert rig.values("DCGM_EXP_CLOCK_EVENTS_COUNT", gpu="0") == []
    assert rig.value("DCGM_EXP_CLOCK_EVENTS_COUNT", 1, clock_event="gpu_idle") == 11


def test_lost_gpu_has_no_series_and_comes_back(rig: Rig) -> None:
    incident = rig.node.play({"kind": "gpu_lost", "gpu": 0}, rig.now)
    assert 'gpu="0"' not in rig.page()
    assert len(rig.values(UTIL)) == 1
    rig.node.calm(incident.number)
    assert len(rig.values(UTIL)) == 2


def test_gpu_that_the_kubelet_counts_as_unhealthy_has_no_series(rig: Rig) -> None:
    rig.node.devices(rig.uuids[:1], rig.now)
    assert rig.values(UTIL, gpu="1") == []
    rig.node.devices(rig.uuids, rig.now)
    assert len(rig.values(UTIL)) == 2


def test_restart_resets_what_a_new_driver_resets(rig: Rig) -> None:
    rig.node.play({"kind": "xid", "gpu": 0, "code": 31}, rig.now)
    rig.after(60)
    before = rig.value(ENERGY)
    rig.node.play({"kind": "restart"}, rig.now)
    assert rig.value(ENERGY) == 0 < before
    assert rig.values("DCGM_FI_DEV_XID_ERRORS") == rig.values("DCGM_EXP_XID_ERRORS_TOTAL") == []


def test_restart_of_the_exporter_alone_keeps_the_energy(rig: Rig) -> None:
    rig.node.play({"kind": "xid", "gpu": 0, "code": 31}, rig.now)
    rig.after(60)
    before = rig.value(ENERGY)
    rig.node.play({"kind": "restart", "scope": "exporter"}, rig.now)
    assert rig.value(ENERGY) == before
    assert rig.values("DCGM_FI_DEV_XID_ERRORS") == []


def test_frozen_values(rig: Rig) -> None:
    rig.node.play({"kind": "frozen"}, rig.now)
    before = of_dcgm(rig.page())
    rig.after(600)
    assert of_dcgm(rig.page()) == before
    rig.node.calm(None)
    rig.after(30)
    assert of_dcgm(rig.page()) != before


def test_empty_page(rig: Rig) -> None:
    rig.node.play({"kind": "empty_page"}, rig.now)
    assert rig.page() == ""


def test_down(rig: Rig) -> None:
    rig.node.play({"kind": "down"}, rig.now)
    assert rig.node.page(rig.pods, rig.now).status == 500


def test_slow_page_is_right_but_late(rig: Rig) -> None:
    before = rig.page()
    rig.node.play({"kind": "slow", "seconds": 12}, rig.now)
    page = rig.node.page(rig.pods, rig.now)
    assert (page.delay, page.body) == (12.0, before)


def test_renamed_metric(rig: Rig) -> None:
    before = families(rig.page())
    rig.node.play({"kind": "renamed_metric", "metric": UTIL, "name": "DCGM_FI_DEV_GPU_UTILISATION"}, rig.now)
    assert families(rig.page()) == before - {UTIL} | {"DCGM_FI_DEV_GPU_UTILISATION"}


def test_renamed_label(rig: Rig) -> None:
    rig.node.play({"kind": "renamed_label"}, rig.now)
    page = rig.page()
    assert 'Hostname="n1"' in page
    assert 'hostname="n1"' not in page


def test_label_renamed_to_one_that_is_there_breaks_the_page(rig: Rig) -> None:
    rig.node.play({"kind": "renamed_label", "label": "hostname", "name": "gpu"}, rig.now)
    assert rig.node.page(rig.pods, rig.now).status == 500


def test_sentinel_leaks(rig: Rig) -> None:
    rig.node.play({"kind": "out_of_range", "metric": "DCGM_FI_DEV_GPU_TEMP"}, rig.now)
    assert rig.values("DCGM_FI_DEV_GPU_TEMP") == [9.223372036854776e18] * 2
    assert max(rig.values(UTIL)) <= 100


def test_wrong_type(rig: Rig) -> None:
    rig.node.play({"kind": "wrong_type", "metric": ENERGY, "type": "gauge"}, rig.now)
    assert f"# TYPE {ENERGY} gauge" in rig.page()


@pytest.mark.parametrize("kind", KINDS)
def test_after_all_have_ended_the_page_is_whole(rig: Rig, kind: str) -> None:
    names, series = families(rig.page()), len(rig.values(UTIL, hostname="n1"))
    rig.node.play({"kind": kind, **({"code": 31} if kind == "xid" else {})}, rig.now)
    rig.node.calm(None)
    rig.after(330)
    assert names <= families(rig.page())
    assert len(rig.values(UTIL, hostname="n1")) == series
    assert rig.node.summary()["incidents"] == []


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"kind": "fire"}, '"kind" is accepted, one of xid'),
        (None, '"kind" is accepted'),
        ({"kind": "xid", "gpu": 0}, "code is missing"),
        ({"kind": "xid", "gpu": 0, "code": 5000}, "code 5000: accepted is one of 8, 13"),
        ({"kind": "xid", "gpu": 7, "code": 31}, "gpu 7: accepted is 0, 1"),
        ({"kind": "xid", "gpu": True, "code": 31}, "gpu True"),
        ({"kind": "down", "gpu": 0}, "it concerns the whole page"),
        ({"kind": "hot", "celsius": 500}, "from 40 to 120"),
        ({"kind": "hot", "celsius": True}, "from 40 to 120"),
        ({"kind": "throttle", "reason": "mood"}, "one of power, thermal, brake"),
        ({"kind": "slow", "seconds": 0}, "over 0 and at most 120"),
        ({"kind": "renamed_metric", "metric": "up"}, "a metric that the simulator plays"),
        ({"kind": "renamed_label", "name": "bad-name"}, "a label name"),
        ({"kind": "frozen", "celsius": 1}, "unknown field 'celsius'"),
    ],
)
def test_what_is_no_incident_is_refused(rig: Rig, request_: object, message: str) -> None:
    with pytest.raises(IncidentError, match=message):
        rig.node.play(request_, NOW)
    assert rig.node.summary()["incidents"] == []
