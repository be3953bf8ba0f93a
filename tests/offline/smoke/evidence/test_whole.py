"""The command against real stores: what hit a run is found, and its neighbour is not blamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smoke.run_evidence.main import BLIND, TOLD, UNKNOWN, WRONG
from tests.offline.programs import free_port
from tests.offline.smoke.evidence.scene import OF_RUN, SECONDS, STEP, utc

if TYPE_CHECKING:
    from tests.offline.smoke.evidence.conftest import Stores

# 5 s a step; 86 % of it on the GPU, which takes six times as long; noise of 3 %.
SLOWED = 5 + 5 * 0.86 * 5
HOT, OTHER = OF_RUN["hot"][1], OF_RUN["hot"][0]


def test_throttled_gpu_of_the_step_is_found(stores: Stores) -> None:
    code, found = stores.ask("--run", "hot", "--step", str(STEP))
    assert (code, found["verdict"]) == (TOLD, "findings")
    kinds = [one["kind"] for one in found["findings"]]
    assert kinds == ["thermal_throttle", "alert", "slow_step"]
    throttle, fired, slow = found["findings"]
    assert (throttle["uuid"], throttle["gpu"], throttle["node"]) == (HOT, "1", "gpu-node-1")
    assert throttle["least_seconds"] <= SLOWED * 1.03
    # It was hot for the whole step; a scrape every 5 s leaves less than that open at each end.
    assert throttle["least_seconds"] >= SLOWED * 0.97 - 2 * 5
    assert throttle["most_seconds"] == pytest.approx(found["step"]["seconds"], abs=0.05)
    assert "sw_thermal" in throttle["text"]
    assert (fired["alert"], fired["concerns"]) == ("GpuThermalThrottling", "GPU")
    assert slow["factor"] == pytest.approx(SLOWED / 5, rel=0.05)
    assert slow["rank"] == "1"
    assert slow["part"] == "backward"
    assert found["step"]["begin"] == utc(stores.scene.slowed[0])
    assert {one["uuid"] for one in found["gpus"]} == set(OF_RUN["hot"])
    assert found["pods"] == [{"namespace": "team-a", "pod": "hot-0", "node": "gpu-node-1"}]
    assert [one for one in found["not_looked_at"] if one["essential"]] == []
    assert found["contradictions"] == []


def test_page_and_ticket_say_it_first_and_need_no_network(stores: Stores) -> None:
    stores.ask("--run", "hot", "--step", str(STEP))
    page, ticket = stores.page("html"), stores.page("md")
    assert page.index("thermally throttled") < page.index("Looked at")
    assert all(word not in page for word in ("http://", "https://", "<script", "src="))
    assert ticket.splitlines()[0] == "# Step 40 of run hot: findings"
    assert "thermally throttled" in ticket.splitlines()[2]
    assert "step done" in page, "no line of the window is shown"


def test_neighbour_on_the_same_node_is_clean(stores: Stores) -> None:
    code, found = stores.ask("--run", "cool", "--step", str(STEP))
    assert (code, found["verdict"], found["findings"]) == (TOLD, "clean", [])
    assert {one["uuid"] for one in found["gpus"]} == set(OF_RUN["cool"])
    assert [one for one in found["not_looked_at"] if one["essential"]] == []
    assert "throttling by heat of 2 GPUs" in found["looked_at"][1]


def test_another_step_of_the_hot_run_is_clean(stores: Stores) -> None:
    code, found = stores.ask("--run", "hot", "--step", "8", "--window", "5s")
    assert (code, found["verdict"], found["findings"]) == (TOLD, "clean", [])


def test_xid_is_found_in_the_step_in_which_it_happened_alone(stores: Stores) -> None:
    _, there = stores.ask("--run", "cool", "--step", "12", "--window", "10s")
    (xid,) = there["findings"]
    assert (xid["kind"], xid["xid"], xid["uuid"]) == ("xid", 31, OF_RUN["cool"][0])
    _, later = stores.ask("--run", "cool", "--step", "34", "--window", "10s")
    assert later["findings"] == [], "a code that the GPU still shows is taken for a new one"


def test_step_that_nobody_logged_is_unknown_and_those_that_were_are_named(
    stores: Stores, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stores.ask("--run", "hot", "--step", "777") == (UNKNOWN, {})
    assert "steps 0 to 49" in capsys.readouterr().err


def test_run_that_nobody_knows_is_unknown_and_those_alike_are_named(
    stores: Stores, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stores.ask("--run", "hott", "--step", "40")[0] == UNKNOWN
    assert "there are hot" in capsys.readouterr().err
    assert stores.ask("--run", "hott")[0] == UNKNOWN


def test_run_that_logs_no_steps_is_told_what_it_must_log(stores: Stores, capsys: pytest.CaptureFixture[str]) -> None:
    assert stores.ask("--run", "silent", "--step", "3") == (UNKNOWN, {})
    assert "logged no step with its time" in capsys.readouterr().err


def test_run_that_wrote_lines_alone_is_not_said_to_be_another_one(
    stores: Stores, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stores.ask("--run", "ghost", "--step", "3") == (UNKNOWN, {})
    told = capsys.readouterr().err
    assert "run ghost wrote lines, none with a step and its time, and no pod has its label" in told
    assert "there are ghost" not in told
    assert stores.ask("--run", "ghost") == (UNKNOWN, {})
    assert "there are ghost" not in capsys.readouterr().err


def test_window_that_is_not_over_is_not_clean(stores: Stores) -> None:
    """Step 8 of the hot run is clean, but who asks two seconds after it has not seen all of the five behind it."""
    end = stores.scene.begin + 9 * SECONDS
    code, found = stores.ask("--run", "hot", "--step", "8", "--window", "5s", later=end + 2 - stores.scene.now)
    assert (code, found["verdict"]) == (BLIND, "incomplete")
    assert "the end of the window" in [one["what"] for one in found["not_looked_at"] if one["essential"]]


def test_lines_that_are_gone_are_not_lines_that_never_were(stores: Stores, capsys: pytest.CaptureFixture[str]) -> None:
    """Logs are kept for a day, samples for longer."""
    assert stores.ask("--run", "silent", "--step", "3", later=3 * 86400.0) == (BLIND, {})
    assert "lines of run silent are gone" in capsys.readouterr().err


def test_step_whose_traces_were_not_kept_is_not_one_that_never_was(
    stores: Stores, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stores.ask("--run", "hot", "--step", "777", logs=False) == (BLIND, {})
    assert "no trace of it was kept" in capsys.readouterr().err


def test_without_logs_the_step_is_found_by_its_traces(stores: Stores) -> None:
    code, found = stores.ask("--run", "hot", "--step", str(STEP), logs=False)
    assert code == TOLD
    assert [one["kind"] for one in found["findings"]] == ["thermal_throttle", "alert"]
    assert found["step"]["seconds"] == pytest.approx(SLOWED, rel=0.03)
    assert {"logs", "whether the step was slow"} <= {one["what"] for one in found["not_looked_at"]}


def test_without_logs_and_traces_nothing_is_called_clean(stores: Stores, capsys: pytest.CaptureFixture[str]) -> None:
    assert stores.ask("--run", "cool", "--step", "40", logs=False, traces=False) == (BLIND, {})
    told = capsys.readouterr().err
    assert "no store of logs" in told
    assert "no store of traces" in told


def test_without_prometheus_the_page_says_that_nothing_was_looked_at(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smoke.run_evidence.looking.PATIENCE", 0.1)
    code, found = stores.ask("--run", "cool", "--step", "40", prometheus=free_port())
    assert (code, found["verdict"], found["findings"]) == (BLIND, "incomplete", [])
    essential = {one["what"] for one in found["not_looked_at"] if one["essential"]}
    assert {"which GPUs its pods held", "whether rules were evaluated"} <= essential
    assert len(found["looked_at"]) == 1
    assert found["looked_at"][0].startswith("the time of the step")
    assert stores.ask("--run", "hott", "--step", "40", prometheus=free_port())[0] == BLIND


def test_ledger_has_what_hit_the_run_and_nothing_of_its_neighbour(stores: Stores) -> None:
    code, found = stores.ask("--run", "hot")
    assert (code, found["verdict"]) == (TOLD, "findings")
    kinds = [(one["kind"], one["about"]) for one in found["entries"]]
    gpu = f"GPU 1 of gpu-node-1 ({HOT})"
    assert kinds == [("alert", "the run's node"), ("thermal_throttle", gpu), ("alert", "the run's GPU")]
    assert "NodeClockSkew" in found["entries"][0]["text"]
    throttle = found["entries"][1]
    assert throttle["begin"] <= utc(stores.scene.slowed[0]) <= utc(stores.scene.slowed[1]) <= throttle["end"]


def test_ledger_of_the_neighbour_has_its_xid_and_the_alert_about_their_node(stores: Stores) -> None:
    _, found = stores.ask("--run", "cool")
    assert [(one["kind"], one["about"]) for one in found["entries"]] == [
        ("xid", f"GPU 2 of gpu-node-1 ({OF_RUN['cool'][0]})"),
        ("alert", "the run's node"),
    ]


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("GpuThermalThrottling", {("hot", "GPU")}),
        ("NodeClockSkew", {("hot", "node"), ("cool", "node")}),
        ("GpuHot", set()),
    ],
)
def test_alert_leads_back_to_the_runs_that_it_hit(stores: Stores, name: str, runs: set[tuple[str, str]]) -> None:
    code, found = stores.ask("--alert", name, "--since", "14m")
    assert code == TOLD
    assert {(one["run"], one["concerns"]) for one in found["runs"]} == runs


def test_alert_that_no_rule_has_is_unknown(stores: Stores) -> None:
    assert stores.ask("--alert", "GpuHott", "--since", "14m") == (UNKNOWN, {})


def test_time_that_prometheus_did_not_record_is_not_clean(stores: Stores) -> None:
    code, found = stores.ask("--alert", "GpuHot", "--since", "24h")
    assert (code, found["verdict"]) == (BLIND, "incomplete")
    assert any("recorded nothing for" in one["why"] for one in found["not_looked_at"])


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--run", "hot", "--alert", "GpuHot"),
        ("--run", "hot", "--step", "x"),
        ("--run", "hot", "--step", "-1"),
        ("--alert", "GpuHot", "--step", "4"),
        ("--run", "hot", "--since", "soon"),
        ("--run", "hot", "--step", "4", "--window", "1"),
    ],
    ids=" ".join,
)
def test_wrong_words_are_told(stores: Stores, words: tuple[str, ...]) -> None:
    words = tuple(
        f"--step={word}" if word == "-1" else word for word in words if not (word == "--step" and "-1" in words)
    )
    assert stores.ask(*words) == (WRONG, {})
