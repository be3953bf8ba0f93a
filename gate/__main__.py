"""Run the gate: `python3 -P -m gate --part server=body,http://swanlab-server:3000/api,OK …`."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from gate.board import Board
from gate.licence import LicenceReader, Shown
from gate.metrics import registry
from gate.probes import ask
from gate.server import Server
from gate.settings import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gate.model import Part
    from gate.settings import Settings

_log = logging.getLogger(__name__)
_POLL: Final = 0.1
_ROUNDS_THAT_COUNT: Final = 3
"""An outcome counts for so many rounds of questions, each at its longest."""


def main(arguments: Sequence[str]) -> int:
    """The program. 0 = told to end, 1 = it cannot listen; a wrong flag exits with 2."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    settings = parse(arguments)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    board = Board(settings.parts, oldest=_ROUNDS_THAT_COUNT * (settings.interval + settings.timeout))
    licence = Shown() if settings.licence_url else None
    try:
        server = Server(settings.port, board, registry(board, licence))
    except OSError as error:
        _log.error("cannot listen on port %d: %s; free it or give another", settings.port, error)
        return 1
    for task in _tasks(settings, board, licence, stop):
        threading.Thread(target=task, daemon=True).start()
    threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True).start()
    _log.info("the gate listens on port %d and asks %d parts", server.server_port, len(settings.parts))
    stop.wait()
    server.shutdown()
    server.server_close()
    return 0


def _tasks(settings: Settings, board: Board, licence: Shown | None, stop: threading.Event) -> list[Callable[[], None]]:
    """One per part, so that one that hangs holds up no other, and one for the licence."""
    found: list[Callable[[], None]] = [_watcher(part, settings, board, stop) for part in settings.parts]
    if licence is not None and settings.licence_url is not None:
        reader = LicenceReader(settings.licence_url, settings.key_file, settings.timeout)
        shown = licence
        found.append(lambda: _every(settings.licence_interval, stop, lambda: shown.put(reader.read(datetime.now(UTC)))))
    return found


def _watcher(part: Part, settings: Settings, board: Board, stop: threading.Event) -> Callable[[], None]:
    last: list[bool | None] = [None]

    def once() -> None:
        outcome = ask(part, settings.timeout)
        board.put(part.name, outcome)
        if outcome.up != last[0]:
            _log.info("%s: %s", part.name, outcome.words)
        last[0] = outcome.up

    return lambda: _every(settings.interval, stop, once)


def _every(seconds: float, stop: threading.Event, work: Callable[[], None]) -> None:
    """Until told to stop. What nobody thought of is logged: a thread that ended would be silent for ever."""
    while not stop.is_set():
        try:
            work()
        except Exception:
            _log.exception("a question failed in a way that is a fault of the gate")
        stop.wait(seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
