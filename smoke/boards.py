"""What the panels of this stack's boards show: each asked as Grafana asks it, over one cluster and a span of time."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from signals.dashboards import boards
from signals.dashboards.asking import asked
from signals.dashboards.inputs import BoardInputs
from signals.dashboards.model import ALERTMANAGER, LOGS, PROMETHEUS, TRACES
from smoke import limits
from smoke.access.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from signals.dashboards.model import Annotation, Board, Panel, Query, Variable
    from smoke.stack import Stack
    from stacks.contract import Contract

Json = dict[str, Any]
_LABEL = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_SOURCES = {"metrics": PROMETHEUS, "alerting": ALERTMANAGER, "logs": LOGS, "traces": TRACES}
"""Capability → uid of the datasource that it gives."""


@dataclass(frozen=True)
class Span:
    """A stretch of time. start, end: Unix seconds. step: seconds between values."""

    start: float
    end: float
    step: float


@dataclass(frozen=True)
class Series:
    """One line. labels: as Prometheus gives them. points: (Unix seconds, value) by time; a NaN is no value."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Line:
    """One line of a log. seconds: Unix time."""

    seconds: float
    text: str


@dataclass(frozen=True)
class Mark:
    """One mark in time. title, colour: of its annotation. text: with its labels filled in. seconds: Unix time."""

    title: str
    text: str
    colour: str
    seconds: float


@dataclass(frozen=True)
class Answer:
    """What one query of a panel gave: series, or lines of a log.

    seconds: how long it took. error: why there is no answer, else empty.
    """

    query: Query
    series: tuple[Series, ...] = ()
    seconds: float = 0.0
    error: str = ""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Shown:
    """A board as it is now.

    answers: title of the panel → what its queries gave, in their order; one that is missing was not asked. marks_error:
    why marks are missing, if they are.
    """

    board: Board
    span: Span
    answers: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    marks_error: str = ""


def of_contract(contract: Contract) -> tuple[Board, ...]:
    """The boards that a stack has."""
    sources = frozenset(uid for capability, uid in _SOURCES.items() if capability in contract.capabilities)
    return boards(BoardInputs(rules=contract.rules, sources=sources))


def chosen(stack: Stack, board: Board) -> dict[str, str]:
    """Choices of a person who looks at this stack: its cluster and environment, and all of everything else."""
    here = {"cluster": stack.contract.cluster.name, "environment": stack.contract.cluster.environment}
    return {variable.name: here.get(variable.name, ".*") for variable in board.variables}


def now(stack: Stack) -> Span:
    """The last quarter of an hour, by the clock of Prometheus. Raises AccessError."""
    end = stack.prometheus.scalar("time()")
    return Span(start=end - limits.BOARD_SPAN, end=end, step=limits.BOARD_STEP)


def ask(stack: Stack, board: Board, panel: Panel, span: Span) -> tuple[Answer, ...]:
    """Every query of a panel; one that is refused is an answer too."""
    return tuple(_ask(stack, board, query, span) for query in panel.queries)


def show(stack: Stack, board: Board, span: Span) -> Shown:
    """Every panel of a board, and the marks of its time."""
    answers = {panel.title: ask(stack, board, panel, span) for panel in board.panels}
    found: list[Mark] = []
    try:
        for annotation in board.annotations:
            expr = expression(stack, board, annotation.expr, span)
            answer = stack.prometheus.range(expr, span.start, span.end, span.step)
            found += [mark for one in answer for mark in marks(annotation, _line(one), span.step)]
    except AccessError as error:
        return Shown(board, span, answers, marks_error=str(error))
    return Shown(board, span, answers, tuple(found))


def marks(annotation: Annotation, series: Series, step: float) -> list[Mark]:
    """One where each stretch of values begins. step: seconds between two values."""
    text = labelled(annotation.text, series.labels)
    times = [time for time, _ in series.points]
    begun = [time for time, before in zip(times, [-math.inf, *times], strict=False) if time - before > 1.5 * step]
    return [Mark(annotation.title, text, annotation.colour, time) for time in begun]


def expression(stack: Stack, board: Board, expr: str, span: Span) -> str:
    """As Grafana sends it: a rate is over four scrapes at least."""
    return asked(
        expr,
        chosen(stack, board),
        range_seconds=int(span.end - span.start),
        rate_seconds=int(max(limits.BOARD_RATE, span.step)),
    )


def labelled(text: str, labels: Mapping[str, str]) -> str:
    """The text of a legend or mark with its labels filled in."""
    return _LABEL.sub(lambda found: labels.get(found[1], ""), text)


def offered(stack: Stack, board: Board, variable: Variable, span: Span) -> list[str]:
    """Values of a choice, as Grafana lists them. Raises AccessError."""
    series = expression(stack, board, variable.series, span)
    found = stack.prometheus.query(f"group by ({variable.name}) ({series})", span.end)
    return sorted(one["metric"][variable.name] for one in found if one["metric"].get(variable.name))


def _ask(stack: Stack, board: Board, query: Query, span: Span) -> Answer:
    begun = time.monotonic()
    try:
        found = _series(stack, query, expression(stack, board, query.expr, span), span)
    except AccessError as error:
        return Answer(query, seconds=time.monotonic() - begun, error=str(error))
    return Answer(query, found, time.monotonic() - begun)


def _series(stack: Stack, query: Query, expr: str, span: Span) -> tuple[Series, ...]:
    if query.instant:
        found = stack.prometheus.query(expr, span.end)
        return tuple(Series(one["metric"], (_point(one["value"]),)) for one in found)
    found = stack.prometheus.range(expr, span.start, span.end, span.step)
    return tuple(map(_line, found))


def _line(one: Json) -> Series:
    return Series(one["metric"], tuple(map(_point, one["values"])))


def _point(value: list[Any]) -> tuple[float, float]:
    return float(value[0]), float(value[1])
