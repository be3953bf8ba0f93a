"""What a healthy stack's Prometheus says to its boards: one value to each query that may not be empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.dashboards.asking import asked
from smoke import boards

if TYPE_CHECKING:
    from signals.dashboards.model import Board
    from stacks.contract import Contract

CLUSTER = "local"
"""Name and environment of the cluster in contracts of tests."""


def healthy(contract: Contract) -> dict[str, list[dict[str, str]]]:
    """Expression → labels of the series that it gives."""
    found: dict[str, list[dict[str, str]]] = {}
    for board in boards.of_contract(contract):
        for variable in board.variables:
            series = expression(contract, board, variable.series)
            value = _here(contract).get(variable.name, "x")
            found[f"group by ({variable.name}) ({series})"] = [{variable.name: value}]
        found |= {expression(contract, board, annotation.expr): [] for annotation in board.annotations}
        for panel in board.panels:
            for query in panel.queries:
                answer: list[dict[str, str]] = [] if panel.empty or query.empty else [{}]
                found[expression(contract, board, query.expr)] = answer
    return found


def expression(contract: Contract, board: Board, expr: str) -> str:
    """As smoke sends it, over a quarter of an hour."""
    choices = {variable.name: _here(contract).get(variable.name, ".*") for variable in board.variables}
    return asked(expr, choices, range_seconds=900, rate_seconds=120)


def _here(contract: Contract) -> dict[str, str]:
    return {"cluster": contract.cluster.name, "environment": contract.cluster.environment}
