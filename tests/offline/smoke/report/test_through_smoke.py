"""What a whole run leaves behind: requirements of the programme as its checks ended, and the boards drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smoke import boards
from smoke.access.errors import AccessError
from tests.offline.signals.promtool_cases import INPUTS
from tests.offline.smoke import objects
from tests.offline.smoke.board_world import expression, healthy
from tests.offline.smoke.conftest import check_of

if TYPE_CHECKING:
    from stacks.contract import Contract
    from tests.offline.smoke.conftest import Json, World
    from tests.offline.smoke.full_world import Full


def test_stack_without_gpus_neither_meets_nor_fails_what_is_about_them(world: World) -> None:
    code, found = world.run("--impact", "read")
    assert code == 0
    asked = check_of(found, "scrape.expected_jobs")
    assert (asked["component"], asked["conformance"]) == ("prometheus", ["ai_service_metrics"])
    assert check_of(found, "pods.running")["component"] == ""
    accelerators, _ = found["conformance"]
    assert (accelerators["id"], accelerators["standing"]) == ("accelerator_metrics", "not on this stack")
    assert "gpu.count: the stack does not claim the capability gpu" in accelerators["reason"]
    assert accelerators["standing"] in (world.out / "report.html").read_text()
    assert "`accelerator_metrics`: **not on this stack**" in (world.out / "report.md").read_text()


ALL = ("gpu.count", "gpu.attribution", "signals.contract", "signals.fresh")


def test_stack_with_simulated_gpus_meets_it_on_stand_ins(full: Full) -> None:
    code, found = full.run(*ALL)
    assert code == 0
    accelerators, _ = found["conformance"]
    assert sorted(accelerators["checks"]) == sorted(ALL)
    assert (accelerators["standing"], accelerators["reason"]) == ("proven on stand-ins", "on dcgm-exporter")


def test_selection_that_leaves_one_of_its_checks_out_proves_nothing(full: Full) -> None:
    _, found = full.run(*ALL[:-1])
    accelerators, _ = found["conformance"]
    assert (accelerators["standing"], accelerators["reason"]) == (
        "not proven",
        "signals.fresh: not selected by --only",
    )


def test_stack_whose_gpu_is_lost_fails_it(full: Full) -> None:
    full.stack.gpus.pop()
    code, found = full.run(*ALL)
    assert code == 1
    accelerators, _ = found["conformance"]
    assert accelerators["standing"] == "failed"
    assert "gpu.count" in accelerators["reason"]


@pytest.fixture
def whole(world: World) -> Contract:
    """A stack with every board, whose panels are all answered."""
    contract = objects.contract().model_copy(update={"rules": INPUTS})
    world.prometheus.panels = healthy(contract)
    return contract


def drawn(world: World, contract: Contract, *more: str) -> Json:
    """The report of a run of one check."""
    rules = contract.model_dump(mode="json")["rules"]
    _, found = world.run("--only", "cluster.identity", *more, rules=rules, expected_checks=["cluster.identity"])
    return found


def test_every_board_is_drawn_where_that_is_asked_for(world: World, whole: Contract) -> None:
    found = drawn(world, whole, "--boards")
    assert [board["title"] for board in found["boards"]] == [board.title for board in boards.of_contract(whole)]
    panels = [panel for board in found["boards"] for panel in board["panels"]]
    assert len(panels) > 40
    assert [panel for panel in panels if panel["faults"]] == []
    page = (world.out / "report.html").read_text()
    assert page.count("<figure") == len(panels)
    assert "<svg" in page
    assert f"{len(panels)} panels, " in (world.out / "report.md").read_text()


def test_panel_that_is_refused_is_marked(world: World, whole: Contract) -> None:
    board = boards.of_contract(whole)[0]
    panel = next(panel for panel in board.panels if not panel.empty)
    del world.prometheus.panels[expression(whole, board, panel.queries[0].expr)]
    found = drawn(world, whole, "--boards")
    marked = {one["title"] for one in found["boards"][0]["panels"] if one["faults"]}
    assert panel.title in marked
    assert "panels of the boards have a fault." in (world.out / "report.html").read_text()


def test_no_board_is_asked_for_otherwise(world: World, whole: Contract) -> None:
    assert drawn(world, whole)["boards"] == []


def test_prometheus_that_does_not_answer_costs_the_boards_alone(
    world: World, whole: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise AccessError("prometheus", "refused")

    monkeypatch.setattr(boards, "now", refuse)
    found = drawn(world, whole, "--boards")
    assert (found["boards"], found["faults"]) == ([], [])
