"""What the bench of experiments sends and asks, and how long it may take."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from tests.bench.errors import BenchError

PROJECT: Final = "plumbline-bench"
"""The only project that is written to. Runs in it are the bench's, and whatever is left of them is removed."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Amounts and times in seconds.

    sdk_steps, sdk_keys: steps that the SDK logs, and keys of each. keys, steps: of what is sent over HTTP. batch:
    records of one request. threads: of everything that is done side by side. samples: of each latency. objects, size:
    media, and bytes of each. sdk_seconds, raw_seconds: after so long, no more is sent. delivery: until all that was
    acknowledged must be readable. loop: for each series of samples. whole: for the bench.
    """

    sdk_keys: int = 10
    sdk_steps: int = 20_000
    keys: int = 40
    steps: int = 10_000
    batch: int = 10_000
    threads: int = 4
    samples: int = 50
    objects: int = 200
    size: int = 64 * 1024
    sdk_seconds: float = 45.0
    raw_seconds: float = 20.0
    delivery: float = 60.0
    loop: float = 20.0
    whole: float = 170.0

    def __post_init__(self) -> None:
        """Raises BenchError when records do not fill whole requests, or steps are cut in the middle."""
        if self.batch % self.keys or (self.steps * self.keys) % self.batch:
            raise BenchError(
                f"{self.keys} keys of {self.steps} steps do not fill whole requests of {self.batch} records"
            )

    @property
    def batches(self) -> int:
        """Requests that hold all records."""
        return self.steps * self.keys // self.batch

    def span(self, batch: int) -> range:
        """Steps of one request; it holds each of them for every key, as an SDK sends them."""
        each = self.batch // self.keys
        return range(batch * each, (batch + 1) * each)


class Clock:
    """How much of the bench's time is left."""

    def __init__(self, seconds: float) -> None:
        """seconds: for all of it, from now on."""
        self.begun = time.monotonic()
        self._end = self.begun + seconds

    def within(self, seconds: float, what: str) -> float:
        """A moment, as time.monotonic tells it: `seconds` from now, or the end of the bench. Raises BenchError past it.

        what: cannot be begun any more then.
        """
        now = time.monotonic()
        if now >= self._end:
            raise BenchError(
                f"{what}: no time is left, the bench may take {self._end - self.begun:.0f} s; let nothing else run"
            )
        return min(now + seconds, self._end)
