"""Boards of a stack: those whose jobs it has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from signals.dashboards.alerting import alerting
from signals.dashboards.data_protection import data_protection
from signals.dashboards.gpu_fleet import gpu_fleet
from signals.dashboards.marks import marks
from signals.dashboards.node import node
from signals.dashboards.platform import platform
from signals.dashboards.swanlab import swanlab
from signals.dashboards.telemetry import telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Board

BOARDS: Final[tuple[Callable[[BoardInputs], Board], ...]] = (
    platform,
    gpu_fleet,
    node,
    swanlab,
    telemetry,
    data_protection,
    alerting,
)


def boards(inputs: BoardInputs) -> tuple[Board, ...]:
    """All of them, in the order in which people look. Rows without their jobs are left out, and boards without rows."""
    jobs = set(inputs.rules.jobs)
    found = []
    for build in BOARDS:
        board = build(inputs)
        rows = tuple(row for row in board.rows if row.needs <= jobs and row.panels)
        if board.needs <= jobs and rows:
            found.append(replace(board, rows=rows, annotations=marks(inputs.rules)))
    return tuple(found)
