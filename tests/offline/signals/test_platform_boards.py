"""Boards of the platform and of alerting: alerts that name no cluster, stacks without a part, and where links lead."""

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
from signals.dashboards.model import Board, Good, Kind, Limits, Link, Panel, Query, Row, Unit
from signals.rules import groups
from signals.rules.routes import PAGE_PROOF_ALERT, WATCHDOG_ALERT
from tests.offline.signals.board_scenarios import play
from tests.offline.signals.boards import BOARD_INPUTS, BOARDS, ask
from tests.offline.signals.gate import judge, with_records
from tests.offline.signals.promtool_cases import INPUTS, alerts

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from signals.rules.inputs import RuleInputs

OWN = ("plumbline-platform", "plumbline-alerting")


def _board(uid: str, inputs: RuleInputs = INPUTS) -> Board:
    (found,) = (one for one in boards(replace(BOARD_INPUTS, rules=inputs)) if one.uid == uid)
    return found


@pytest.mark.parametrize(
    "bare",
    [replace(INPUTS, alert_pipeline=False), replace(INPUTS, budgets={}), replace(INPUTS, jobs=("prometheus",))],
    ids=["nobody is told", "nothing is planned", "Prometheus alone"],
)
def test_a_stack_without_a_part_has_no_panel_of_it(bare: RuleInputs) -> None:
    pages = [page for page in PRODUCERS if page.job in bare.jobs]
    known = with_records([group for file in groups(bare).values() for group in file], pages)
    for uid in OWN:
        board = _board(uid, bare)
        for panel in board.panels:
            for query in panel.queries:
                assert judge(ask(board, query.expr), known)[1].faults == [], panel.title


def test_where_nobody_is_told_there_is_no_watchdog_to_miss() -> None:
    there = {panel.title for panel in _board("plumbline-alerting").panels}
    without = {panel.title for panel in _board("plumbline-alerting", replace(INPUTS, alert_pipeline=False)).panels}
    assert "Clusters without a Watchdog" in there - without
    assert "Failed evaluations" in without


def test_the_two_alerts_that_are_no_fault_are_called_so_by_their_rules() -> None:
    assert {WATCHDOG_ALERT, PAGE_PROOF_ALERT} <= {one.alert for one in alerts()}


def test_job_that_may_have_no_target_is_not_missed(tmp_path: Path) -> None:
    """By hand: two of three jobs have a target. The third may be without one."""
    for may_be_empty, missed in (((), 1), (("jaeger",), 0)):
        rules = replace(INPUTS, jobs=("prometheus", "pushgateway", "jaeger"), may_be_empty=may_be_empty)
        up = [f'up{{cluster="c1", environment="dev", job="{job}", instance="a"}}' for job in rules.jobs[:2]]
        series = [{"series": one, "values": "1x20"} for one in up]
        shown = {"Jobs without a target": missed}
        board = _board("plumbline-platform", rules)
        assert play(board, tmp_path, {"at": "2m", "series": series, "panels": shown}) == ""


def test_job_that_is_missing_in_one_of_two_clusters_is_missed(tmp_path: Path) -> None:
    rules = replace(INPUTS, jobs=("prometheus", "pushgateway"))
    targets = (("c1", "prometheus"), ("c1", "pushgateway"), ("c2", "prometheus"))
    up = [f'up{{cluster="{cluster}", environment="dev", job="{job}", instance="a"}}' for cluster, job in targets]
    series = [{"series": one, "values": "1x20"} for one in up]
    found = {"at": "2m", "series": series, "panels": {"Jobs without a target": 1}}
    assert play(_board("plumbline-platform", rules), tmp_path, found) == ""


ABSENT = [
    {"series": 'up{cluster="c1", environment="dev", job="prometheus", instance="a"}', "values": "1x20"},
    {
        "series": 'ALERTS{alertname="ScrapeJobAbsent", job="jaeger", severity="P1", alertstate="firing"}',
        "values": "1x20",
    },
    {
        "series": 'ALERTS{alertname="NodeGone", cluster="c2", environment="dev", severity="P1", alertstate="firing"}',
        "values": "1x20",
    },
]
"""Prometheus has the first alert without a cluster, since it is about what is not there."""


def _in(cluster: str, expr: str) -> Board:
    """A board with one panel, once a cluster is chosen."""
    query = Query(expr=asked(expr, {"cluster": cluster, "environment": "dev"}, range_seconds=60, rate_seconds=60))
    panel = Panel(title="x", kind=Kind.STAT, unit=Unit.COUNT, meaning="", queries=(query,))
    return replace(_board("plumbline-platform"), rows=(Row(title="x", panels=(panel,)),))


