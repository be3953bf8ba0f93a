"""Judging Grafana's own words: versions, frames of numbers, hashes of boards."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from components.grafana.boards import board_json
from signals.dashboards.model import Query
from smoke import grafana
from smoke.access.grafana import Reply
from smoke.judge import grafana as judge
from tests.offline.signals.boards import BOARDS
from tests.offline.smoke.fake_grafana import FakeGrafana

if TYPE_CHECKING:
    from signals.dashboards.model import Board


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("docker.io/grafana/grafana:11.6.4@sha256:ab", "11.6.4"),
        ("registry:5000/grafana/grafana:11.6.4", "11.6.4"),
        ("registry:5000/grafana/grafana", ""),
        ("grafana@sha256:ab", ""),
    ],
)
def test_tag_of_a_reference(image: str, tag: str) -> None:
    assert judge.tag_of(image) == tag


@pytest.mark.parametrize(
    ("version", "tag", "same"),
    [
        ("11.6.4", "11.6.4", True),
        ("11.6.4", "11.6.4-ubuntu", True),
        ("11.6.4+security-01", "11.6.4-security-01", True),
        ("11.6.4", "11.6.40", False),
        ("11.6", "11.6.4", False),
        ("11.6.3", "11.6.4", False),
    ],
)
def test_version_is_that_of_the_tag(version: str, tag: str, *, same: bool) -> None:
    told = {"database": "ok", "version": version}
    assert (judge.well(Reply(200, "", told, ""), f"g:{tag}") == []) is same


def test_numbers_of_frames_are_read_with_what_is_no_number() -> None:
    fields = [{"type": "time"}, {"type": "number", "labels": {"node": "n1"}}]
    marks = [None, {"NaN": [1], "Inf": [2], "NegInf": [3]}]
    data = {"values": [[1000, 2000, 3000, 4000, 5000], [0.5, None, None, None, None]], "entities": marks}
    ((series,),) = grafana._read({"frames": [{"schema": {"fields": fields}, "data": data}]})
    assert series.labels == {"node": "n1"}
    assert [when for when, _ in series.points] == [1.0, 2.0, 3.0, 4.0]
    values = [value for _, value in series.points]
    assert (values[0], math.isnan(values[1]), values[2:]) == (0.5, True, [math.inf, -math.inf])
    assert grafana._read({"frames": [{"schema": {"fields": []}, "data": {"values": []}}]}) == ((),)
    lines = {"schema": {"fields": [{"type": "time"}, {"type": "string"}]}, "data": {"values": [[1, 2], ["a", "b"]]}}
    ((shown,),) = grafana._read({"frames": [lines]})
    assert [value for _, value in shown.points] == [1.0, 1.0]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_rendered_board_comes_back_with_the_hash_of_its_file(board: Board) -> None:
    text = board_json(board)
    state = FakeGrafana(lets_in=True)
    uid = state.provision(text, "plumbline")
    found = state.answer("GET", f"/api/dashboards/uid/{uid}", {}, "admin:x", "")[1]["dashboard"]
    assert {"id", "version"} <= set(found)
    assert judge.digest_of(found) == hashlib.sha256(text.encode()).hexdigest()
    assert judge.differences(board, found) == []


def test_panel_that_differs_is_named() -> None:
    (board, *_) = BOARDS
    content = FakeGrafana(lets_in=True)
    uid = content.provision(board_json(board), "plumbline")
    first, *rest = board.rows
    changed = tuple(replace(panel, queries=(Query(expr="up"),)) for panel in first.panels[:1]) + first.panels[1:]
    other = replace(board, rows=(replace(first, panels=changed), *rest))
    told = judge.differences(other, content.boards[uid].content)
    assert told == [f"panel {first.panels[0].title} has other queries"]
    assert judge.differences(None, {}) == [
        "no board of this uid is known here: another checkout than this one has deployed"
    ]


def test_logins_that_nobody_tried_are_red() -> None:
    assert judge.refused({}) != []
    assert judge.refused({"x": Reply(401, "", {}, "")}) == []
    assert [problem.seen for problem in judge.refused({"x": Reply(302, "", None, "/login")})] == ["HTTP 302 to /login"]
