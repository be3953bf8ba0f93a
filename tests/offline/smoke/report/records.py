"""Boards and answers made by hand: a window of one hour, a point a minute."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from signals.dashboards.model import Board, Kind, Panel, Query, Row, Unit
from smoke.boards import Answer, Mark, Series, Shown, Span
from smoke.model import Outcome, Run, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

START = 1767225600.0
"""2026-01-01 00:00:00 UTC."""
STEP = 60.0
END = START + 3600
EVIL = "<script>alert(1)</script>"


def series(values: Iterable[float | None], **labels: str) -> Series:
    """A point a minute from START; None where there is none."""
    points = tuple((START + STEP * place, value) for place, value in enumerate(values) if value is not None)
    return Series(labels=labels, points=points)


def panel(kind: Kind = Kind.TIMESERIES, unit: Unit = Unit.COUNT, **fields: Any) -> Panel:  # noqa: ANN401  # its fields
    """A panel with one query whose legend is the label `node`."""
    given = {"title": "Panel", "meaning": "What it tells.", "queries": (Query(expr="up", legend="{{node}}"),)}
    return Panel(kind=kind, unit=unit, **{**given, **fields})


def board(*panels: Panel, uid: str = "plumbline-one") -> Board:
    """A board of one row."""
    row = Row(title="Row", panels=panels)
    return Board(uid=uid, title=f"Board {uid}", meaning="All of it.", rows=(row,), variables=())


def gathered(told: dict[Panel, tuple[Answer, ...]], **fields: Any) -> Shown:  # noqa: ANN401  # its fields
    """Answers for panels of one board."""
    panels = {one.title: found for one, found in told.items()}
    return Shown(board(*told), **{"span": Span(START, END, STEP), "answers": panels, **fields})


def answer(**fields: Any) -> Answer:  # noqa: ANN401  # fields of the record
    """One answer; which query it is of is told by its place."""
    return Answer(Query(expr="up"), **fields)


def answered(*found: Series, **fields: Any) -> tuple[Answer, ...]:  # noqa: ANN401  # fields of the record
    """One answer with these series."""
    return (answer(series=found, **fields),)


def wave(count: int, shift: float = 0.0) -> list[float]:
    """Values between 0 and 100."""
    return [50 + 50 * math.sin(place / 9 + shift) for place in range(count)]


def every_kind() -> dict[Panel, tuple[Answer, ...]]:
    """One panel of each kind, whose labels hold what a page must not take for its own."""
    many = [series(wave(61, place), node=f"node-{place:02}", pod=EVIL) for place in range(14)]
    return {
        panel(Kind.STAT, title="Number"): answered(series([87.5])),
        panel(title="Lines"): answered(*many, series(wave(61), node=EVIL)),
        panel(Kind.TABLE, title="Table"): answered(series([1.0], node=EVIL, namespace="a" * 200)),
        panel(Kind.BARS, title="Bars"): answered(series([3.0], node=EVIL), series([1.0], node="b & <i>")),
        panel(Kind.LOGS, title="Log"): (answer(),),
    }


MARKS = (Mark(title="Alerts", text=f"P1 {EVIL}", colour="red", seconds=START + 600),)


def outcome(check_id: str, status: Status, **fields: Any) -> Outcome:  # noqa: ANN401  # fields of the record
    """A check about the whole stack, unless a test says otherwise."""
    given: dict[str, Any] = {
        "requirement": "B1",
        "claim": f"claim of {check_id}",
        "tier": "live",
        "impact": "read",
        "remedy": "do this",
        "seconds": 1.0,
    }
    return Outcome(id=check_id, status=status, **{**given, **fields})


def run(*outcomes: Outcome, **fields: Any) -> Run:  # noqa: ANN401  # fields of the record
    """A run on `local`."""
    given: dict[str, Any] = {"stack": "local", "cluster_uid": "uid-1", "started": "2026-01-01T00:00:00+00:00"}
    return Run(outcomes=list(outcomes), **{**given, **fields})
