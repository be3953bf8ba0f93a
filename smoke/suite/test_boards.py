"""The panels of this stack's boards, asked as Grafana asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smoke import boards, limits
from smoke.check import check
from smoke.judge import boards as judge

if TYPE_CHECKING:
    from signals.dashboards.model import Board
    from smoke.model import Problem
    from smoke.stack import Stack

_SLOWEST = 5


@check("boards.choices")
def test_boards_choices(stack: Stack) -> str:
    found = boards.of_contract(stack.contract)

    def probe() -> list[Problem]:
        span = boards.now(stack)
        problems = judge.some(found)
        for board in found:
            wanted = {name: value for name, value in boards.chosen(stack, board).items() if value != ".*"}
            offered = {variable.name: boards.offered(stack, board, variable, span) for variable in board.variables}
            problems += judge.choices(board, offered, wanted)
        return problems

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{one.title}: {', '.join(variable.label for variable in one.variables)}" for one in found)


@check("boards.answered")
def test_boards_answered(stack: Stack) -> str:
    """A panel that has once answered is not asked again: what is missing on a young stack is awaited."""
    found = boards.of_contract(stack.contract)
    pending = [(board, panel) for board in found for panel in board.panels]
    took: dict[str, float] = {}

    def probe() -> list[Problem]:
        span, problems, left = boards.now(stack), judge.some(found), []
        for board, panel in pending:
            answers = boards.ask(stack, board, panel, span)
            took[f"{board.title}: {panel.title}"] = sum(answer.seconds for answer in answers)
            wrong = judge.panel(board, panel, answers)
            problems += wrong
            left += [(board, panel)] if wrong else []
        pending[:] = left
        return problems

    stack.settle(probe, limits.RULES)
    return _told(found, took)


def _told(found: tuple[Board, ...], took: dict[str, float]) -> str:
    slowest = sorted(took.items(), key=lambda one: -one[1])[:_SLOWEST]
    waiting = sum(1 for board in found for panel in board.panels if panel.empty)
    return "\n".join(
        [
            f"{len(took)} panels of {len(found)} boards answered in {sum(took.values()):.1f} s",
            f"{waiting} of them may be empty by design",
            *(f"{seconds:.2f} s {name}" for name, seconds in slowest),
        ]
    )
