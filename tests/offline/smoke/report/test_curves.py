"""Curves: broken where nothing was measured, named as the legend has it, the worst first."""

from __future__ import annotations

import math

import pytest

from signals.dashboards.model import Good, Limits, Query
from smoke.drawing.curves import Curve, curves, named, shown
from tests.offline.smoke.report.records import START, STEP, answer, answered, panel, series


def only(*values: float | None) -> Curve:
    """The curve of one series."""
    (found,) = curves(panel(), answered(series(values, node="a")), STEP)
    return found


def test_missing_step_breaks_the_line() -> None:
    found = only(1, 2, None, 4, 5)
    assert [str(value) for value in found.values] == ["1", "2", "nan", "4", "5"]
    assert found.times[2] == START + 2 * STEP
    assert found.alone == ()


@pytest.mark.parametrize("hole", [math.nan, math.inf, -math.inf])
def test_value_that_is_no_number_breaks_the_line(hole: float) -> None:
    found = only(1, 2, hole, 4, 5)
    assert math.isnan(found.values[2])
    assert found.numbers == (1, 2, 4, 5)


def test_late_point_is_no_hole() -> None:
    late = series([1, 2])
    points = (late.points[0], (late.points[1][0] + 0.4 * STEP, 2.0))
    (found,) = curves(panel(), (answer(series=(type(late)(labels={}, points=points),)),), STEP)
    assert found.values == (1, 2.0)


def test_point_between_two_holes_is_found() -> None:
    assert only(1, 2, None, 4, None, 6, 7).alone == (3,)
    assert only(5).alone == (0,)


def test_newest_number_is_the_last() -> None:
    assert only(1, 2, math.nan).last == 2


def test_series_without_a_number_is_no_curve() -> None:
    assert curves(panel(), answered(series([math.nan, math.inf])), STEP) == []


def test_greatest_comes_first_and_smallest_where_high_is_good() -> None:
    found = answered(series([1, 9], node="b"), series([5, 5], node="a"), series([9, 0], node="c"))
    assert [curve.name for curve in curves(panel(), found, STEP)] == ["b", "c", "a"]
    high = panel(limits=Limits(warn=1.0, good=Good.HIGH))
    assert [curve.name for curve in curves(high, found, STEP)] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("legend", "labels", "name"),
    [
        ("{{node}} of {{ team }}", {"node": "a", "team": "x"}, "a of x"),
        ("{{gone}}", {"node": "a"}, "Panel"),
        ("", {"__name__": "up", "b": "2", "a": "1"}, "a=1, b=2"),
        ("", {}, "Panel"),
        ("{{node}}", {"node": "{{team}}", "team": "x"}, "{{team}}"),
    ],
)
def test_name_is_that_of_the_legend(legend: str, labels: dict[str, str], name: str) -> None:
    query = Query(expr="up", legend=legend)
    assert named(series([1], **labels), query, panel()) == name


def test_what_comes_from_outside_is_masked_in_one_line_and_bounded() -> None:
    assert shown("a\n b\x00\x1b c") == "a b�� c"
    assert "hunter2" not in shown("password=hunter2")
    assert shown("x" * 91) == "x" * 89 + "…"
    assert shown("x" * 90) == "x" * 90
