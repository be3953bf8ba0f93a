"""The page: everything is found on it, nothing on it clashes, nothing comes from outside."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from smoke import report
from smoke.boards import Shown, Span
from smoke.conformance import ACCELERATORS
from smoke.drawing.page import drawn_boards
from smoke.model import Run, Status
from tests.offline.signals.boards import BOARDS
from tests.offline.smoke.report.records import (
    EVIL,
    MARKS,
    answer,
    answered,
    board,
    every_kind,
    gathered,
    outcome,
    panel,
    run,
    series,
)

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.boards import Answer
    from smoke.drawing.drawn import DrawnBoard


def page_of(told: Run, directory: Path) -> str:
    """The page as it is written."""
    report.write(told, directory)
    return (directory / "report.html").read_text(encoding="utf-8")


def one_board(answers: tuple[Answer, ...], **fields: object) -> list[DrawnBoard]:
    """A board of one panel."""
    return drawn_boards([gathered({panel(): answers}, **fields)])


def alerts_fire(*severities: str) -> list[DrawnBoard]:
    """The board of alerting as it answers when these fire."""
    (real,) = (one for one in BOARDS if one.uid == "plumbline-alerting")
    (listed,) = (one for one in real.panels if one.title == "Firing")
    fired = answered(*(series([60.0], severity=one, alertname=f"Name{EVIL}") for one in severities))
    return drawn_boards([replace(gathered({listed: fired}), board=board(listed, uid=real.uid))])


def test_green_page_says_at_its_head_which_alerts_fire(tmp_path: Path) -> None:
    told = run(outcome("a.b", Status.PASS), boards=alerts_fire("P2", "P1", "P3", "P1"))
    page = page_of(told, tmp_path)
    head = page.partition("</header>")[0]
    assert "P1 Name&lt;script&gt;alert(1)&lt;/script&gt; (2 times), P2 Name" in head
    assert "P3 Name" not in head
    assert "<script>" not in page
    ticket = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "`P1 Name<script>alert(1)</script> (2 times)`, `P2 Name" in ticket
    quiet = page_of(run(outcome("a.b", Status.PASS), boards=alerts_fire("P3")), tmp_path)
    assert "wake somebody" not in quiet


class Reader(HTMLParser):
    """Ids, and what is referred to within the page and beyond it."""

    def __init__(self, page: str) -> None:
        """Read the page."""
        super().__init__()
        self.ids: list[str] = []
        self.inside: list[str] = []
        self.beyond: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag says."""
        self.tags.append(tag)
        for name, value in attrs:
            text = value or ""
            if name == "id":
                self.ids.append(text)
            self.inside += re.findall(r"url\(#([^)]+)\)", text)
            if name in ("href", "src", "data", "action"):
                (self.inside if text.startswith("#") else self.beyond).append(text.removeprefix("#"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with two boards that are alike, and labels that are markup."""
    told = gathered(every_kind(), marks=MARKS)
    return page_of(
        run(outcome("a", Status.PASS), outcome("b", Status.FAIL), boards=drawn_boards([told, told])),
        tmp_path_factory.mktemp("page"),
    )


def test_no_two_things_have_the_same_id_and_every_reference_leads_somewhere(page: str) -> None:
    found = Reader(page)
    assert len(found.ids) > 20
    assert sorted(found.ids) == sorted(set(found.ids))
    assert set(found.inside) - set(found.ids) == set()
    assert found.tags.count("svg") == 4


def test_same_id_twice_is_seen() -> None:
    found = Reader('<i id="a"></i><b id="a"><use href="#c"/></b>')
    assert (found.ids, found.inside) == (["a", "a"], ["c"])


def test_nothing_comes_from_outside(page: str) -> None:
    found = Reader(page)
    assert found.beyond == ["data:,"]  # the icon, which a browser would ask a server for
    assert {"script", "img", "iframe", "object"} & set(found.tags) == set()
    assert not re.search(r"https?:|@import|url\((?!#)", page)


def test_label_that_is_markup_is_text(page: str) -> None:
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 6


def test_boards_are_in_the_contents_with_their_panels_and_marks(page: str) -> None:
    assert '<a href="#board1">Board: Board plumbline-one</a>' in page
    for title in ("Number", "Lines", "Table", "Bars", "Log"):
        assert f"<h4>{title}</h4>" in page
    assert "87.5" in page
    assert "and 3 more" in page
    assert "2026-01-01 00:10:00 Alerts: P1 &lt;script&gt;" in page
    assert "From 2026-01-01 00:00:00 to 2026-01-01 01:00:00 UTC." in page


def test_panels_with_a_fault_are_counted_at_the_top(page: str, tmp_path: Path) -> None:
    top = page[: page.index("<nav")]
    assert "2 of 10 panels of the boards have a fault." in top
    assert '<p class="fault">empty, and nothing declares that it may be</p>' in page
    sound = page_of(run(boards=one_board(answered(series([1, 2])))), tmp_path)
    assert "have a fault" not in sound


def test_query_that_failed_is_told_masked(tmp_path: Path) -> None:
    found = page_of(run(boards=one_board((answer(error="x<b> password=hunter2"),))), tmp_path)
    assert '<p class="fault">its query failed: x&lt;b&gt; password=[redacted]</p>' in found


def test_marks_that_could_not_be_asked_for_are_told(tmp_path: Path) -> None:
    found = page_of(run(boards=one_board(answered(series([1])), marks_error="timeout")), tmp_path)
    assert "Marks in time could not be asked for: timeout" in found


def test_page_without_boards_has_none(tmp_path: Path) -> None:
    found = page_of(run(outcome("a", Status.PASS)), tmp_path)
    assert "<svg" not in found
    assert "Board:" not in found


def test_failures_stand_before_everything_with_evidence_and_what_the_cluster_said(tmp_path: Path) -> None:
    told = run(
        outcome("z.fails", Status.FAIL, requirement="Z9", evidence="seen: 3"),
        outcome("a.passes", Status.PASS, requirement="A1", evidence="fine"),
        diagnostics={"log of pod p": "last words"},
    )
    found = page_of(told, tmp_path)
    places = [found.index(f'id="{name}"') for name in ("failed", "check-z.fails", "said", "versions", "proofs")]
    assert places == sorted(places)
    assert found.count("seen: 3") == 1
    assert "<details open>" in found


def test_claims_are_counted_by_tier_and_subject(tmp_path: Path) -> None:
    told = run(
        outcome("a", Status.PASS, component="prometheus"),
        outcome("b", Status.FAIL, component="prometheus"),
        outcome("c", Status.PASS, component="dcgm-exporter", tier="simulated", stand_ins=("dcgm-exporter",)),
        outcome("d", Status.PASS, stand_ins=("dcgm-exporter",)),
        outcome("e", Status.SKIP, component="jaeger", skip_reason="none"),
    )
    found = page_of(told, tmp_path)
    table = found[found.index('id="claims"') : found.index('id="conformance"')]
    rows = [re.findall(r"<t[dh][^>]*>([^<]*)", row) for row in re.findall(r"<tr>.*?</tr>", table, re.S)]
    assert rows == [
        ["Subject", "simulated", "live"],
        ["dcgm-exporter", "1 of 1", ""],
        ["prometheus", "", "1 of 2"],
        ["the whole stack", "", "1 of 1*"],
    ]


def test_slowest_checks_come_first_and_skipped_ones_not_at_all(tmp_path: Path) -> None:
    told = run(
        outcome("quick", Status.PASS, seconds=0.5),
        outcome("slow", Status.FAIL, seconds=31.25),
        outcome("left", Status.SKIP, skip_reason="none"),
    )
    found = page_of(told, tmp_path)
    table = found[found.index('id="times"') :]
    assert re.findall(r"<td>([^<]+)</td>", table) == ["slow", "31.2", "quick", "0.5"]


def test_requirements_of_the_programme_are_listed_with_their_checks(tmp_path: Path) -> None:
    found = page_of(run(outcome("gpu.count", Status.PASS, conformance=(ACCELERATORS,))), tmp_path)
    table = found[found.index('id="conformance"') : found.index('id="proofs"')]
    assert '<strong class="good">proven</strong>' in table
    assert "gpu.count: pass" in table
    assert '<strong class="bad">not proven</strong>' in table


def test_json_tells_which_panels_have_a_fault_and_how_requirements_stand(tmp_path: Path) -> None:
    told = gathered({panel(title="Good"): answered(series([1]), seconds=0.1234), panel(title="Bad"): (answer(),)})
    report.write(run(outcome("a", Status.PASS, conformance=(ACCELERATORS,)), boards=drawn_boards([told])), tmp_path)
    document = json.loads((tmp_path / "report.json").read_text())
    assert document["boards"] == [
        {
            "uid": "plumbline-one",
            "title": "Board plumbline-one",
            "panels": [
                {"title": "Good", "faults": [], "empty": "", "seconds": 0.123},
                {"title": "Bad", "faults": ["empty, and nothing declares that it may be"], "empty": "", "seconds": 0.0},
            ],
        }
    ]
    assert document["conformance"][0] == {"id": ACCELERATORS, "standing": "proven", "reason": "", "checks": ["a"]}


def test_board_that_was_not_asked_at_all_has_only_faults(tmp_path: Path) -> None:
    told = Shown(board(panel(title=EVIL)), Span(0.0, 60.0, 15.0))
    found = page_of(run(boards=drawn_boards([told])), tmp_path)
    assert "0 of its 1 queries were asked" in found
