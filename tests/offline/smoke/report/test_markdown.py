"""The summary for a ticket: short whatever happens, and nothing in it acts on the ticket."""

from __future__ import annotations

import re

import pytest

from smoke.conformance import ACCELERATORS
from smoke.drawing.page import drawn_boards
from smoke.model import Status
from smoke.report.markdown import code, prose, render
from tests.offline.smoke.report.records import answer, answered, gathered, outcome, panel, run, series

HOSTILE = "</td> | x | @everyone #12 https://evil.example ![i](j) `c` ``d``\n# heading\n- item"
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def outside(text: str) -> str:
    """What a reader of Markdown takes for its own: everything but code spans. Built as CommonMark has them."""
    return SPAN.sub("", text)


def test_verdict_counts_failures_skips_and_versions_are_told() -> None:
    told = run(
        outcome("a", Status.PASS, conformance=(ACCELERATORS,)),
        outcome("b", Status.FAIL, claim="Every pod runs", evidence="pod x: seen 1\nmore", remedy="look at `x`"),
        outcome("c", Status.SKIP, skip_reason="no such capability"),
        outcome("d", Status.NOT_RUN, evidence="the run ended"),
        versions={"kubernetes": "v1.34.4"},
        faults=["expected checks did not run: d"],
    )
    lines = render(told).splitlines()
    assert lines[0] == "# Stack `local` is red"
    assert {"| pass | 1 |", "| fail | 1 |", "| skip | 1 |", "| not run | 1 |"} <= set(lines)
    at = lines.index("- `b`: Every pod runs")
    assert lines[at + 1 : at + 3] == ["  - seen: `pod x: seen 1`", r"  - what to do: look at \`x\`"]
    for line in (
        "- `expected checks did not run: d`",
        "- `d`: `the run ended`",
        "- `c`: `no such capability`",
        "- `kubernetes`: `v1.34.4`",
        "- `accelerator_metrics`: **proven**; checks: `a` pass",
        "- `ai_service_metrics`: **not proven** (`no check of this run is behind it`); checks: none",
    ):
        assert line in lines


def test_headline_tells_of_stand_ins() -> None:
    told = run(outcome("a", Status.PASS, tier="simulated", stand_ins=("gpus",)))
    assert "1 of 1 proven only on a stand-in (gpus 1)." in render(told)


def test_selection_and_interruption_are_told() -> None:
    text = render(run(outcome("a", Status.PASS), selected=("a",), interrupted=True))
    assert "**Only a selection was run**: `a`." in text
    assert "**The run was interrupted.**" in text


def test_panels_with_a_fault_are_named() -> None:
    told = gathered({panel(title="Good"): answered(series([1])), panel(title="Bad"): (answer(error="timeout"),)})
    text = render(run(outcome("a", Status.PASS), boards=drawn_boards([told])))
    assert "2 panels, 0 of them empty as declared, 1 with a fault." in text
    assert "- `Board plumbline-one: Bad`: `its query failed: timeout`" in text


def test_summary_of_the_worst_run_is_short() -> None:
    many = [
        outcome(f"{status}.{place}", status, evidence="seen\n" * 50, skip_reason="why")
        for status in Status
        for place in range(200)
    ]
    boards = drawn_boards([gathered({panel(title=f"p{place}"): (answer(error="x"),) for place in range(50)})])
    told = run(
        *many,
        faults=["fault"] * 50,
        versions={f"v{place}": "1" for place in range(50)},
        selected=("a",) * 99,
        interrupted=True,
        boards=boards,
    )
    lines = render(told).splitlines()
    assert len(lines) <= 120
    assert {
        "- and 190 more",
        "- and 194 more",
        "- and 186 more",
        "- and 45 more",
        "- and 44 more",
        "- and 40 more",
    } <= {*lines}
    assert max(map(len, lines)) < 2000


def test_what_comes_from_outside_has_no_meaning() -> None:
    told = run(
        outcome(HOSTILE, Status.FAIL, evidence=HOSTILE),
        outcome("s", Status.SKIP, skip_reason=HOSTILE),
        outcome("n", Status.NOT_RUN, evidence=HOSTILE, conformance=(ACCELERATORS,)),
        faults=[HOSTILE],
        versions={HOSTILE: HOSTILE},
        selected=(HOSTILE,),
        stack=HOSTILE,
        cluster_uid=HOSTILE,
    )
    told.started = HOSTILE
    told.boards = drawn_boards([gathered({panel(title=HOSTILE): (answer(error=HOSTILE),)})])
    text = render(told)
    assert text.count("@everyone") >= 10
    left = outside(text)
    for word in ("@everyone", "#12", "//evil", "</td>", "![", "`c`"):
        assert word not in left
    assert [line for line in text.splitlines() if line.lstrip().startswith(("# heading", "- item", "</td>"))] == []


def test_hostile_text_that_is_not_in_a_span_is_seen() -> None:
    assert "@everyone" in outside("`a` @everyone `b`")
    assert "x" in outside("`` a ` x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "`a`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("``a", "``` ``a ```"),
        ("a\n\n b", "`a b`"),
        ("", "`-`"),
        ("a\x00b", "`a�b`"),
        ("password=hunter2", "`password=[redacted]`"),
    ],
)
def test_code_span_holds_any_text(text: str, expected: str) -> None:
    assert code(text) == expected


def test_code_span_is_bounded() -> None:
    assert len(code("x" * 5000)) < 300


def test_own_words_are_plain_text() -> None:
    assert prose("see https://x.example") == "see https:/\u200b/x.example"
    assert prose("a <b> `c` | _d_ *e* @f #1 [x](y)") == (
        r"a \<b\> \`c\` \| \_d\_ \*e\* @" + "\u200bf #\u200b1 " + r"\[x\](y)"
    )
