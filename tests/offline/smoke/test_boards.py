"""Boards from end to end against a stand-in: green as a whole, red with the panel's name on each fault."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from signals.dashboards.model import Kind
from smoke import boards
from smoke.boards import Answer, Series
from smoke.judge import boards as judge
from tests.offline.signals.boards import BOARDS
from tests.offline.signals.promtool_cases import INPUTS
from tests.offline.smoke import objects
from tests.offline.smoke.board_world import expression, healthy
from tests.offline.smoke.conftest import check_of

if TYPE_CHECKING:
    from signals.dashboards.model import Board, Panel, Query
    from stacks.contract import Contract
    from tests.offline.smoke.conftest import World

Json = dict[str, Any]
CHECKS = ("boards.choices", "boards.answered")
NUMBER = ("plumbline-gpu-fleet", "GPUs offered")
LINES = ("plumbline-gpu-fleet", "Temperature by node")
NAMES = {NUMBER: "GPU fleet: GPUs offered", LINES: "GPU fleet: Temperature by node"}


@pytest.fixture
def whole(world: World) -> Contract:
    """A stack with every board, whose panels are all answered."""
    contract = objects.contract().model_copy(update={"rules": INPUTS})
    world.prometheus.panels = healthy(contract)
    return contract


def run(world: World, contract: Contract) -> tuple[int, dict[str, Json]]:
    """Exit code, and check by id."""
    changes = {"rules": contract.model_dump(mode="json")["rules"], "expected_checks": list(CHECKS)}
    code, report = world.run("--only", *CHECKS, **changes)
    return code, {name: check_of(report, name) for name in CHECKS}


def test_stack_without_a_board_is_red(world: World, whole: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "of_contract", lambda _: ())
    code, checks = run(world, whole)
    assert code == 1
    assert [check["status"] for check in checks.values()] == ["fail", "fail"]


def panel_of(which: tuple[str, str]) -> tuple[Board, Panel]:
    (board,) = (board for board in BOARDS if board.uid == which[0])
    (panel,) = (panel for panel in board.panels if panel.title == which[1])
    return board, panel


def asked(contract: Contract, which: tuple[str, str]) -> str:
    """The first query of a panel, as it is sent."""
    board, panel = panel_of(which)
    return expression(contract, board, panel.queries[0].expr)


def test_boards_are_green_where_every_panel_answers(world: World, whole: Contract) -> None:
    code, checks = run(world, whole)
    assert (code, [check["status"] for check in checks.values()]) == (0, ["pass", "pass"])
    found = boards.of_contract(whole)
    panels = sum(len(board.panels) for board in found)
    assert f"{panels} panels of {len(found)} boards answered" in checks["boards.answered"]["evidence"]


@pytest.mark.parametrize("which", [NUMBER, LINES])
def test_renamed_metric_is_red_with_the_name_of_the_panel(
    world: World, whole: Contract, which: tuple[str, str]
) -> None:
    world.prometheus.panels[asked(whole, which)] = []
    code, checks = run(world, whole)
    assert code == 1
    assert f"{NAMES[which]}: seen nothing" in checks["boards.answered"]["evidence"]


def test_doubled_number_is_red_with_the_name_of_the_panel(world: World, whole: Contract) -> None:
    world.prometheus.panels[asked(whole, NUMBER)] = [{"instance": "a"}, {"instance": "b"}]
    code, checks = run(world, whole)
    assert code == 1
    assert f"{NAMES[NUMBER]}: seen 2 numbers" in checks["boards.answered"]["evidence"]


def test_query_that_is_refused_is_red_with_the_name_of_the_panel(world: World, whole: Contract) -> None:
    del world.prometheus.panels[asked(whole, LINES)]
    code, checks = run(world, whole)
    assert code == 1
    assert NAMES[LINES] in checks["boards.answered"]["evidence"]


def test_cluster_that_cannot_be_chosen_is_red(world: World, whole: Contract) -> None:
    board, _ = panel_of(NUMBER)
    series = expression(whole, board, board.variables[0].series)
    world.prometheus.panels[f"group by (cluster) ({series})"] = [{"cluster": "another"}]
    code, checks = run(world, whole)
    assert code == 1
    assert f"seen another; expected {whole.cluster.name} among them" in checks["boards.choices"]["evidence"]


def test_panel_that_may_be_empty_is_red_only_when_it_is_refused() -> None:
    board, panel = panel_of(("plumbline-gpu-fleet", "Alerts about GPUs"))
    (query,) = panel.queries
    assert judge.panel(board, panel, [Answer(query)]) == []
    assert judge.panel(board, panel, [Answer(query, error="bad_data")]) != []
    assert judge.panel(board, panel, []) != [], "a query that nobody asked"


def test_one_query_of_several_that_is_empty_is_red_with_its_line_unless_it_waits_for_an_event() -> None:
    board, panel = panel_of(("plumbline-platform", "Failing requests to the API server"))
    first, rare = panel.queries
    assert (first.empty, bool(rare.empty)) == ("", True)
    assert judge.panel(board, panel, [answer(first, 0.0), Answer(rare)]) == []
    (problem,) = judge.panel(board, panel, [Answer(first), answer(rare, 0.0)])
    assert problem.subject == "Platform: Failing requests to the API server"
    assert problem.seen.startswith("nothing for cluster:apiserver_errors:ratio{")
    strict = replace(rare, empty="")
    (problem,) = judge.panel(board, replace(panel, queries=(first, strict)), [answer(first, 0.0), Answer(strict)])
    assert problem.seen == "nothing for new pods and jobs"


def test_number_that_is_none_is_red() -> None:
    board, panel = panel_of(NUMBER)
    (query,) = panel.queries
    assert judge.panel(board, panel, [answer(query, 64.0)]) == []
    lines, drawn = panel_of(LINES)
    for none in (math.nan, math.inf, -math.inf):
        assert judge.panel(board, panel, [answer(query, none)]) != []
        assert judge.panel(lines, drawn, [answer(drawn.queries[0], none)]) != []


def test_two_numbers_of_one_query_do_not_stand_for_another_that_has_none() -> None:
    board, panel = panel_of(NUMBER)
    (query,) = panel.queries
    other = replace(query, expr="other")
    both, twice = (
        replace(panel, queries=(query, other)),
        replace(answer(query, 1.0), series=answer(query, 1.0).series * 2),
    )
    assert judge.panel(board, both, [answer(query, 1.0), answer(other, 2.0)]) == []
    (problem,) = judge.panel(board, both, [twice, Answer(other)])
    assert problem.seen == "2 numbers"
    (problem,) = judge.panel(board, both, [answer(query, 1.0), Answer(other)])
    assert problem.seen == "nothing"


def answer(query: Query, value: float) -> Answer:
    """One value."""
    return Answer(query, (Series({}, ((0.0, value),)),))


def test_choice_without_values_is_red_unless_it_waits_for_an_event() -> None:
    board, _ = panel_of(NUMBER)
    wanted = {"cluster": "c1", "environment": "dev"}
    offered = {"cluster": ["c1"], "environment": ["dev"], "team": []}
    assert judge.choices(board, offered, wanted) == []
    strict = replace(board, variables=tuple(replace(one, empty="") for one in board.variables))
    assert [problem.subject for problem in judge.choices(strict, offered, wanted)] == ["GPU fleet: choice Team"]


def test_boards_of_a_contract_are_those_of_its_settings() -> None:
    contract = objects.contract().model_copy(update={"rules": INPUTS})
    assert [board.uid for board in boards.of_contract(contract)] == [board.uid for board in BOARDS]
    assert {panel.kind for board in BOARDS for panel in board.panels} <= set(Kind)
