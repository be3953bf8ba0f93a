"""What is played with a run from outside: it waits before a step, and a rank's GPU is slow in that step."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOOK: Final = 0.5
"""Seconds after which a run that is held notices at the latest that it is to end."""
LARGEST_FACTOR: Final = 1000.0


class ScriptError(ValueError):
    """What was asked for cannot be played: why, and what is accepted."""


class Script:
    """Calls may come from several threads."""

    def __init__(self, ranks: range) -> None:
        """ranks: of this pod."""
        self._ranks = ranks
        self._turn = threading.Condition()
        self._next, self._hold_at, self._held = 0, -1, False
        self._slowed: dict[int, float] = {}

    def hold(self, step: object) -> None:
        """Wait before that step. Raises ScriptError where it has begun."""
        with self._turn:
            if isinstance(step, bool) or not isinstance(step, int) or step < self._next:
                raise ScriptError(f"step {step!r}; accepted is a whole number from {self._next} on: it has not begun")
            self._hold_at = step

    def release(self, slowed: Mapping[Any, Any], hold: object = None) -> None:
        """Go on. slowed: rank → factor, in the step that was waited for alone. hold: the step to wait before next.

        Raises ScriptError.
        """
        found = {}
        for name, factor in slowed.items():
            rank = int(name) if str(name).isdecimal() else -1
            if rank not in self._ranks or isinstance(factor, bool) or not isinstance(factor, int | float):
                raise ScriptError(f"rank {name!r}: {factor!r}; ranks are {list(self._ranks)}, a factor is a number")
            if not 1 <= factor <= LARGEST_FACTOR:
                raise ScriptError(f"rank {rank}: factor {factor}; accepted are 1 to {LARGEST_FACTOR:.0f}")
            found[rank] = float(factor)
        with self._turn:
            if not self._held:
                raise ScriptError("no step is held; hold one, and ask until `held` is true")
            if hold is not None and (isinstance(hold, bool) or not isinstance(hold, int) or hold <= self._next):
                raise ScriptError(
                    f"hold {hold!r}; accepted is a whole number above {self._next}, the step that is held"
                )
            self._slowed, self._held = found, False
            self._hold_at = hold if isinstance(hold, int) else -1
            self._turn.notify_all()

    def begin(self, step: int, stopped: Callable[[], bool]) -> dict[int, float]:
        """Wait while the step is held; rank → factor. stopped: whether the run is to end."""
        with self._turn:
            while self._hold_at == step and not stopped():
                self._held = True
                self._turn.wait(_LOOK)
            self._held, self._next = False, step + 1
            slowed, self._slowed = self._slowed, {}
            return slowed

    def status(self) -> dict[str, Any]:
        """next: the step that begins next. held: whether it is waited for."""
        with self._turn:
            return {"next": self._next, "held": self._held, "ranks": list(self._ranks)}
