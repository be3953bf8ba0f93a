"""A server for the proxy to stand before: it tells what it was asked, and remembers it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE: Final = "/large"
LARGE_BYTES: Final = 100_000


class Echo(ThreadingHTTPServer):
    """seen: method and path with query of each call that arrived."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Echo
    protocol_version = "HTTP/1.1"

    def _tell(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append(f"{self.command} {self.path}")
        told = {"path": self.path, "headers": dict(self.headers.items()), "body": body.decode("latin-1")}
        content = b"x" * LARGE_BYTES if self.path == LARGE else json.dumps(told).encode()
        self.send_response(201 if self.command == "PUT" else 200)
        self.send_header("ETag", '"of the server"')
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _tell

    def log_message(self, format: str, *args: object) -> None:
        """Tests read `seen`."""


@contextmanager
def echo() -> Iterator[Echo]:
    """A server for as long as the block lasts."""
    server = Echo()
    with serving(server):
        yield server
