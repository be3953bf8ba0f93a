"""What tests of boards share: every board of a stack that has everything, and how one of its queries is asked."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from signals.dashboards import boards
from signals.dashboards.asking import asked
from signals.dashboards.inputs import BoardInputs
from signals.dashboards.model import ALERTMANAGER, LOGS, PROMETHEUS, TRACES
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from signals.dashboards.model import Board
    from signals.rules.inputs import RuleInputs

_Record = TypeVar("_Record", bound=Any)

BOARD_INPUTS = BoardInputs(
    rules=INPUTS,
    sources=frozenset({PROMETHEUS, ALERTMANAGER, LOGS, TRACES}),
    run_url="https://swanlab.example/@{team}/{job_id}/runs/{run_id}/chart",
)
BOARDS = boards(BOARD_INPUTS)
PANELS = [(board, panel) for board in BOARDS for panel in board.panels]
NAMES = [f"{board.uid}: {panel.title}" for board, panel in PANELS]


def ask(board: Board, expr: str) -> str:
    """The expression with all of everything chosen."""
    choices = {variable.name: ".*" for variable in board.variables}
    return asked(expr, choices, range_seconds=21600, rate_seconds=120)


def other_numbers(inputs: RuleInputs) -> RuleInputs:
    """The same stack, with another value for each of its numbers."""
    changed = {name: value * 0.9 for name, value in inputs.thresholds.model_dump().items() if isinstance(value, float)}
    whole = {name: value + 1 for name, value in inputs.thresholds.model_dump().items() if type(value) is int}
    found = replace(inputs, thresholds=inputs.thresholds.model_copy(update={**changed, **whole}))
    budgets = {job: budget * 2 for job, budget in inputs.budgets.items()}
    return replace(found, budgets=budgets, recovery=_twice(inputs.recovery), telemetry=_twice(inputs.telemetry))


def _twice(record: _Record) -> _Record:
    """Every number of a record, doubled."""
    numbers = {one.name: getattr(record, one.name) for one in fields(record)}
    return replace(record, **{name: value * 2 for name, value in numbers.items() if isinstance(value, int)})
