"""A reverse proxy that lets sessions end with their run: what a server does that takes the session at the run's end.

Reported of SwanLab's cloud (SwanLab#1715); whether the self-hosted server does it is not known, so the regression
makes it happen in front of whatever server there is. The proxy takes one SDK's process, and no media.
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT: Final = 60.0
SESSION: Final = re.compile(r"(?:^|;\s*)sid=([^;]+)")
RUN_ENDS: Final = re.compile(r"^/api/project/[^/]+/[^/]+/runs/[^/]+/state$")
HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host", "accept-encoding"})
UNAUTHORIZED: Final = 401
BAD_GATEWAY: Final = 502
OK: Final = range(200, 300)


class Sessions:
    """Which sessions have ended."""

    def __init__(self) -> None:
        self._ended: set[str] = set()
        self._lock = threading.Lock()

    def end(self, cookie: str | None) -> None:
        """From now on the session of this cookie is over."""
        found = SESSION.search(cookie or "")
        if found:
            with self._lock:
                self._ended.add(found.group(1))

    def over(self, cookie: str | None) -> bool:
        """Whether it is."""
        found = SESSION.search(cookie or "")
        with self._lock:
            return found is not None and found.group(1) in self._ended


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream)
        self.sessions = Sessions()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        cookie = self.headers.get("Cookie")
        if self.server.sessions.over(cookie):
            self._answer(UNAUTHORIZED, [("Content-Type", "application/json")], b'{"code":"Unauthorized"}')
            return
        try:
            status, headers, content = self._ask(body)
        except (OSError, HTTPException) as error:
            self._answer(BAD_GATEWAY, [("Content-Type", "text/plain")], str(error).encode())
            return
        if self.command == "PUT" and RUN_ENDS.match(urlsplit(self.path).path) and status in OK:
            self.server.sessions.end(cookie)
        self._answer(status, headers, content)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _pass  # names that the base class calls

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        upstream = self.server.upstream
        kind = HTTPSConnection if upstream.scheme == "https" else HTTPConnection
        connection = kind(upstream.hostname or "", upstream.port, timeout=TIMEOUT)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        try:
            connection.request(self.command, self.path, body=body, headers=headers)
            answer = connection.getresponse()
            kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP]
            return answer.status, kept, answer.read()
        finally:
            connection.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are the SDK's business, not the terminal's."""


@contextmanager
def expiring(upstream: str) -> Iterator[str]:
    """Address of a proxy before `upstream` (scheme, host, port), on loopback, for as long as the block lasts."""
    server = _Server(upstream)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
