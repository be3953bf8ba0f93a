"""Drawings: what is in them, that the same data gives the same bytes, and that they stay apart on one page."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

import matplotlib as mpl
import pytest

from signals.dashboards.model import Kind, Limits, Panel, Unit
from smoke.drawing import plot, svg
from smoke.drawing.curves import curves
from smoke.drawing.drawn import Drawn, draw
from tests.offline.smoke.report.records import (
    END,
    EVIL,
    MARKS,
    START,
    STEP,
    answered,
    gathered,
    panel,
    series,
    wave,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from smoke.boards import Series, Shown


def drawn(one: Panel, *found: Series, prefix: str = "p-", **fields: object) -> Drawn:
    """The panel with these series."""
    return draw(one, gathered({one: answered(*found)}, **fields), prefix)


def axes_of(one: Panel, *found: Series, **fields: object) -> Axes:
    """The axes of a panel of lines."""
    with svg.drawing():
        told: Shown = gathered({one: answered(*found)}, **fields)
        (axes,) = plot.lines(one, curves(one, answered(*found), STEP), told).axes
    return axes


def words(text: str) -> list[str]:
    """Texts of an SVG."""
    return ["".join(node.itertext()) for node in Xml.fromstring(text).iter("text")]  # noqa: S314  # our own drawing


def strokes(*values: float | None) -> int:
    """How often the pen is set down for the longest line of a drawing."""
    paths = re.findall(r' d="([^"]*)"', drawn(panel(), series(values, node="a")).svg)
    return max(str(path).count("M") for path in paths if str(path).count("L") > 1)


@pytest.mark.parametrize("hole", [None, math.nan, math.inf])
def test_gap_is_a_gap_in_the_line(hole: float | None) -> None:
    assert strokes(1, 5, 2, 3, 5, 1, 4) == 1
    assert strokes(1, 5, 2, hole, 5, 1, 4) == 2


def numbers(data: Any) -> list[float]:  # noqa: ANN401  # matplotlib's arrays have no type of their own
    """Coordinates of a line."""
    return [float(value) for value in data]


def test_points_of_a_line_are_those_of_the_series() -> None:
    lines = [numbers(line.get_ydata()) for line in axes_of(panel(), series([5, 5, None, 5, 6])).lines]
    assert [str(values) for values in lines if len(values) == 5] == ["[5.0, 5.0, nan, 5.0, 6.0]"]


def test_lonely_point_is_seen_as_a_dot() -> None:
    lines = axes_of(panel(), series([1, 2, None, 4, None, 6, 7])).lines
    assert [numbers(line.get_ydata()) for line in lines if line.get_marker() == "."] == [[4.0]]


def test_limits_are_dashed_lines_at_their_values() -> None:
    axes = axes_of(panel(unit=Unit.RATIO, limits=Limits(warn=0.8, bad=0.9)), series([0.1, 0.2]))
    dashed = [numbers(line.get_ydata()) for line in axes.lines if line.get_linestyle() == "--"]
    assert [round(values[0], 6) for values in dashed] == [80, 90]
    assert axes.get_ylim()[1] > 90


def test_marks_are_lines_at_their_times_and_those_outside_are_left_out() -> None:
    late = replace(MARKS[0], colour="blue", seconds=END + 1)
    axes = axes_of(panel(), series([1, 2]), marks=(MARKS[0], late))
    upright = [line for line in axes.lines if numbers(line.get_ydata()) == [0, 1]]
    assert [(numbers(line.get_xdata())[0] * 86400, line.get_color()) for line in upright] == [(START + 600, "red")]


def test_axes_are_in_the_unit_of_the_panel_and_in_utc() -> None:
    text = words(drawn(panel(unit=Unit.BYTES), series([1024.0**3, 4 * 1024.0**3])).svg)
    assert "4 GiB" in text
    assert {"00:00", "01:00"} <= set(text)
    assert "100 %" in words(drawn(panel(unit=Unit.RATIO, high=1), series([0.25, 0.5])).svg)
    assert "400 ms" in words(drawn(panel(unit=Unit.SECONDS), series([0.1, 0.4])).svg)


def test_whole_time_of_the_board_is_shown_though_answers_are_short() -> None:
    assert axes_of(panel(), series([1, 2])).get_xlim() == (START / 86400, END / 86400)


def test_point_in_time_is_drawn_by_its_age() -> None:
    one = panel(unit=Unit.TIMESTAMP)
    axes = axes_of(one, series([END - 7200.0, END - 3600.0]))
    assert axes.get_ylabel() == "age"
    assert numbers(axes.lines[0].get_ydata()) == [2.0, 1.0]


def test_constant_zero_and_one_huge_value_can_be_drawn() -> None:
    for values in ([0.0, 0.0], [1e30, 1.0], [-5.0, -5.0]):
        assert drawn(panel(), series(values)).faults == ()


def test_legend_names_twelve_and_counts_the_rest() -> None:
    found = drawn(panel(), *(series([place], node=f"n{place:02}") for place in range(15)))
    assert [entry.name for entry in found.legend] == [f"n{place:02}" for place in range(14, 2, -1)]
    assert [entry.dashed for entry in found.legend] == [False] * 6 + [True] * 6
    assert len({(entry.colour, entry.dashed) for entry in found.legend}) == 12
    assert found.more == "and 3 more"
    assert drawn(panel(), *(series([place], node=f"n{place}") for place in range(12))).more == ""


def test_lines_beyond_sixty_are_not_drawn_and_that_is_said() -> None:
    found = drawn(panel(), *(series([place], node=f"n{place}") for place in range(62)))
    assert found.more == "and 50 more, of which 2 are not drawn"


def test_same_data_gives_the_same_bytes_whatever_the_settings_of_the_user() -> None:
    first = drawn(panel(), series(wave(61), node="a")).svg
    with mpl.rc_context({"font.size": 40, "svg.fonttype": "path", "axes.linewidth": 9}):
        assert drawn(panel(), series(wave(61), node="a")).svg == first
        assert mpl.rcParams["font.size"] == 40
    assert not re.search(r"20\d\d-\d\d-\d\dT|<metadata|<style|http", first)


def test_ids_have_the_prefix_and_everything_that_is_referred_to_exists() -> None:
    for kind in (Kind.TIMESERIES, Kind.BARS):
        text = drawn(panel(kind), series([1, 2, None, 3], node="a"), prefix="board7-3-").svg
        ids = re.findall(r'\bid="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        assert ids != []
        assert [one for one in ids if not one.startswith("board7-3-")] == []
        referred = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text)
        assert {a or b for a, b in referred} <= set(ids)
        assert referred != []


@pytest.mark.filterwarnings("error")
def test_labels_are_text_and_neither_markup_nor_formula() -> None:
    for name in (EVIL, "$x^2$", r"\frac{1}{2} $", "&amp;", "节点", "\x00\x1b[31m"):
        found = drawn(panel(Kind.BARS), series([1], node=name))
        assert found.faults == ()
        assert "<script" not in found.svg
    assert EVIL in words(drawn(panel(Kind.BARS), series([1], node=EVIL)).svg)
    assert "$x^2$" in words(drawn(panel(Kind.BARS), series([1], node="$x^2$")).svg)


def test_ink_is_that_of_the_page_and_the_drawing_says_what_it_shows() -> None:
    root = Xml.fromstring(drawn(panel(), series(wave(9), node=EVIL)).svg)  # noqa: S314  # our own drawing
    assert (root.get("role"), root.get("aria-label")) == ("img", f"Panel: {EVIL}")
    assert root.get("viewBox") == "0 0 480 210"
    text = Xml.tostring(root, encoding="unicode")
    assert "currentColor" in text
    assert svg.INK not in text


def test_bars_say_their_values_and_count_what_is_left_out() -> None:
    found = drawn(panel(Kind.BARS), *(series([place], node=f"n{place:02}") for place in range(33)))
    assert (found.numbers[0].name, found.numbers[0].text) == ("n32", "32")
    assert (len(found.numbers), found.more) == (30, "and 3 more bars")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_bar_without_a_number_is_a_fault(value: float) -> None:
    assert drawn(panel(Kind.BARS), series([value])).faults == ("no value is a number",)
