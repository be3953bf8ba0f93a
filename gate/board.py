"""What is known of each part, and since when: written by one thread per part, read by the pages."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from gate.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from gate.model import Part


class Board:
    """The last outcome of each part. One that is too old counts as none: its thread waits for an answer still."""

    def __init__(self, parts: tuple[Part, ...], oldest: float, clock: Callable[[], float] = time.monotonic) -> None:
        """oldest: seconds that an outcome counts."""
        self._outcomes: dict[str, Outcome | None] = {part.name: None for part in parts}
        self._oldest = oldest
        self._clock = clock
        self._lock = threading.Lock()

    def put(self, name: str, outcome: Outcome) -> None:
        """Replace what is known of a part."""
        with self._lock:
            self._outcomes[name] = outcome

    def outcomes(self) -> dict[str, Outcome | None]:
        """Part → its outcome as it counts now; None before its first."""
        now = self._clock()
        with self._lock:
            known = dict(self._outcomes)
        return {name: found and self._aged(found, now) for name, found in known.items()}

    def _aged(self, found: Outcome, now: float) -> Outcome:
        age = now - found.at
        if age <= self._oldest:
            return found
        return Outcome(up=False, words=f"no answer for {age:.0f} s", seconds=found.seconds, at=found.at)

    def missing(self) -> dict[str, str]:
        """Part → what is wrong with it, of those that do not answer."""
        found = self.outcomes()
        return {
            name: "not asked yet" if outcome is None else outcome.words
            for name, outcome in found.items()
            if outcome is None or not outcome.up
        }
