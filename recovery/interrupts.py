"""Signals that ask the process to end: an exception while work is done, and only remembered while it is undone."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Guard:
    """What a signal does now."""

    def __init__(self) -> None:
        self._held = False
        self._waiting: int | None = None
        self._previous: dict[int, Any] = {}

    def hold(self) -> None:
        """From here on signals are only remembered."""
        self._held = True

    def release(self) -> None:
        """Act on a signal that was remembered: SystemExit with the code that a shell would give."""
        if self._waiting is not None:
            raise SystemExit(128 + self._waiting)

    def __call__(self, number: int, frame: Any) -> None:  # noqa: ANN401  # the frame of whatever ran
        """The handler. The first signal ends the work; the second must not end the undoing of it."""
        if self._held:
            self._waiting = number
            return
        self._held = True
        previous = self._previous.get(number)
        if callable(previous):
            previous(number, frame)
        raise SystemExit(128 + number)

    def install(self) -> None:
        """Take the place of the handlers; nothing outside of the main thread, where signals do not arrive."""
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                # Ignored stays ignored (nohup); None is a handler of another language, which could not be put back.
                if handler not in (signal.SIG_IGN, None):
                    self._previous[number] = handler
                    signal.signal(number, self)

    def remove(self) -> None:
        """Put the handlers back."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)


@contextmanager
def guarded() -> Iterator[Guard]:
    """Signals go to the guard until the block ends."""
    guard = Guard()
    try:
        guard.install()
        yield guard
    finally:
        guard.remove()
