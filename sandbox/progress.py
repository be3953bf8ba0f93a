"""Progress on long work: one line per step with its time, and a sign of life in between."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator


class Progress:
    """Prints steps to stderr, so that stdout stays for results."""

    def __init__(self, *, stream: TextIO | None = None, heartbeat: float = 20.0) -> None:
        """heartbeat: seconds between two signs of life of a running step."""
        self._stream = stream or sys.stderr
        self._heartbeat = heartbeat
        self._lock = threading.Lock()
        self.seconds: dict[str, float] = {}

    def say(self, text: str) -> None:
        """Print one line at once."""
        with self._lock:
            print(text, file=self._stream, flush=True)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Announce a step, remind that it runs, and print how long it took; a failed step is said to have failed."""
        begin = time.monotonic()
        ended = threading.Event()

        def remind() -> None:
            while not ended.wait(self._heartbeat):
                self.say(f"  … {title}: {time.monotonic() - begin:.0f} s so far")

        self.say(f"  ▸ {title}")
        threading.Thread(target=remind, daemon=True).start()
        word = "failed"
        try:
            yield
            word = "done"
        finally:
            ended.set()
            self.seconds[title] = time.monotonic() - begin
            self.say(f"  {'✓' if word == 'done' else '✗'} {title}: {word} in {self.seconds[title]:.1f} s")
