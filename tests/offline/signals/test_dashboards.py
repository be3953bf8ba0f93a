"""No panel asks for what the catalogue does not know, and what Grafana is given is what the records say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from components.grafana.boards import board_json
from signals.catalogue import PRODUCERS
from signals.dashboards import boards
from signals.dashboards.asking import asked
from signals.dashboards.model import WIDTH, Board, Kind, Panel, Query, Unit
from signals.rules import groups
from signals.rules.sentinel import sentinel
from tests.offline.signals.board_files_written import FILES
from tests.offline.signals.boards import BOARD_INPUTS, BOARDS, NAMES, PANELS, ask, other_numbers
from tests.offline.signals.dimensions import DRAWN, Dimension, dimension, dimensions
from tests.offline.signals.gate import judge, missing, with_records
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from signals.dashboards.inputs import BoardInputs
    from tests.offline.signals.gate import Known

NATURAL = (0.0, 1.0)
"""Limits that are no setting: none at all, and all of them."""
MOVED = boards(replace(BOARD_INPUTS, rules=other_numbers(INPUTS)))


@pytest.fixture(scope="module")
def known() -> Mapping[str, Known]:
    """Every series that a stack may have."""
    files = [group for file in groups(INPUTS).values() for group in file]
    return with_records([*files, sentinel("0")], PRODUCERS)


def faults(board: Board, query: Query, known: Mapping[str, Known]) -> list[str]:
    """What is wrong with one query."""
    labels, verdict = judge(ask(board, query.expr), known)
    wanted = re.findall(r"\{\{(\w+)\}\}", query.legend)
    told = [f"legend names {label}, which the answer does not have" for label in missing(wanted, labels)]
    return [*verdict.faults, *told]


@pytest.mark.parametrize(("board", "panel"), PANELS, ids=NAMES)
def test_panels_ask_for_what_there_is(board: Board, panel: Panel, known: Mapping[str, Known]) -> None:
    assert [fault for query in panel.queries for fault in faults(board, query, known)] == []


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_choices_are_offered_from_series_that_there_are(board: Board, known: Mapping[str, Known]) -> None:
    before: dict[str, str] = {}
    for variable in board.variables:
        labels, verdict = judge(asked(variable.series, before, range_seconds=60, rate_seconds=60), known)
        assert verdict.faults == []
        assert missing([variable.name], labels) == []
        before[variable.name] = ".*"


TOLD_BY_OTHERS = {
    "UUID": "node and gpu",
    "modelName": "node and gpu",
    "GPU_I_PROFILE": "node, gpu and GPU_I_ID",
    "device": "node and mountpoint",
    "job": "the selector, which names one",
    "job_id": "run_id",
    "resourcequota": "namespace and resource, of which the fullest matters",
}
"""Labels that a line may have and not name → what tells it. Never `instance`: a target that is scraped twice, or was
replaced, would be two lines that nobody can tell apart."""


def unnamed(board: Board, query: Query, known: Mapping[str, Known]) -> set[str]:
    """Labels of a query's lines that neither its legend nor the board's choices name."""
    labels, _ = judge(ask(board, query.expr), known)
    return {*labels} - {"cluster", "environment", *re.findall(r"\{\{(\w+)\}\}", query.legend)}


@pytest.mark.parametrize(("board", "panel"), PANELS, ids=NAMES)
def test_lines_that_differ_have_different_names(board: Board, panel: Panel, known: Mapping[str, Known]) -> None:
    if panel.kind in (Kind.TIMESERIES, Kind.BARS):
        assert [unnamed(board, query, known) - TOLD_BY_OTHERS.keys() for query in panel.queries] == [set()] * len(
            panel.queries
        )


def test_line_of_a_target_that_is_scraped_twice_is_seen(known: Mapping[str, Known]) -> None:
    (board,) = (one for one in BOARDS if one.uid == "plumbline-node")
    (power,) = (one for one in board.panels if one.title == "GPU power")
    raw = replace(power.queries[0], expr='DCGM_FI_DEV_POWER_USAGE{node=~"$node"}')
    assert "instance" in unnamed(board, raw, known)


def test_a_fault_of_each_kind_is_seen(known: Mapping[str, Known]) -> None:
    board = BOARDS[0]
    assert faults(board, Query(expr="node_load_renamed"), known) != []
    assert faults(board, Query(expr='up{no_such_label="x"}'), known) != []
    assert faults(board, Query(expr="sum by (cluster) (up)", legend="{{node}}"), known) != []
    with pytest.raises(ValueError, match=r"\$region is no variable of its board"):
        faults(board, Query(expr='up{region=~"$region"}'), known)


def _shared(named: list[tuple[str, str]]) -> dict[str, list[str]]:
    """What is there more than once: name → whose."""
    found: dict[str, list[str]] = {}
    for name, whose in named:
        found.setdefault(name, []).append(whose)
    return {name: many for name, many in found.items() if len(many) > 1}


def test_a_name_of_two_is_seen_with_both() -> None:
    assert _shared([("plumbline-node", "Node"), ("plumbline-node", "Fleet"), ("x", "y")]) == {
        "plumbline-node": ["Node", "Fleet"]
    }


def test_titles_and_uids_are_each_of_one_board() -> None:
    assert _shared([(board.uid, board.title) for board in BOARDS]) == {}
    assert _shared([(board.title, board.uid) for board in BOARDS]) == {}
    for board in BOARDS:
        assert _shared([(panel.title, board.title) for panel in board.panels]) == {}
        assert re.fullmatch(r"plumbline-[a-z-]{1,30}", board.uid)


def test_grafana_is_given_every_panel_at_a_place_of_its_own() -> None:
    for board in BOARDS:
        made = json.loads(board_json(board))
        drawn = [one for one in made["panels"] if one["type"] != "row"]
        assert [one["title"] for one in drawn] == [panel.title for panel in board.panels]
        assert len({one["id"] for one in made["panels"]}) == len(made["panels"])
        taken: set[tuple[int, int]] = set()
        for one in made["panels"]:
            place = one["gridPos"]
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            assert not cells & taken, one["title"]
            assert max(x for x, _ in cells) < WIDTH
            taken |= cells
        assert "${DS_" not in board_json(board)
        assert "__inputs" not in made


def test_grafana_is_given_units_limits_and_what_an_empty_panel_says() -> None:
    """By hand: GPUs get too hot at 85 °C unless a stack says otherwise."""
    (board,) = (board for board in BOARDS if board.uid == "plumbline-gpu-fleet")
    panels = {one["title"]: one for one in json.loads(board_json(board))["panels"]}
    hot = panels["Temperature by node"]["fieldConfig"]["defaults"]
    assert hot["unit"] == "celsius"
    assert [(step["value"], step["color"]) for step in hot["thresholds"]["steps"]] == [
        (None, "green"),
        (85.0, "orange"),
    ]
    present = panels["GPUs present of those there should be"]["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [(step["value"], step["color"]) for step in present] == [(None, "orange"), (1.0, "green")]
    assert panels["Alerts about GPUs"]["fieldConfig"]["defaults"]["noValue"] == "no alert about a GPU fires"
    limits = INPUTS.thresholds.model_copy(update={"gpu_temperature_celsius": 70.0})
    cooler = replace(BOARD_INPUTS, rules=replace(INPUTS, thresholds=limits))
    (board,) = (one for one in boards(cooler) if one.uid == "plumbline-gpu-fleet")
    assert '"value": 70.0' in board_json(board)


def without(job: str) -> BoardInputs:
    """A stack that does without one of its jobs."""
    return replace(BOARD_INPUTS, rules=replace(INPUTS, jobs=tuple(one for one in INPUTS.jobs if one != job)))


@pytest.mark.parametrize("job", INPUTS.jobs)
def test_a_stack_without_a_job_has_no_panel_that_stays_empty_for_it(job: str) -> None:
    inputs = without(job)
    pages = [page for page in PRODUCERS if page.job in inputs.rules.jobs]
    known = with_records([group for file in groups(inputs.rules).values() for group in file], pages)
    for board in boards(inputs):
        for panel in board.panels:
            found = [fault for query in panel.queries for fault in faults(board, query, known)]
            assert found == [], f"{board.title}: {panel.title}"


def test_a_stack_without_restore_points_or_collectors_has_no_panel_of_theirs() -> None:
    for bare in (replace(INPUTS, recovery=None), replace(INPUTS, telemetry=None)):
        known = with_records([group for file in groups(bare).values() for group in file], PRODUCERS)
        for board in boards(replace(BOARD_INPUTS, rules=bare)):
            for panel in board.panels:
                found = [fault for query in panel.queries for fault in faults(board, query, known)]
                assert found == [], f"{board.title}: {panel.title}"


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_marks_are_made_of_what_there_is(board: Board, known: Mapping[str, Known]) -> None:
    for mark in board.annotations:
        assert faults(board, Query(expr=mark.expr, legend=mark.text), known) == [], mark.title


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_committed_file_is_what_is_rendered(board: Board) -> None:
    """`python -m tests.offline.signals.board_files_written --write` writes them anew; what changed is in the diff."""
    assert (FILES / f"{board.uid}.json").read_text(encoding="utf-8") == board_json(board)


def test_committed_files_are_those_of_boards() -> None:
    assert {path.stem for path in FILES.glob("*.json")} == {board.uid for board in BOARDS}


@pytest.mark.parametrize(("board", "panel"), PANELS, ids=NAMES)
def test_colours_follow_the_settings(board: Board, panel: Panel) -> None:
    """A limit that stays where it is when every number of the stack is another is one that no alert knows."""
    if panel.limits is None or panel.limits.warn in NATURAL:
        return
    (same,) = (one for one in MOVED if one.uid == board.uid)
    (moved,) = (one for one in same.panels if one.title == panel.title)
    assert moved.limits is not None
    assert moved.limits.warn != panel.limits.warn


def test_event_that_is_awaited_does_not_read_as_if_it_had_happened() -> None:
    """By hand, of the two ways in which emptiness is declared."""
    panel = PANELS[0][1]
    assert replace(panel, empty="a restore point was made").nothing == "nothing until a restore point was made"
    assert replace(panel, empty="no alert fires").nothing == "no alert fires"
    assert replace(panel, empty="").nothing == ""


def test_a_stack_without_jobs_has_no_board_of_theirs() -> None:
    bare = boards(replace(BOARD_INPUTS, rules=replace(INPUTS, jobs=("prometheus",))))
    assert "plumbline-gpu-fleet" not in {board.uid for board in bare}
    assert {panel.kind for _, panel in PANELS} >= {Kind.STAT, Kind.TIMESERIES, Kind.TABLE}


@pytest.fixture(scope="module")
def units() -> Mapping[str, Dimension]:
    """Series → what it is measured in."""
    return dimensions([group for file in groups(INPUTS).values() for group in file], PRODUCERS)


def unlike(board: Board, panel: Panel, units: Mapping[str, Dimension]) -> list[str]:
    """Queries of a panel that give another unit than it draws."""
    found = []
    for query in panel.queries:
        given = dimension(ask(board, query.expr), units)
        if given != DRAWN[panel.unit]:
            found.append(f"{query.expr} gives {given}, drawn as {panel.unit}")
    return found


@pytest.mark.parametrize(("board", "panel"), PANELS, ids=NAMES)
def test_panels_draw_what_their_queries_give(board: Board, panel: Panel, units: Mapping[str, Dimension]) -> None:
    assert unlike(board, panel, units) == []


def test_a_wrong_unit_is_seen(units: Mapping[str, Dimension]) -> None:
    board, panel = next((b, p) for b, p in PANELS if p.title == "Held back by heat")
    assert unlike(board, replace(panel, unit=Unit.COUNT), units) != []
    raw = Query(expr="rate(DCGM_FI_DEV_THERMAL_VIOLATION[5m])")
    assert unlike(board, replace(panel, queries=(raw,)), units) != [], "nanoseconds per second are no ratio"
    assert unlike(board, replace(panel, queries=(Query(expr=f"{raw.expr} / 1e9"),)), units) == []
