"""A board whose source is dead shows nothing, or red: never a number that looks well."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from signals.dashboards.asking import asked
from signals.dashboards.room import grown
from tests.offline.promtool import require_promtool
from tests.offline.signals.board_scenarios import BOARDS, play

if TYPE_CHECKING:
    from pathlib import Path

    from signals.dashboards.model import Board

NOTHING: dict[str, float] = {}
"""What an empty panel shows."""
LOST = 'vector_component_discarded_events_total{cluster="c1", instance="v", job="swanlab-vector", intentional="false"}'
VECTOR = 'up{cluster="c1", environment="dev", job="swanlab-vector", instance="v"}'


def board(uid: str) -> Board:
    """The one of this uid."""
    (found,) = (one for one in BOARDS if one.uid == uid)
    return found


def shown(series: dict[str, str], panels: dict[str, Any]) -> dict[str, Any]:
    """A scenario. panels: title → number, or NOTHING."""
    listed = [{"series": name, "values": values} for name, values in series.items()]
    return {"at": "10m", "series": listed, "panels": panels}


_OF = 'cluster="c1", environment="dev", instance="i"'
DEAD = {
    **{
        f'up{{{_OF}, job="{job}"}}': "1x10 0x50"
        for job in ("swanlab-gate", "swanlab-vector", "swanlab-clickhouse", "kube-state-metrics")
    },
    f'plumbline_swanlab_up{{{_OF}, job="swanlab-gate", part="server"}}': "1x10 stale",
    f'plumbline_swanlab_licence_state{{{_OF}, job="swanlab-gate", state="expired"}}': "0x10 stale",
    f'vector_buffer_events{{{_OF}, job="swanlab-vector", component_id="s", buffer_type="disk"}}': "0x10 stale",
}
"""All of SwanLab's sources were well, and died at 2m45s."""


GOOD_IS_NONE = (
    "Parts that do not answer",
    "Licences that are not active",
    "Events that wait",
    "Buffers that do not empty",
    "Points lost",
    "Damaged places of buffers",
    "Inserts refused",
    "Inserts held back",
    "Inserts that failed",
    "Runs on GPUs",
    "GPUs held by runs",
    "GPUs held without a run",
)


def test_what_is_none_on_a_good_day_is_empty_when_nobody_tells_it(tmp_path: Path) -> None:
    empty = dict.fromkeys(GOOD_IS_NONE, NOTHING)
    assert play(board("plumbline-swanlab"), tmp_path, shown(DEAD, empty)) == ""
    said = play(board("plumbline-swanlab"), tmp_path, shown(DEAD, dict.fromkeys(GOOD_IS_NONE, 0)))
    assert said.count("exp: {} 0") == len(GOOD_IS_NONE)


def test_a_gate_that_died_is_red_and_not_left_out(tmp_path: Path) -> None:
    assert play(board("plumbline-swanlab"), tmp_path, shown(DEAD, {"Gates that are heard": 0})) == ""


def test_losses_are_told_after_the_death_of_whoever_counted_them(tmp_path: Path) -> None:
    """By hand: 12 were dropped before the pod died; a pod that lives and dropped none shows zero."""
    died = {LOST: "_x4 12x5 stale", VECTOR: "1x10 0x50"}
    assert play(board("plumbline-swanlab"), tmp_path, shown(died, {"Points lost": 12})) == ""
    assert play(board("plumbline-swanlab"), tmp_path, shown({VECTOR: "1x60"}, {"Points lost": 0})) == ""


def test_losses_of_another_day_are_not_those_of_today(tmp_path: Path) -> None:
    """By hand, over the last hour of two: 100 of before are none of it; 5 that a new pod counts at once are."""
    old, new = LOST, LOST.replace('instance="v"', 'instance="w"')
    assert _grown(tmp_path, {old: "100x120", VECTOR: "1x120"}) == 0
    assert _grown(tmp_path, {old: "100x120", VECTOR: "1x120", new: "_x90 5x30"}) == 5
    assert _grown(tmp_path, {old: "100x89 107x31", VECTOR: "1x120", new: "_x90 5x30"}) == pytest.approx(12, rel=0.02)
    assert _grown(tmp_path, {VECTOR: "1x90 0x30"}) is None


def _grown(directory: Path, series: dict[str, str]) -> float | None:
    """What the expression gives after two hours for the last of them; None for nothing. Asked by expecting nothing."""
    selector = 'vector_component_discarded_events_total{job="swanlab-vector"}'
    asked_for = asked(
        f"sum({grown(selector, 'swanlab-vector')})",
        {"cluster": ".*", "environment": ".*"},
        range_seconds=3600,
        rate_seconds=60,
    )
    listed = [{"series": name, "values": values} for name, values in series.items()]
    wanted = {"expr": asked_for, "eval_time": "2h", "exp_samples": []}
    case = directory / "case.yaml"
    test = {"interval": "1m", "input_series": listed, "promql_expr_test": [wanted]}
    case.write_text(json.dumps({"rule_files": [], "tests": [test]}), encoding="utf-8")
    command = [require_promtool(), "test", "rules", str(case)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r"got: \{\} (\S+)", done.stdout + done.stderr)
    assert (found is None) == (done.returncode == 0), done.stdout + done.stderr
    return None if found is None else float(found[1])


def test_a_pushgateway_that_is_away_makes_no_restore_point_young(tmp_path: Path) -> None:
    """By hand: a point of 60 s, told until 4m45s, is 540 s old at 10m."""
    job = 'cluster="c1", environment="dev", job="recovery-create"'
    series = {
        f"plumbline_recovery_last_point_timestamp_seconds{{{job}}}": "60x18 stale",
        f'plumbline_recovery_last_failure_timestamp_seconds{{{job}, store="none"}}': "0x18 stale",
        f"plumbline_recovery_points{{{job}}}": "3x18 stale",
    }
    panels = {
        "Would be lost now": 540,
        "Stacks that tell": 0,
        "Jobs that fail": NOTHING,
        "Restore points kept": NOTHING,
        "A restore would take": NOTHING,
        "Differences": NOTHING,
    }
    assert play(board("plumbline-data-protection"), tmp_path, shown(series, panels)) == ""
