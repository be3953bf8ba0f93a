"""Counts on boards at their edges: the first loss, a restart of an old pod, and a source that is dead."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from components.grafana.boards import board_json
from signals.dashboards.telemetry_losses import grown
from tests.offline.promtool import require_promtool
from tests.offline.signals.board_scenarios import play
from tests.offline.signals.boards import BOARDS, ask

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from signals.dashboards.model import Board

_TIMEOUT_SECONDS = 300
AT = "7h"
"""Later than the six hours that boards show, and than the hour of restarts."""
NODE, TELEMETRY = (
    next(board for board in BOARDS if board.uid == f"plumbline-{name}") for name in ("node", "telemetry")
)
FLEET = 'cluster="c1", environment="dev"'


def panel(board: Board, title: str) -> str:
    """What a panel asks, with everything chosen."""
    (found,) = (one for one in board.panels if one.title == title)
    return ask(board, found.queries[0].expr)


def said(directory: Path, expr: str, series: Mapping[str, str], shown: float | None) -> str:
    """What promtool says against `shown` at AT, of samples every five minutes; empty if nothing. None: no answer."""
    expected = {"expr": expr, "eval_time": AT, "exp_samples": [{"labels": "{}", "value": shown}]}
    if shown is None:
        expected["exp_samples"] = []
    test: dict[str, Any] = {
        "interval": "5m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [expected],
    }
    case = directory / "case.yaml"
    case.write_text(yaml.safe_dump({"rule_files": [], "fuzzy_compare": True, "tests": [test]}), encoding="utf-8")
    done = subprocess.run(
        [require_promtool(), "test", "rules", case.name],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


LOST = {
    f'lost{{{FLEET}, instance="born"}}': "_x70 500x30",
    f'lost{{{FLEET}, instance="more"}}': "100x60 130x40",
    f'lost{{{FLEET}, instance="old"}}': "9000x100",
}
"""One that lost 500 at once, which is how its counter began; one that lost 30 more; one that lost nothing of late."""


def test_first_loss_counts_and_an_old_one_does_not(tmp_path: Path) -> None:
    """By hand: 500 + 30. The second grew at 305 minutes, within the six hours before 420."""
    assert said(tmp_path, f"round(sum({grown('lost', '6h')}))", LOST, 530) == ""


def test_what_increase_alone_says_is_wrong(tmp_path: Path) -> None:
    """The reason for all this: 500 records that nobody has any more, and the panel says 30."""
    assert said(tmp_path, "round(sum(increase(lost[6h])))", LOST, 30) == ""
    assert said(tmp_path, "round(sum(increase(lost[6h])))", LOST, 530) != ""


@pytest.mark.parametrize("title", ["Spans lost", "Log records lost", "Metric points lost"])
def test_nothing_lost_is_said_only_while_somebody_answers(title: str, tmp_path: Path) -> None:
    up = {f'up{{{FLEET}, job="{job}", instance="x"}}': "1x100" for job in ("otel-gateway", "victoria-logs", "jaeger")}
    dead = dict.fromkeys(up, "1x60 0x40")
    expr = panel(TELEMETRY, title)
    assert said(tmp_path, expr, up, 0) == ""
    assert said(tmp_path, expr, dead, None) == ""
    assert said(tmp_path, expr, {}, None) == ""


def test_part_without_a_target_is_one_that_does_not_answer(tmp_path: Path) -> None:
    """By hand: of five parts one has no target, and one that has does not answer: 3 of 5."""
    jobs = {"otel-agent": 1, "otel-gateway": 1, "victoria-logs": 1, "jaeger": 0}
    up = {f'up{{{FLEET}, job="{job}", instance="x"}}': f"{value}+0x100" for job, value in jobs.items()}
    assert said(tmp_path, panel(TELEMETRY, "Parts that answer"), up, 0.6) == ""
    assert said(tmp_path, panel(TELEMETRY, "Parts that answer"), {}, None) == ""


def test_gpus_of_a_dead_exporter_are_not_present_and_have_no_good_xids(tmp_path: Path) -> None:
    offered = {f'node:gpu_capacity:sum{{{FLEET}, node="n1"}}': "8x100"}
    assert said(tmp_path, panel(NODE, "GPUs present"), offered, 0) == ""
    assert said(tmp_path, panel(NODE, "GPUs with an XID"), offered, None) == ""
    watched = {f'node:gpus:count{{{FLEET}, node="n1"}}': "8x100"}
    assert said(tmp_path, panel(NODE, "GPUs with an XID"), watched, 0) == ""


def test_restarts_of_an_old_pod_are_those_of_the_hour(tmp_path: Path) -> None:
    """By hand: 3 before the hour and 5 now are 2. A pod without restarts is a pod, and none is nothing."""
    of = f'{FLEET}, namespace="lab", pod="p", uid="u"'
    series = {
        f'kube_pod_info{{{of}, node="n1"}}': "1x100",
        f"kube_pod_start_time{{{of}}}": "-9000x100",
        f'kube_pod_container_status_restarts_total{{{of}, container="c"}}': "3x78 5x30",
    }
    title = "Restarts within an hour"
    assert said(tmp_path, panel(NODE, title), series, 2) == ""
    still = {**series, f'kube_pod_container_status_restarts_total{{{of}, container="c"}}': "3x100"}
    assert said(tmp_path, panel(NODE, title), still, 0) == ""
    assert said(tmp_path, panel(NODE, title), {}, None) == ""


def test_node_board_begins_with_one_node_and_others_with_everything() -> None:
    """A line for each device of a thousand nodes is drawn only for whoever asks for it."""
    for board in BOARDS:
        chosen = {one["name"]: one for one in json.loads(board_json(board))["templating"]["list"]}
        for name, choice in chosen.items():
            assert choice["multi"] is True
            assert (choice.get("allValue") == ".*", choice.get("includeAll", False)) == (name != "node", name != "node")
        assert ("node" in chosen) == (board is NODE)


def test_values_that_yaml_takes_for_a_number_are_refused(tmp_path: Path) -> None:
    """`0x60` without quotes is 96 to YAML: one sample, and then none."""
    found = {"at": "1m", "panels": {}, "series": [{"series": "up", "values": 96}]}
    with pytest.raises(AssertionError, match="quote "):
        play(NODE, tmp_path, found)
