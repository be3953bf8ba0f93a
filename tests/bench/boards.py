"""Every panel of the fleet's board, asked as Grafana asks it, and which panel of a public board tells the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards import boards
from signals.dashboards.asking import asked
from signals.dashboards.inputs import BoardInputs
from tests.bench.panels import MINUTES, Panel

if TYPE_CHECKING:
    from signals.dashboards.model import Board
    from signals.rules.inputs import RuleInputs

FLEET: Final = "plumbline-gpu-fleet"
_RATE_SECONDS: Final = 60
SAME: Final = (
    ("GPU fleet: Power", "12239 total power"),
    ("GPU fleet: Hottest GPU", "12239 average temperature"),
    ("GPU fleet: Temperature by node", "12239 temperature"),
    ("GPU fleet: Used memory of the fleet", "12239 framebuffer used"),
    ("GPU fleet: Utilization", "12239 engine active"),
    ("GPU fleet: Activity of the fleet", "12239 tensor active"),
)
"""Ours and theirs about the same: of the fleet or of its nodes here, and there of every GPU, which is its only way."""


def board_panels(inputs: RuleInputs) -> tuple[Panel, ...]:
    """Panels of the fleet's board, a Panel for each query, with everything chosen.

    Where a panel has several queries, all bear its title. Panels that may be empty are asked too: that costs as well.
    """
    found = boards(BoardInputs(rules=inputs))
    return tuple(
        Panel(f"{board.title}: {panel.title}", _asked(board, query.expr), may_be_empty=bool(panel.empty))
        for board in found
        if board.uid == FLEET
        for panel in board.panels
        for query in panel.queries
    )


def _asked(board: Board, expr: str) -> str:
    choices = {variable.name: ".*" for variable in board.variables}
    return asked(expr, choices, range_seconds=MINUTES * 60, rate_seconds=_RATE_SECONDS)
