"""Ctrl-C and SIGTERM, which end the bench in order and once."""

from __future__ import annotations

import signal
import threading

_asked = threading.Event()


def listen() -> None:
    """From here on either signal raises KeyboardInterrupt, the first one alone."""
    _asked.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def check() -> None:
    """Raises KeyboardInterrupt if there was a signal.

    Whoever waits calls it now and then: Python throws away what is raised while an object is finalized, and with it
    the interruption.
    """
    if _asked.is_set():
        raise KeyboardInterrupt


def _interrupt(*_: object) -> None:
    """Once: a second signal would cut off the ending of what was started."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _asked.set()
    raise KeyboardInterrupt
