"""The timed run: a request every half second until somebody says stop, each with the moment of its acknowledgement."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Final

from smoke.access.errors import AccessError
from smoke.drill.model import IMAGE, SCALARS, Sent
from smoke.redact import bounded
from smoke.sdk.driver import picture, series

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from smoke.access.swanlab import Target
    from smoke.drill.journal import Writer
    from smoke.drill.recorder import Recorder

PERIOD: Final = 0.5
IMAGE_EVERY: Final = 10
"""Steps; one image in 5 s."""
ALIVE_EVERY: Final = 60
FINISH_WITHIN: Final = 20.0
_PAUSE: Final = 1.0
_SHOWN: Final = 300


class Timed:
    """Logs one step after the other. A step that was refused is not sent again: it may be there or not."""

    def __init__(self, recorder: Recorder, target: Target, journal: Writer, seed: str, period: float = PERIOD) -> None:
        """seed: of the values. period: seconds from one step to the next."""
        self._recorder, self._target, self._journal = recorder, target, journal
        self._seed, self._period = seed, period
        self._number = 0
        self.acknowledged = 0

    def run(self, stop: Event) -> None:
        """Until `stop` is set; a request that is under way is awaited. Raises OSError where the journal cannot grow."""
        step, due = 0, time.monotonic()
        while not stop.is_set():
            self._scalars(step)
            if step % IMAGE_EVERY == 0:
                self._image(step)
            if step % ALIVE_EVERY == 0:
                self._quietly(lambda: self._recorder.heartbeat(self._target))
            step += 1
            # Steps that were missed are not made up: the series stays about as dense as time.
            due = max(due + self._period, time.monotonic())
            stop.wait(due - time.monotonic())

    def finish(self, within: float = FINISH_WITHIN) -> bool:
        """End the run on the server, tried for so many seconds; whether it took it."""
        end = time.monotonic() + within
        while not self._quietly(lambda: self._recorder.finish(self._target)):
            if time.monotonic() >= end:
                return False
            time.sleep(_PAUSE)
        return True

    def _scalars(self, step: int) -> None:
        values = {key: series(0, f"{self._seed}/{key}/{step}", 1)[0] for key in SCALARS}
        sent = Sent(self._next(), step, time.time(), values={key: repr(value) for key, value in values.items()})
        self._send(sent, lambda: self._recorder.log(self._target, step, values))

    def _image(self, step: int) -> None:
        content = picture(f"{self._seed}/{step}")
        digest = hashlib.sha256(content).hexdigest()
        sent = Sent(self._next(), step, time.time(), files={IMAGE: digest})
        path = f"media/image/{step:06d}-{digest[:8]}.png"
        self._send(sent, lambda: self._recorder.image(self._target, IMAGE, step, path, content))

    def _send(self, sent: Sent, send: Callable[[], None]) -> None:
        self._journal.sent(sent)
        try:
            send()
        except AccessError as error:
            self._journal.failed(sent.number, bounded(f"{error.subject}: {error}", _SHOWN), time.time())
            return
        at = time.time()
        self._journal.acked(sent.number, at)
        self.acknowledged += 1

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _quietly(self, ask: Callable[[], None]) -> bool:
        try:
            ask()
        except AccessError:
            return False
        return True
