"""Every number on every board is what a person who counts by hand would say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from signals.dashboards.model import Query, Row
from tests.offline.signals.board_scenarios import BOARDS, SCENARIOS, doubled, ended, play, scenario, stats

if TYPE_CHECKING:
    from pathlib import Path

    from signals.dashboards.model import Board


def _uid(board: Board) -> str:
    return board.uid


@pytest.mark.parametrize("board", BOARDS, ids=_uid)
def test_numbers_are_those_worked_out_by_hand(board: Board, tmp_path: Path) -> None:
    assert set(scenario(board)["panels"]) >= set(stats(board)), "every number of a board stands in its scenario"
    assert play(board, tmp_path) == ""


def test_another_number_is_red(tmp_path: Path) -> None:
    (board,) = (board for board in BOARDS if board.uid == "plumbline-gpu-fleet")
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


def test_values_that_are_no_text_are_red(tmp_path: Path) -> None:
    """`0x60` without quotes is 96 to YAML: one sample of 96, where sixty of 0 are meant."""
    with pytest.raises(AssertionError, match=r"quote 96 of x\{\}"):
        play(BOARDS[0], tmp_path, {"at": "10m", "series": [{"series": "x{}", "values": 0x60}], "panels": {}})


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


@pytest.mark.parametrize("board", BOARDS, ids=_uid)
def test_no_number_outlives_its_source(board: Board, tmp_path: Path) -> None:
    """Without alerts: those that something is absent fire then, as they should."""
    found = ended(scenario(board))
    asks_for_alerts = {panel.title for panel in board.panels if any("ALERTS" in one.expr for one in panel.queries)}
    shown = {title: none for title, none in found["panels"].items() if title not in asks_for_alerts}
    assert play(board, tmp_path, {**found, "panels": shown}) == ""


def test_number_that_outlives_its_source_is_red(tmp_path: Path) -> None:
    """By hand: a zero that is always there, and growth in a window that still has the time before the end."""
    (board,) = (board for board in BOARDS if board.uid == "plumbline-alerting")
    (failed,) = (panel for panel in board.panels if panel.title == "Failed evaluations")
    queries = ("sum(up) or vector(0)", "sum(increase(prometheus_rule_evaluation_failures_total[$__range]))")
    panels = tuple(replace(failed, title=query, queries=(Query(expr=query),)) for query in queries)
    found = {**ended(scenario(board)), "panels": {query: {} for query in queries}}
    said = play(replace(board, rows=(Row(title="All", panels=panels),)), tmp_path, found)
    assert said.count("exp: nil") == len(queries)


@pytest.mark.parametrize("board", BOARDS, ids=_uid)
def test_before_anything_is_scraped_there_is_no_number(board: Board, tmp_path: Path) -> None:
    nothing = {"at": "1m", "series": [], "panels": {title: {} for title in stats(board)}}
    assert play(board, tmp_path, nothing) == ""
