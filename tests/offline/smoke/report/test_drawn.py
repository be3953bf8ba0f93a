"""Panels: numbers, tables, lines; and every way in which one cannot be trusted is told."""

from __future__ import annotations

import math
from typing import Any

import pytest

from signals.dashboards.model import Kind, Limits, Query, Unit
from smoke.boards import Answer, Line
from smoke.drawing import plot
from smoke.drawing.curves import Curve
from smoke.drawing.drawn import Drawn, draw
from tests.offline.smoke.report.records import EVIL, START, answer, answered, gathered, panel, series

TWO = (Query(expr="a", legend="first"), Query(expr="b", legend="second"))


def drawn(kind: Kind, *answers: Answer, **fields: Any) -> Drawn:  # noqa: ANN401  # fields of the panel
    """A panel of this kind with its answers, one for each query."""
    one = panel(kind, **fields)
    return draw(one, gathered({one: answers}), "p-")


def test_number_is_the_newest_one_coloured_by_its_limits() -> None:
    found = drawn(Kind.STAT, *answered(series([0.5, 0.875])), unit=Unit.RATIO, limits=Limits(warn=0.8, bad=0.9))
    assert [(n.name, n.text, n.grade) for n in found.numbers] == [("", "87.5 %", "warn")]
    assert found.limits == (("warn", "80 %"), ("bad", "90 %"))
    assert (found.svg, found.faults, found.empty) == ("", (), "")


def test_several_numbers_have_names_and_those_left_out_are_counted() -> None:
    found = drawn(Kind.STAT, *answered(*(series([place], node=f"n{place:02}") for place in range(14))))
    assert (found.numbers[0].name, len(found.numbers), found.more) == ("n13", 12, "and 2 more values")


def test_table_has_a_row_for_each_set_of_labels_and_a_column_for_each_query() -> None:
    found = drawn(
        Kind.TABLE,
        answer(series=(series([0.5], node="a", __name__="x"), series([0.25], node="b"))),
        answer(series=(series([1.0], node="a"),)),
        queries=TWO,
        unit=Unit.RATIO,
        limits=Limits(warn=1.0),
    )
    assert found.table is not None
    assert found.table.head == ("node", "first", "second")
    assert found.table.rows == (
        (("a", ""), ("50 %", "good"), ("100 %", "warn")),
        (("b", ""), ("25 %", "good"), ("", "")),
    )
    assert found.table.more == 0


def test_table_shows_fifty_rows_and_counts_the_others() -> None:
    found = drawn(Kind.TABLE, *answered(*(series([1], node=f"n{place:02}") for place in range(53))))
    assert found.table is not None
    assert (len(found.table.rows), found.table.more) == (50, 3)
    assert found.table.rows[-1][0] == ("n49", "")


def test_log_shows_fifty_lines_masked_and_counts_the_others() -> None:
    lines = tuple(Line(seconds=START, text=f"line {place} token=abcdef123") for place in range(52))
    found = drawn(Kind.LOGS, answer(lines=lines))
    assert (len(found.lines), found.more, found.faults) == (50, "and 2 more lines", ())
    assert found.lines[0] == "line 0 token=[redacted]"


def test_empty_panel_says_its_words_where_that_is_declared() -> None:
    found = drawn(Kind.TABLE, answer(), empty="no alert fires")
    assert (found.empty, found.faults) == ("no alert fires", ())


@pytest.mark.parametrize("kind", list(Kind))
def test_empty_panel_is_a_fault_where_it_is_not(kind: Kind) -> None:
    found = drawn(kind, answer())
    assert found.faults == ("empty, and nothing declares that it may be",)
    assert found.empty == ""


@pytest.mark.parametrize("kind", [Kind.STAT, Kind.TIMESERIES, Kind.TABLE, Kind.BARS])
def test_answer_without_a_number_is_as_empty_as_none(kind: Kind) -> None:
    nothing = answered(series([math.nan]))
    assert drawn(kind, *nothing).faults == ("no value is a number",)
    declared = drawn(kind, *nothing, empty="nothing happened")
    assert (declared.faults, declared.empty) == ((), "nothing happened")


def test_query_that_failed_is_a_fault_with_its_error_masked() -> None:
    found = drawn(Kind.TIMESERIES, answer(error=f"400 {EVIL} password=hunter2\x00"), empty="nothing happened")
    assert found.faults == (f"its query failed: 400 {EVIL} password=[redacted]",)
    assert found.empty == ""


@pytest.mark.parametrize("empty", ["", "nothing happened"])
def test_one_query_of_two_that_brings_nothing_is_named_and_the_other_is_drawn(empty: str) -> None:
    found = drawn(Kind.TIMESERIES, *answered(series([1, 2])), answer(), queries=TWO, empty=empty)
    undeclared = "nothing for second, and nothing declares that it may be empty"
    assert (found.notes, found.faults) == ((("nothing for second",), ()) if empty else ((), (undeclared,)))
    assert found.empty == ""
    assert [name.name for name in found.legend] == ["first"]
    assert "<path" in found.svg


def test_one_query_of_two_that_failed_is_a_fault_and_the_other_is_drawn() -> None:
    failed = drawn(Kind.TIMESERIES, *answered(series([1, 2])), answer(error="timeout"), queries=TWO, empty="nothing")
    assert (failed.faults, failed.notes) == (("its query failed for second: timeout",), ())
    assert "<path" in failed.svg


def test_step_to_the_worst_is_one_limit() -> None:
    found = drawn(Kind.STAT, *answered(series([1.0])), limits=Limits(warn=1.0, bad=1.0))
    assert (found.limits, found.numbers[0].grade) == ((("bad", "1"),), "bad")


@pytest.mark.parametrize("answers", [None, (), answered(series([1]))])
def test_query_that_was_not_asked_is_a_fault(answers: tuple[Answer, ...] | None) -> None:
    one = panel(queries=TWO)
    told = gathered({one: answers or ()}, **({"answers": {}} if answers is None else {}))
    assert draw(one, told, "p-").faults == (f"{len(answers or ())} of its 2 queries were asked",)


def test_panel_that_cannot_be_drawn_does_not_cost_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("token=abcdef123 is no colour")

    monkeypatch.setattr(plot, "lines", broken)
    found = drawn(Kind.TIMESERIES, *answered(series([1, 2])))
    assert found.faults == ("cannot be drawn: ValueError: token=[redacted] is no colour",)


def test_times_of_queries_are_added() -> None:
    found = drawn(
        Kind.TIMESERIES, *answered(series([1]), seconds=0.25), *answered(series([1]), seconds=0.5), queries=TWO
    )
    assert found.seconds == 0.75


def test_curve_has_a_newest_number_wherever_it_has_one() -> None:
    assert Curve(name="a", times=(0.0, 1.0), values=(3.0, math.nan), alone=(0,)).last == 3.0
