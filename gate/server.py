"""HTTP: `/` in words, `/ready`, `/healthz`, `/metrics`."""

from __future__ import annotations

import logging
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from gate.board import Board

_log = logging.getLogger(__name__)
_PLAIN: Final = "text/plain; charset=utf-8"
_SECONDS: Final = 10
"""Idle connections are closed after this time."""


class Server(ThreadingHTTPServer):
    """Serves the pages until it is shut down."""

    daemon_threads = True

    def __init__(self, port: int, board: Board, registry: CollectorRegistry) -> None:
        """Listen on every address. port: 0 for any free one. Raises OSError."""
        super().__init__(("", port), _Handler)
        self.board = board
        self.registry = registry


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _SECONDS

    def do_GET(self) -> None:
        """Answer by path."""
        path = urlsplit(self.path).path
        if path == "/metrics":
            self._send(HTTPStatus.OK, generate_latest(self.server.registry), CONTENT_TYPE_LATEST)
        elif path == "/healthz":
            self._send(HTTPStatus.OK, b"alive\n")
        elif path in ("/", "/ready"):
            missing = self.server.board.missing()
            ready = HTTPStatus.SERVICE_UNAVAILABLE if missing else HTTPStatus.OK
            self._send(ready if path == "/ready" else HTTPStatus.OK, words(missing).encode())
        else:
            self._send(HTTPStatus.NOT_FOUND, b"accepted: /, /ready, /healthz, /metrics\n")

    def _send(self, status: HTTPStatus, content: bytes, kind: str = _PLAIN) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Probes and scrapes are not logged."""
        _log.debug(format, *args)


def words(missing: dict[str, str]) -> str:
    """The page for people. missing: part → what is wrong with it."""
    if not missing:
        return "SwanLab answers: every part\n"
    return "SwanLab is not ready:\n" + "".join(f"- {name}: {why}\n" for name, why in missing.items())
