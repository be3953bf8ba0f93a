"""Small servers on this machine that answer as a test tells them to."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Web:
    """answers: `METHOD /path` → status and body; anything else is 404. seen: requests with their headers, in order."""

    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""


@contextmanager
def web(**answers: tuple[int, Any]) -> Iterator[Web]:
    """A web server. answers: by path of GET, without the slash in front."""
    state = Web({f"GET /{path}": answer for path, answer in answers.items()})

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            line = f"{self.command} {self.path}"
            state.seen.append((line, {name.lower(): value for name, value in self.headers.items()}))
            status, body = state.answers.get(line, (404, "nothing here"))
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as state.url:
        yield state


@contextmanager
def speaker(answer: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """A TCP server: its address, and what it was told. answer: to the first words; None takes them and is silent."""
    told: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            told.append(connection.recv(100))
            if answer is not None:
                connection.sendall(answer)
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}", told
    finally:
        listener.close()
        for connection in held:
            connection.close()
