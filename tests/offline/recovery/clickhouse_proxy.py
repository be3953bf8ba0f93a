"""A proxy before the real engine that damages answers in format Native and passes on the rest."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import re
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = b"Code: 241. DB::Exception: Memory limit exceeded (MEMORY_LIMIT_EXCEEDED)\n"


class Proxy(http.server.ThreadingHTTPServer):
    """fault: none; cut = ends well inside a block; block = ends well behind a block that is not the last; words = goes
    on with an exception; drop = closes the connection inside a chunk; old = HTTP/1.0. paths, keys: what was sent."""

    daemon_threads = True

    def __init__(self, target: int, fault: str) -> None:
        """target: port of the engine."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.fault = fault
        self.paths: list[str] = []
        self.keys: set[str] = set()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.paths.append(self.path)
        self.server.keys.add(self.headers["X-ClickHouse-Key"])
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
        marker = re.search(rb"toUInt8\(1\) AS (\w+) ", body)
        fault = self.server.fault if marker else "none"
        if marker:
            content = _damaged(content, fault, marker[1])
        self.send_response(answer.status)
        if fault == "old":
            self.close_connection = True
            self.end_headers()
            self.wfile.write(content)
            return
        self.send_header("Transfer-Encoding", "chunked")
        if told := answer.headers.get("X-ClickHouse-Exception-Code"):
            self.send_header("X-ClickHouse-Exception-Code", told)
        self.end_headers()
        if fault == "drop":
            self.wfile.write(b"%x\r\n%b" % (len(content) + 1, content))
            self.close_connection = True
            return
        if content:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


def _damaged(content: bytes, fault: str, marker: bytes) -> bytes:
    if fault == "cut":
        return content[: len(content) // 2]
    if fault == "block":  # the marks behind the first block's marker are as many 1s as it has rows
        start = content.index(marker + b"\x05UInt8") + len(marker) + 6
        found = re.compile(rb"\x01*").match(content, start)
        assert found
        return content[: found.end()]
    return content + _WORDS if fault == "words" else content


@contextlib.contextmanager
def proxy(target: int, fault: str) -> Iterator[Proxy]:
    """A running proxy."""
    found = Proxy(target, fault)
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.shutdown()
        found.server_close()
        thread.join()
