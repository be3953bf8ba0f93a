"""Panels of the three kinds that most boards are made of, with what each kind takes for granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.dashboards.model import Kind, Panel, Query, Unit
from signals.dashboards.panels import ALWAYS, stat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from signals.dashboards.model import Limits, Link


def number(  # one parameter per field of the record that varies here
    title: str,
    unit: Unit,
    expr: str,
    meaning: str,
    *,
    limits: Limits | None = None,
    empty: str = "",
    links: tuple[Link, ...] = (),
) -> Panel:
    """One number for all that is chosen. Six of them fill a row."""
    return stat(title, expr, meaning, unit, limits, links=links, empty=empty)


def lines(  # noqa: PLR0913  # as above
    title: str,
    unit: Unit,
    queries: tuple[tuple[str, str], ...],
    meaning: str,
    *,
    limits: Limits | None = None,
    empty: str = "",
    links: tuple[Link, ...] = (),
    width: int = 12,
    high: float | None = None,
    rare: Mapping[str, str] = ALWAYS,
) -> Panel:
    """Values over the board's time. queries: expression and legend of each. rare: as of `timeseries`."""
    return Panel(
        title=title,
        kind=Kind.TIMESERIES,
        unit=unit,
        meaning=meaning,
        queries=tuple(Query(expr=expr, legend=legend, empty=rare.get(legend, "")) for expr, legend in queries),
        limits=limits,
        empty=empty,
        links=links,
        width=width,
        high=high,
    )


def listed(  # as above
    title: str,
    expr: str,
    meaning: str,
    *,
    empty: str = "",
    links: tuple[Link, ...] = (),
    width: int = 24,
) -> Panel:
    """A table of what there is now: labels, and how many."""
    return Panel(
        title=title,
        kind=Kind.TABLE,
        unit=Unit.COUNT,
        meaning=meaning,
        queries=(Query(expr=expr, instant=True),),
        empty=empty,
        links=links,
        width=width,
    )
