"""Every number on every board is what a person who counts by hand would say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from signals.dashboards.model import Query, Row
from tests.offline.signals.board_scenarios import BOARDS, SCENARIOS, doubled, play, scenario, stats

if TYPE_CHECKING:
    from pathlib import Path

    from signals.dashboards.model import Board


def _uid(board: Board) -> str:
    return board.uid


@pytest.mark.parametrize("board", BOARDS, ids=_uid)
def test_numbers_are_those_worked_out_by_hand(board: Board, tmp_path: Path) -> None:
    assert set(scenario(board)["panels"]) >= set(stats(board)), "every number of a board stands in its scenario"
    assert play(board, tmp_path) == ""


@pytest.mark.parametrize("board", BOARDS, ids=_uid)
def test_another_number_is_red(board: Board, tmp_path: Path) -> None:
    found = scenario(board)
    wrong: dict[str, Any] = {**found, "panels": {title: _other(shown) for title, shown in found["panels"].items()}}
    said = play(board, tmp_path, wrong)
    assert said.count("exp:") == len(found["panels"])


def _other(shown: Any) -> Any:  # noqa: ANN401  # as written in YAML
    return {labels: value + 1 for labels, value in shown.items()} if isinstance(shown, dict) else shown + 1


def test_every_scenario_is_of_a_board() -> None:
    assert {path.stem for path in SCENARIOS.glob("*.yaml")} == {board.uid for board in BOARDS}


@pytest.mark.parametrize("board", BOARDS, ids=_uid)
def test_what_is_scraped_twice_is_counted_once(board: Board, tmp_path: Path) -> None:
    assert play(board, tmp_path, doubled(scenario(board))) == ""


def test_panel_that_counts_a_doubled_scrape_twice_is_red(tmp_path: Path) -> None:
    """By hand: 64 boards at 400 W are 25 600 W; a sum over what was scraped says 51 200 W."""
    (board,) = (board for board in BOARDS if board.uid == "plumbline-gpu-fleet")
    raw = Query(expr="sum(DCGM_FI_DEV_POWER_USAGE)")
    (power,) = (panel for panel in board.panels if panel.title == "Power")
    naive = replace(board, rows=(Row(title="Fleet", panels=(replace(power, queries=(raw,)),)),))
    found = {**scenario(board), "panels": {"Power": 25_600}}
    assert play(naive, tmp_path, found) == ""
    said = play(naive, tmp_path, doubled(found))
    assert "51200" in said.replace(" ", "").replace("5.12E+04", "51200")
