"""Whether a panel shows what it promises: answers to each query, one number where one is to be, emptiness by design."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from signals.dashboards.model import Kind
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from signals.dashboards.model import Board, Panel, Variable
    from smoke.boards import Answer


def panel(board: Board, panel: Panel, answers: Sequence[Answer]) -> list[Problem]:
    """answers: one for each query of the panel. A number of which there are two is none that a person can trust."""
    name = f"{board.title}: {panel.title}"
    refused = [Problem(name, answer.error, "an answer") for answer in answers if answer.error]
    if refused or len(answers) != len(panel.queries):
        return refused or [Problem(name, f"{len(answers)} answers", f"{len(panel.queries)}, one for each query")]
    if panel.kind is Kind.STAT:
        return _number(name, panel, answers)
    waited = "something: no event is named that it waits for"
    silent = [] if panel.empty else [answer.query for answer in answers if not (answer.query.empty or _values(answer))]
    return [Problem(name, f"nothing{panel.which(query)}", f"{waited} ({query.spelt})") for query in silent]


def _number(name: str, panel: Panel, answers: Sequence[Answer]) -> list[Problem]:
    for answer in answers:
        shown = len(answer.series)
        if shown > 1:
            return [Problem(name, f"{shown} numbers", f"one for each query ({answer.query.spelt})")]
        if not (_values(answer) or panel.empty or answer.query.empty):
            return [Problem(name, "no number" if shown else "nothing", f"a number ({answer.query.spelt})")]
    return []


def some(boards: Sequence[Board]) -> list[Problem]:
    """Every stack has one board at least: that of the platform."""
    return [] if boards else [Problem("boards", "none", "one at least", terminal=True)]


def choices(board: Board, offered: Mapping[str, Sequence[str]], wanted: Mapping[str, str]) -> list[Problem]:
    """offered: variable → values that it offers. wanted: variable → the value that this stack's series have."""
    return [problem for variable in board.variables for problem in _choice(board, variable, offered, wanted)]


def _choice(
    board: Board, variable: Variable, offered: Mapping[str, Sequence[str]], wanted: Mapping[str, str]
) -> list[Problem]:
    name, found = f"{board.title}: choice {variable.label}", offered.get(variable.name, ())
    must = wanted.get(variable.name)
    if must is not None and must not in found:
        return [Problem(name, ", ".join(found) or "nothing to choose", f"{must} among them")]
    if not found and not variable.empty:
        return [Problem(name, "nothing to choose", f"values of {variable.name} ({variable.series})")]
    return []


def _values(answer: Answer) -> list[float]:
    """Numbers that can be drawn."""
    return [value for series in answer.series for _, value in series.points if math.isfinite(value)]
