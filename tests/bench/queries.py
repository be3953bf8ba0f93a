"""How long questions take: each asked several times, the first answer thrown away."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Final

from tests.bench.expansion import raw
from tests.bench.figures import Asked, Timed
from tests.bench.panels import MINUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.bench.client import Client
    from tests.bench.expansion import Recorded
    from tests.bench.panels import Panel
    from tests.bench.plan import Plan

_AT_MOST: Final = 12.0
"""Seconds for the runs of one question: a slow one is asked fewer times, or the bench would not end."""


def ask(client: Client, panel: Panel, known: Mapping[str, Recorded], plan: Plan) -> Asked:
    """A panel both ways, if its expression names recorded series; else one way. Raises BenchError.

    Totals are of one moment, that of the last evaluation of the records, where both ways see the same samples.
    """
    expanded = raw(panel.expr, known)
    measured = timed(client, expanded, plan)
    if expanded == panel.expr:
        return Asked(title=panel.title, raw=measured)
    at = client.number(_EVALUATED)
    return Asked(
        title=panel.title,
        raw=measured,
        recorded=timed(client, panel.expr, plan),
        raw_total=_total(client, expanded, at),
        recorded_total=_total(client, panel.expr, at),
    )


def as_it_is(client: Client, panel: Panel, plan: Plan) -> Asked:
    """A panel of a board, asked its own way alone. Raises BenchError."""
    return Asked(title=panel.title, raw=timed(client, panel.expr, plan), may_be_empty=panel.may_be_empty)


_EVALUATED: Final = (
    'max(prometheus_rule_group_last_evaluation_timestamp_seconds{rule_group=~".*;plumbline-gpu-records"})'
)


def timed(client: Client, expr: str, plan: Plan) -> Timed:
    """Medians over the runs, and how many series the answer has. Raises BenchError."""
    end = time.time()
    span = {"start": end - MINUTES * 60, "end": end, "step": plan.interval}
    series = client.vector(expr)  # fills what caches there are
    client.ask("query_range", query=expr, **span)
    return Timed(
        instant=_milliseconds(lambda: client.ask("query", query=expr), plan.runs),
        window=_milliseconds(lambda: client.ask("query_range", query=expr, **span), plan.runs),
        series=len(series),
    )


def _milliseconds(call: Callable[[], object], runs: int) -> float:
    took: list[float] = []
    while len(took) < runs and (sum(took) < _AT_MOST or not took):
        begin = time.perf_counter()
        call()
        took.append(time.perf_counter() - begin)
    return median(took) * 1000


def _total(client: Client, expr: str, at: float) -> float:
    return sum(value for _, value in client.vector(expr, at))
