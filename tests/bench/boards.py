"""Every panel about GPUs and their pods, asked as Grafana asks it, and which panel of a public board tells the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from signals.dashboards import boards
from signals.dashboards.asking import asked
from signals.dashboards.inputs import BoardInputs
from tests.bench.panels import MINUTES, Panel

if TYPE_CHECKING:
    from signals.dashboards.model import Board
    from signals.rules.inputs import RuleInputs

FLEET: Final = "plumbline-gpu-fleet"
A_NODE: Final = "gpu-node-0001"
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
    """A Panel for each query of each board that reads what the bench scrapes; with everything chosen, and one node.

    Where a panel has several queries, all bear its title. Panels that may be empty are asked too: that costs as well.
    Of the fleet's board alone is it known which may be: here nobody plays nodes and Kubernetes' events.
    """
    # A node's board has rows about its GPUs and pods, and is rendered where node-exporter is.
    found = boards(BoardInputs(rules=replace(inputs, jobs=(*inputs.jobs, "node-exporter"))))
    return tuple(
        Panel(
            f"{board.title}: {panel.title}",
            _asked(board, query.expr),
            may_be_empty=bool(panel.empty) or board.uid != FLEET,
        )
        for board in found
        for panel in board.panels
        for query in panel.queries
    )


def _asked(board: Board, expr: str) -> str:
    choices = {one.name: ".*" if one.all_at_once else A_NODE for one in board.variables}
    return asked(expr, choices, range_seconds=MINUTES * 60, rate_seconds=_RATE_SECONDS)
