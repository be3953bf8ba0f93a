"""Run the sink: `python3 -P -m sandbox.workloads.alert_sink --port 8080`."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from typing import TYPE_CHECKING, Final

from sandbox.workloads.alert_sink.inbox import Inbox
from sandbox.workloads.alert_sink.server import Server

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger(__name__)
_LARGEST_PORT: Final = 65535
_POLL: Final = 0.1
"""Seconds after which the server notices at the latest that it is to end."""


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _LARGEST_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; accepted is 0 (any free one) to {_LARGEST_PORT}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="alert-sink", allow_abbrev=False, description="keeps what Alertmanager sends")
    parser.add_argument("--port", type=_port, default=8080, help="port to listen on")
    parser.add_argument("--host", default="", help="address to listen on; without it, every one")
    return parser


def main(arguments: Sequence[str]) -> int:
    """The program. 0 = told to end, 1 = it cannot listen; a wrong flag exits with 2."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    given = _parser().parse_args(arguments)
    try:
        server = Server(given.host, given.port, Inbox())
    except OSError as error:
        _log.error("cannot listen on port %d of %r: %s; free it or give another", given.port, given.host, error)
        return 1
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True).start()
    _log.info("alert sink listens on port %d", server.server_port)
    stop.wait()
    server.shutdown()
    server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
