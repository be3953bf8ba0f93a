"""The metrics page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from gate.model import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from gate.board import Board
    from gate.licence import Shown


class _Collector(Collector):
    """Made anew for each scrape, from what is known then."""

    def __init__(self, board: Board, licence: Shown | None) -> None:
        self._board = board
        self._licence = licence

    def collect(self) -> Iterator[Metric]:
        """Families of the parts, then of the licence."""
        up = GaugeMetricFamily("plumbline_swanlab_up", "1 if this part of SwanLab answers.", labels=["part"])
        seconds = GaugeMetricFamily(
            "plumbline_swanlab_probe_duration_seconds", "How long its last answer took.", labels=["part"]
        )
        for name, outcome in self._board.outcomes().items():
            up.add_metric([name], float(outcome is not None and outcome.up))
            if outcome is not None:
                seconds.add_metric([name], outcome.seconds)
        yield from (up, seconds)
        if self._licence is not None:
            yield from _of_licence(self._licence)


def _of_licence(shown: Shown) -> Iterator[Metric]:
    licence = shown.get()
    state = GaugeMetricFamily("plumbline_swanlab_licence_state", "1 for the state that it is in.", labels=["state"])
    for name in STATES:
        state.add_metric([name], float(name == licence.state))
    yield state
    if licence.days_left is not None:
        yield GaugeMetricFamily(
            "plumbline_swanlab_licence_days_left", "Days until the licence ends.", value=licence.days_left
        )
    if licence.seats is not None:
        yield GaugeMetricFamily("plumbline_swanlab_seats", "Seats, as the server counts them.", value=licence.seats)


def registry(board: Board, licence: Shown | None) -> CollectorRegistry:
    """A registry of these metrics and no other. licence: None where none is asked for."""
    found = CollectorRegistry()
    found.register(_Collector(board, licence))
    return found
