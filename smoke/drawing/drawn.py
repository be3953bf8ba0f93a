"""Panels ready for a page: a drawing, numbers, a table or lines, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from signals.dashboards.model import Kind
from smoke.drawing import plot, svg
from smoke.drawing.curves import curves, has_number, shown
from smoke.drawing.tables import Table, table
from smoke.drawing.values import grade, steps, worded
from smoke.printable import printable
from smoke.redact import bounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from signals.dashboards.model import Panel
    from smoke.boards import Answer, Shown
    from smoke.drawing.curves import Curve

CURVES_DRAWN: Final = 60
NUMBERS: Final = 12
BARS: Final = 30
LINES: Final = 50
LINE_CHARS: Final = 400
TOLD: Final = 3
ERROR_CHARS: Final = 600


@dataclass(frozen=True, kw_only=True)
class Name:
    """One entry of a legend. last: the newest value, in words. colour: as in CSS."""

    name: str
    last: str
    colour: str
    dashed: bool


@dataclass(frozen=True, kw_only=True)
class Number:
    """One value of a panel. grade: `good`, `warn`, `bad`, or empty without limits."""

    name: str
    text: str
    grade: str


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """One panel.

    faults: why it cannot be trusted, each in a sentence; empty for a sound one. notes: what of it has nothing to show,
    as declared. empty: why all of it has nothing, likewise. svg: our own markup, safe in a page. more: what was left
    out, in words. limits: grade and value of each, in words. seconds: of its queries.
    """

    panel: Panel
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    empty: str = ""
    svg: str = ""
    legend: tuple[Name, ...] = ()
    numbers: tuple[Number, ...] = ()
    table: Table | None = None
    lines: tuple[str, ...] = ()
    more: str = ""
    limits: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class DrawnBoard:
    """One board.

    rows: title and panels of each. marks: time, colour and words of each, in order of time. marks_error: why there are
    none, masked.
    """

    seen: Shown
    rows: tuple[tuple[str, tuple[Drawn, ...]], ...] = ()
    marks: tuple[tuple[str, str, str], ...] = ()
    marks_error: str = ""

    @property
    def panels(self) -> tuple[Drawn, ...]:
        """All of them, row by row."""
        return tuple(panel for _, panels in self.rows for panel in panels)


def draw(panel: Panel, seen: Shown, prefix: str) -> Drawn:
    """One panel with its answers. prefix: of the ids in its drawing, unlike that of any other on the page."""
    answers = seen.answers.get(panel.title)
    if answers is None or len(answers) != len(panel.queries):
        return Drawn(panel=panel, faults=(f"{len(answers or ())} of its {len(panel.queries)} queries were asked",))
    made = Drawn(
        panel=panel,
        faults=_failed(panel, answers),
        limits=_limits(panel),
        seconds=sum(answer.seconds for answer in answers),
    )
    if not any(map(_has_content, answers)):
        return _without(made, answers)
    try:
        faults = (*made.faults, *_undeclared(panel, answers))
        return _filled(replace(made, faults=faults, notes=_notes(panel, answers)), answers, seen, prefix)
    except Exception as error:  # the boundary: one panel must not cost the others theirs
        return replace(made, faults=(*made.faults, f"cannot be drawn: {type(error).__name__}: {bounded(str(error))}"))


def _filled(made: Drawn, answers: Sequence[Answer], seen: Shown, prefix: str) -> Drawn:
    panel = made.panel
    if panel.kind is Kind.LOGS:
        lines = [line for answer in answers for line in answer.lines]
        told = tuple(shown(line.text, LINE_CHARS) for line in lines[:LINES])
        return replace(made, lines=told, more=_more(len(lines) - LINES, "lines"))
    if panel.kind is Kind.TABLE:
        return replace(made, table=table(panel, answers, seen.span.end))
    found = curves(panel, answers, seen.span.step)
    if panel.kind is Kind.STAT:
        return replace(made, numbers=_numbers(panel, found, seen), more=_more(len(found) - NUMBERS, "values"))
    if panel.kind is Kind.BARS:
        return _bars(made, found, seen, prefix)
    return _lines(made, found, seen, prefix)


def _has_content(answer: Answer) -> bool:
    return bool(answer.lines) or any(map(has_number, answer.series))


def _failed(panel: Panel, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Queries that brought an error."""
    return tuple(
        f"its query failed{panel.which(panel.queries[place])}: {printable(bounded(answer.error, ERROR_CHARS))}"
        for place, answer in enumerate(answers)
        if answer.error
    )


