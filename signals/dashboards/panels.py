"""Panels of the kinds that every board has: a number, lines over time, a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.model import Kind, Panel, Query, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from signals.dashboards.model import Limits, Link

ALWAYS: Final[Mapping[str, str]] = {}
"""No line waits for anything."""


def stat(
    title: str,
    expr: str,
    meaning: str,
    unit: Unit = Unit.COUNT,
    limits: Limits | None = None,
    *,
    links: tuple[Link, ...] = (),
    empty: str = "",
) -> Panel:
    """One number for all that is chosen. For each field see `Panel`."""
    return Panel(
        title=title,
        kind=Kind.STAT,
        unit=unit,
        meaning=meaning,
        queries=(Query(expr=expr, instant=True),),
        limits=limits,
        links=links,
        empty=empty,
        width=4,
        height=4,
    )


def timeseries(  # noqa: PLR0913  # one parameter per field of the record that varies
    title: str,
    lines: dict[str, str],
    meaning: str,
    unit: Unit = Unit.COUNT,
    limits: Limits | None = None,
    *,
    links: tuple[Link, ...] = (),
    empty: str = "",
    width: int = 12,
    high: float | None = None,
    rare: Mapping[str, str] = ALWAYS,
) -> Panel:
    """Lines over the board's time. lines: legend → expression. rare: legend → the event for which its line waits."""
    return Panel(
        title=title,
        kind=Kind.TIMESERIES,
        unit=unit,
        meaning=meaning,
        queries=tuple(Query(expr=expr, legend=legend, empty=rare.get(legend, "")) for legend, expr in lines.items()),
        limits=limits,
        links=links,
        empty=empty,
        width=width,
        high=high,
    )


def table(
    title: str,
    expr: str,
    meaning: str,
    unit: Unit = Unit.COUNT,
    *,
    links: tuple[Link, ...] = (),
    empty: str = "",
    width: int = 12,
) -> Panel:
    """A row for each series that there is now, its labels and its value."""
    return Panel(
        title=title,
        kind=Kind.TABLE,
        unit=unit,
        meaning=meaning,
        queries=(Query(expr=expr, instant=True),),
        links=links,
        empty=empty,
        width=width,
    )
