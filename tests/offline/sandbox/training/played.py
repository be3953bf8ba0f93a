"""A run on a clock that is turned by hand: what takes minutes is there at once, and at exact times."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.workloads.training.journal import Journal
from sandbox.workloads.training.run import Told, train
from sandbox.workloads.training.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sandbox.workloads.training.run import Traced
    from sandbox.workloads.training.settings import Settings
    from sandbox.workloads.training.steps import Step


@dataclass
class Turned:
    """A clock that jumps. at: seconds since the epoch. passed: called for each wait, with its begin and end."""

    at: float
    stop_after: float = float("inf")
    passed: Callable[[float, float], None] = lambda _begin, _end: None

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.at

    def sleep(self, seconds: float) -> bool:
        """Jump."""
        begin, self.at = self.at, self.at + seconds
        self.passed(begin, self.at)
        return self.stopped()

    def stopped(self) -> bool:
        """Whether the time is over."""
        return self.at >= self.stop_after


class Planned(Script):
    """Slows ranks down in steps, without anybody who asks for it. plan: step → rank → factor."""

    def __init__(self, ranks: range, plan: Mapping[int, dict[int, float]]) -> None:
        super().__init__(ranks)
        self._plan = plan

    def begin(self, step: int, stopped: Callable[[], bool]) -> dict[int, float]:
        """As planned."""
        return {**super().begin(step, stopped), **self._plan.get(step, {})}


@dataclass
class Kept:
    """Stands where SwanLab's SDK is."""

    steps: list[list[Step]] = field(default_factory=list)

    def step(self, ranks: Sequence[Step]) -> None:
        """Keep it."""
        self.steps.append(list(ranks))


@dataclass
class Played:
    """What a run left. lines: as printed, parsed."""

    done: int
    lines: list[dict[str, Any]]
    experiment: Kept


def play(
    settings: Settings, clock: Turned, plan: Mapping[int, dict[int, float]], traces: Traced | None = None
) -> Played:
    """Play a run to its end."""
    out, experiment = io.StringIO(), Kept()
    script = Planned(range(settings.first_rank, settings.first_rank + settings.ranks), plan)
    journal = Journal(settings.identity, clock.now, out)
    done = train(settings, script, clock, Told(journal, traces, experiment))
    return Played(done, [json.loads(line) for line in out.getvalue().splitlines()], experiment)
