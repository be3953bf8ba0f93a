"""Answers as a table: a row for each set of labels, a column for each label and for each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from smoke.drawing.curves import METRIC, has_number, shown
from smoke.drawing.values import grade, worded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from signals.dashboards.model import Panel
    from smoke.boards import Answer

ROWS: Final = 50
CELL_CHARS: Final = 120
Cell = tuple[str, str]
"""Text and grade."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """rows: at most ROWS. more: how many there are beyond."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int


def table(panel: Panel, answers: Sequence[Answer], now: float) -> Table:
    """The newest value of each series; queries share the rows whose labels are equal. now: Unix seconds."""
    merged: dict[tuple[tuple[str, str], ...], dict[int, float]] = {}
    for place, answer in enumerate(answers):
        for series in filter(has_number, answer.series):
            labels = {name: value for name, value in series.labels.items() if name != METRIC}
            merged.setdefault(tuple(sorted(labels.items())), {})[place] = series.points[-1][1]
    names = sorted({name for key in merged for name, _ in key})
    head = [query.legend or "value" for query in panel.queries]
    rows = [
        (
            *((shown(dict(key).get(name, ""), CELL_CHARS), "") for name in names),
            *(_value(panel, values.get(place), now) for place in range(len(panel.queries))),
        )
        for key, values in sorted(merged.items())
    ]
    return Table(head=(*map(shown, names), *head), rows=tuple(rows[:ROWS]), more=max(len(rows) - ROWS, 0))


def _value(panel: Panel, value: float | None, now: float) -> Cell:
    if value is None:
        return "", ""
    return worded(value, panel.unit, decimals=panel.decimals, now=now), grade(value, panel.limits)