def _without(made: Drawn, answers: Sequence[Answer]) -> Drawn:
    """Nothing to show: as declared, or a fault. A fault that is known already is told alone."""
    if made.faults or made.panel.empty:
        return made if made.faults else replace(made, empty=made.panel.nothing)
    numbers = any(answer.series for answer in answers)
    return replace(made, faults=("no value is a number" if numbers else "empty, and nothing declares that it may be",))


def _notes(panel: Panel, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Queries without a value beside others that have some, as declared: no line is drawn, and that is told."""
    return tuple(
        f"nothing{panel.which(panel.queries[place])}" + (f" until {answer.query.empty}" if answer.query.empty else "")
        for place, answer in _silent(answers)
        if panel.empty or answer.query.empty
    )


def _undeclared(panel: Panel, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Queries without a value beside others that have some, of which nobody said so."""
    return tuple(
        f"nothing{panel.which(panel.queries[place])}, and nothing declares that it may be empty"
        for place, answer in _silent(answers)
        if not (panel.empty or answer.query.empty)
    )


def _silent(answers: Sequence[Answer]) -> list[tuple[int, Answer]]:
    return [(place, one) for place, one in enumerate(answers) if not one.error and not _has_content(one)]


def _limits(panel: Panel) -> tuple[tuple[str, str], ...]:
    """Grade and value of each limit, in words."""
    return tuple((name, worded(value, panel.unit, decimals=panel.decimals)) for name, value in steps(panel.limits))


def _numbers(panel: Panel, found: Sequence[Curve], seen: Shown) -> tuple[Number, ...]:
    told = [
        Number(
            name=curve.name if len(found) > 1 else "",
            text=worded(curve.last, panel.unit, decimals=panel.decimals, now=seen.span.end),
            grade=grade(curve.last, panel.limits),
        )
        for curve in found[:NUMBERS]
    ]
    return tuple(told)


def _bars(made: Drawn, found: Sequence[Curve], seen: Shown, prefix: str) -> Drawn:
    panel = made.panel
    lasts = [(curve.name, curve.last, grade(curve.last, panel.limits)) for curve in found[:BARS]]
    with svg.drawing():
        picture = svg.inline(plot.bars(panel, lasts, seen.span.end), prefix, _label(panel, found))
    numbers = tuple(
        Number(name=name, text=worded(value, panel.unit, decimals=panel.decimals, now=seen.span.end), grade=graded)
        for name, value, graded in lasts
    )
    return replace(made, svg=picture, numbers=numbers, more=_more(len(found) - BARS, "bars"))


def _lines(made: Drawn, found: Sequence[Curve], seen: Shown, prefix: str) -> Drawn:
    panel = made.panel
    with svg.drawing():
        figure = plot.lines(panel, found[:CURVES_DRAWN], seen)
        picture = svg.inline(figure, prefix, _label(panel, found))
    legend = []
    for place, curve in enumerate(found[: plot.LEGEND]):
        colour, dashed = plot.style(place)
        last = worded(curve.last, panel.unit, decimals=panel.decimals, now=seen.span.end)
        legend.append(Name(name=curve.name, last=last, colour=colour, dashed=dashed))
    more = _more(len(found) - plot.LEGEND, "")
    if len(found) > CURVES_DRAWN:
        more += f", of which {len(found) - CURVES_DRAWN} are not drawn"
    return replace(made, svg=picture, legend=tuple(legend), more=more)


def _label(panel: Panel, found: Sequence[Curve]) -> str:
    """What the drawing shows, in a sentence."""
    names = ", ".join(curve.name for curve in found[:TOLD])
    return f"{panel.title}: {names} {_more(len(found) - TOLD, '')}".rstrip()


def _more(count: int, what: str) -> str:
    return f"and {count} more {what}".rstrip() if count > 0 else ""
