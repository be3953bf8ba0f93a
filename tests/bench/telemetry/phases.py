"""What the measures of both collectors have in common: one side that runs, and waiting for what it delivers."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.bench import interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.bench.telemetry.plan import Plan
    from tests.bench.telemetry.programs import Collector, Sink

_PAUSE: Final = 0.2
_SETTLES: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One side of one collector, running. phases: numbers that nobody has had. say: told how far it is."""

    plan: Plan
    sink: Sink
    collector: Collector
    side: str
    phases: Iterator[int]
    say: Callable[[str], None]

    def await_items(self, phase: int, wanted: Callable[[], int | None]) -> None:
        """Until so many items of a phase are at the sink, or for `patience` none more came.

        wanted: None while nobody knows.
        """
        before, deadline = -1, 0.0
        while True:
            interrupt.check()
            have = self.sink.phase(phase)["distinct"]
            enough = wanted()
            if enough is not None and have >= enough:
                return
            if have != before:
                before, deadline = have, time.monotonic() + self.plan.patience
            if time.monotonic() > deadline:
                return
            time.sleep(_PAUSE)


@dataclass
class Spent:
    """What a collector took between two moments. begun: nanoseconds of the monotonic clock. cpu: seconds. peak: MiB."""

    begun: int
    cpu: float = 0.0
    peak: float = 0.0


@contextmanager
def spent(collector: Collector) -> Iterator[Spent]:
    """Of the block; its figures are there when it has ended."""
    collector.forget_peak()
    before = collector.cpu()
    found = Spent(begun=time.monotonic_ns())
    yield found
    found.cpu, found.peak = collector.cpu() - before, collector.peak()


def settled(count: Callable[[], float], wanted: int) -> float:
    """What is counted once it is as much as wanted, or after a while."""
    deadline = time.monotonic() + _SETTLES
    while (found := count()) < wanted and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return found


def ticking(ticks: int, seconds: float) -> Iterator[int]:
    """Numbers from 0, so many a second, for so long. A late one is made up for, so that the rate holds."""
    begun = time.monotonic()
    for number in range(max(1, int(ticks * seconds))):
        interrupt.check()
        time.sleep(max(0.0, begun + number / ticks - time.monotonic()))
        yield number


def between(sent: dict[int, int], arrived: dict[int, int], less: float = 0.0) -> list[float]:
    """Seconds from sending to arrival, of what arrived. less: seconds that are by design."""
    return [(arrived[number] - when) / 1e9 - less for number, when in sent.items() if number in arrived]
