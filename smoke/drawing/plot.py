"""Curves and bars as figures: axes in the unit of the panel, limits dashed, marks as thin lines, time in UTC."""

from __future__ import annotations

import math
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from matplotlib.dates import AutoDateLocator, DateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from signals.dashboards.model import Unit
from smoke.drawing.svg import INK
from smoke.drawing.values import DAY, Scale, scale, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from signals.dashboards.model import Limits, Panel
    from smoke.boards import Shown
    from smoke.drawing.curves import Curve

COLOURS: Final = ("#3b82d6", "#d9730d", "#1f9d63", "#b65fc9", "#c9a100", "#d64545")
"""Told apart on black and on white. Used again for a dashed line."""
REST: Final = "#8a8f98"
GRADES: Final = {"good": "#1f9d63", "warn": "#d98a00", "bad": "#d64545", "": COLOURS[0]}
LEGEND: Final = 2 * len(COLOURS)
"""Curves that have a colour of their own, and a name beside it."""
WIDTH, HEIGHT, BAR = 480.0, 210.0, 22.0
"""In pixels of the page: of a figure, and of one bar in it."""
_INCH: Final = 72.0
_ROOM: Final = 1.05
# Of the figure. Finding out how much room the words need takes as long as drawing.
_MARGINS: Final = {"left": 0.15, "right": 0.98, "top": 0.96, "bottom": 0.12}
_NAME_CHARS: Final = 28


def style(place: int) -> tuple[str, bool]:
    """Colour of a curve and whether it is dashed, by its place."""
    return (COLOURS[place % len(COLOURS)], place >= len(COLOURS)) if place < LEGEND else (REST, False)


def lines(panel: Panel, found: Sequence[Curve], seen: Shown) -> Figure:
    """Curves over the whole time of the board; where nothing was measured there is no line."""
    figure, axes = _figure(HEIGHT)
    figure.subplots_adjust(**_MARGINS)
    chosen = _scale(panel, found, seen.span.end)
    for place, curve in reversed(list(enumerate(found))):
        colour, dashed = style(place)
        values = [_placed(value, panel, chosen, seen.span.end) for value in curve.values]
        days = [time / DAY for time in curve.times]
        # Above the axis and not cut at it: a line at zero lies on it.
        above: dict[str, Any] = {"color": colour, "zorder": 3, "clip_on": False}
        axes.plot(days, values, linestyle="--" if dashed else "-", linewidth=1.4, **above)
        for at in curve.alone:
            axes.plot([days[at]], [values[at]], marker=".", linestyle="", **above)
    for mark in seen.marks:
        if seen.span.start <= mark.seconds <= seen.span.end:
            axes.axvline(mark.seconds / DAY, color=mark.colour, linewidth=0.8, alpha=0.8)
    _limits(axes, panel.limits, chosen)
    _heights(axes, panel, found, chosen, seen.span.end)
    axes.set_ylabel("age" if panel.unit is Unit.TIMESTAMP else "")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} {chosen.name}".rstrip()))
    _times(axes, seen)
    return figure


def bars(panel: Panel, shown: Sequence[tuple[str, float, str]], now: float) -> Figure:
    """One bar for each of `shown` (name, value, grade), from the top. now: Unix seconds."""
    figure, axes = _figure(BAR * (len(shown) + 2))
    figure.set_layout_engine("constrained")
    values = [_age(value, panel, now) for _, value, _ in shown]
    chosen = scale(panel.unit, max((abs(value) for value in values), default=0.0))
    places = range(len(shown))
    axes.barh(places, [value / chosen.size for value in values], color=[GRADES[grade] for _, _, grade in shown])
    axes.set_yticks(list(places), [_short(name) for name, _, _ in shown])
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} {chosen.name}".rstrip()))
    if panel.high is not None:
        axes.set_xlim(0, max(panel.high, *values) / chosen.size)
    for grade, value in steps(panel.limits):
        axes.axvline(value / chosen.size, color=GRADES[grade], linestyle="--", linewidth=1.0)
    return figure


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH / _INCH, height / _INCH), dpi=_INCH)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color=INK, alpha=0.15, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _scale(panel: Panel, found: Sequence[Curve], now: float) -> Scale:
    numbers = [abs(_age(value, panel, now)) for curve in found for value in curve.numbers]
    return scale(panel.unit, max(numbers, default=0.0))


def _placed(value: float, panel: Panel, chosen: Scale, now: float) -> float:
    return math.nan if math.isnan(value) else _age(value, panel, now) / chosen.size


def _age(value: float, panel: Panel, now: float) -> float:
    """A point in time is drawn by how long ago it is: of Unix seconds nobody sees one move."""
    return now - value if panel.unit is Unit.TIMESTAMP else value


def _limits(axes: Axes, limits: Limits | None, chosen: Scale) -> None:
    for grade, value in steps(limits):
        axes.axhline(value / chosen.size, color=GRADES[grade], linestyle="--", linewidth=1.0)


def _heights(axes: Axes, panel: Panel, found: Sequence[Curve], chosen: Scale, now: float) -> None:
    """From zero, so that a small change looks small; up to whatever is drawn, limits among it."""
    drawn = [_age(value, panel, now) for curve in found for value in curve.numbers]
    drawn += [value for _, value in steps(panel.limits)]
    top = max([*drawn, panel.high if panel.high is not None else 0.0]) / chosen.size
    bottom = min([*drawn, 0.0]) / chosen.size
    axes.set_ylim(bottom * _ROOM, top * _ROOM if top > bottom else bottom + 1.0)
    axes.yaxis.set_major_locator(MaxNLocator(5))


def _times(axes: Axes, seen: Shown) -> None:
    axes.set_xlim(seen.span.start / DAY, seen.span.end / DAY)
    pattern = "%H:%M" if seen.span.end - seen.span.start <= DAY else "%m-%d %H:%M"
    locator = AutoDateLocator(tz=UTC, minticks=3, maxticks=6)  # type: ignore[no-untyped-call]  # it has no types
    axes.xaxis.set_major_locator(locator)
    formatter = DateFormatter(pattern, tz=UTC)  # type: ignore[no-untyped-call]  # it has no types
    axes.xaxis.set_major_formatter(formatter)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"
