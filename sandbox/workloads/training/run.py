"""The run itself: steps one after the other, each told to everybody who wants to know."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sandbox.workloads.training.steps import step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.workloads.training.journal import Journal
    from sandbox.workloads.training.script import Script
    from sandbox.workloads.training.settings import Settings
    from sandbox.workloads.training.steps import Step


class Clock(Protocol):
    """Time, and waiting."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def sleep(self, seconds: float) -> bool:
        """Wait; whether the run is to end."""

    def stopped(self) -> bool:
        """Whether the run is to end."""


class Traced(Protocol):
    """Where spans go."""

    def step(self, step: Step, begin: float) -> dict[str, str]:
        """trace_id and span_id."""


class Logged(Protocol):
    """Where values go."""

    def step(self, ranks: Sequence[Step]) -> None:
        """One step of all ranks."""


@dataclass
class RealClock:
    """The machine's. stop: set when the run is to end."""

    stop: threading.Event = field(default_factory=threading.Event)

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> bool:
        """Wait; whether the run is to end."""
        return self.stop.wait(seconds)

    def stopped(self) -> bool:
        """Whether the run is to end."""
        return self.stop.is_set()


@dataclass(frozen=True)
class Told:
    """Who is told. traces, experiment: None where nobody is."""

    journal: Journal
    traces: Traced | None = None
    experiment: Logged | None = None


def train(settings: Settings, script: Script, clock: Clock, told: Told) -> int:
    """Take the steps; how many were done. A step that is interrupted is not told: it has not happened."""
    for number in range(settings.steps):
        slowed = script.begin(number, clock.stopped)
        begin, ranks = clock.now(), step(settings, number, slowed)
        if clock.stopped() or clock.sleep(ranks[0].seconds):
            told.journal.write("WARNING", "told to end", step=number)
            return number
        for one in ranks:
            ids = told.traces.step(one, begin) if told.traces else {}
            told.journal.step(one, ids)
        if told.experiment:
            told.experiment.step(ranks)
    return settings.steps