@pytest.mark.parametrize(("cluster", "number"), [("c1", 1), ("c2", 2), ("(c1|c2)", 2)])
def test_alert_that_names_no_cluster_counts_for_each(cluster: str, number: int, tmp_path: Path) -> None:
    (pages,) = (one for one in _board("plumbline-platform").panels if one.title == "Alerts that page")
    found: dict[str, Any] = {"at": "2m", "series": ABSENT, "panels": {"x": number}}
    assert play(_in(cluster, pages.queries[0].expr), tmp_path, found) == ""


def test_alert_that_names_no_cluster_would_be_missed_by_its_name(tmp_path: Path) -> None:
    naive = 'count(ALERTS{cluster=~"$cluster", alertstate="firing", severity="P1"})'
    found = {"at": "2m", "series": ABSENT, "panels": {"x": 1}}
    assert "got: nil" in play(_in("c1", naive), tmp_path, found)


def _links(board: Board) -> set[str]:
    urls = [link.url for panel in board.panels for link in panel.links]
    return {found[1] for url in urls if (found := re.match(r"/d/([^?]+)", url))}


@pytest.mark.parametrize("job", [*INPUTS.jobs, ""])
def test_links_lead_to_boards_that_the_stack_has(job: str) -> None:
    inputs = replace(INPUTS, jobs=tuple(one for one in INPUTS.jobs if one != job))
    made = boards(replace(BOARD_INPUTS, rules=inputs))
    there = {board.uid for board in made}
    for board in made:
        assert _links(board) <= there, board.title


def test_link_to_a_board_is_seen() -> None:
    assert {"plumbline-alerting", "plumbline-gpu-fleet"} <= _links(_board("plumbline-platform"))


def _drawn(panel: Panel) -> dict[str, Any]:
    board = replace(BOARDS[0], rows=(Row(title="x", panels=(panel,)),))
    (made,) = (one for one in json.loads(board_json(board))["panels"] if one["type"] != "row")
    return dict(made)


PLAIN = Panel(title="x", kind=Kind.STAT, unit=Unit.COUNT, meaning="", queries=(Query(expr="sum(up)", instant=True),))


def test_number_that_is_not_there_is_grey_and_never_the_colour_of_a_good_one() -> None:
    made = _drawn(replace(PLAIN, limits=Limits(warn=1), empty="it happens"))
    (mapped,) = made["fieldConfig"]["defaults"]["mappings"]
    assert (mapped["type"], mapped["options"]["match"]) == ("special", "null+nan")
    assert mapped["options"]["result"] == {"color": "#808080", "text": "nothing until it happens"}
    assert made["options"]["colorMode"] == "background"


def test_number_without_limits_has_no_colour() -> None:
    """Grafana's own limits would have everything red from 80."""
    assert _drawn(PLAIN)["options"]["colorMode"] == "none"
    bars = _drawn(replace(PLAIN, kind=Kind.BARS))["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [step["color"] for step in bars] == ["blue"]


@pytest.mark.parametrize(
    ("limits", "steps"),
    [
        (Limits(warn=1, bad=1), [(None, "green"), (1, "red")]),
        (Limits(warn=1, bad=1, good=Good.HIGH), [(None, "red"), (1, "green")]),
        (Limits(warn=1, bad=2), [(None, "green"), (1, "orange"), (2, "red")]),
        (Limits(warn=2, bad=1, good=Good.HIGH), [(None, "red"), (1, "orange"), (2, "green")]),
    ],
)
def test_colours_change_at_the_limits(limits: Limits, steps: list[tuple[int | None, str]]) -> None:
    made = _drawn(replace(PLAIN, limits=limits))["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [(step["value"], step["color"]) for step in made] == steps


def test_table_has_all_series_as_rows_and_links_by_its_columns() -> None:
    link = Link(title="Run", url="https://runs.example/${__field.labels.team}?c=${cluster}")
    made = _drawn(replace(PLAIN, kind=Kind.TABLE, links=(link,)))
    assert made["targets"][0]["format"] == "table"
    (changed,) = made["transformations"]
    assert (changed["id"], changed["options"]) == ("organize", {"excludeByName": {"Time": True}})
    assert (
        made["fieldConfig"]["defaults"]["links"][0]["url"] == "https://runs.example/${__data.fields.team}?c=${cluster}"
    )
    lines = _drawn(replace(PLAIN, kind=Kind.TIMESERIES, links=(link,)))
    assert "${__field.labels.team}" in lines["fieldConfig"]["defaults"]["links"][0]["url"]
    assert "format" not in lines["targets"][0]
