"""The control interface: HTTP and JSON on loopback, for tests alone, and its client.

GET /status tells what is next; POST /hold {"step": 40} waits before that step; POST /release {"slowed": {"1": 3.0}}
goes on, with rank 1 slowed down in that step; with "hold": 41 it waits again, before that one.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sandbox.workloads.training.script import Script

TIMEOUT: Final = 10.0
_LARGEST: Final = 10_000
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy reaches a loopback address


class ControlError(Exception):
    """The interface refused, or does not answer: what was asked, and what it said."""


def serve(where: tuple[str, int], script: Script) -> ThreadingHTTPServer:
    """The interface, listening from here on; `serve_forever` answers. Raises OSError when the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(*((200, script.status()) if self.path == "/status" else (404, {"error": "GET /status"})))

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "0")
            body = self.rfile.read(int(length)) if length.isdecimal() and int(length) <= _LARGEST else b""
            self._send(*_answer(script, self.path, body))

        def _send(self, status: int, found: dict[str, Any]) -> None:
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: lines of the run are lines of steps."""

    server = ThreadingHTTPServer(where, Handler)
    server.daemon_threads = True
    return server


def _answer(script: Script, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
    try:
        asked = dict(json.loads(body or b"{}"))
        if path == "/hold":
            script.hold(asked.get("step"))
        elif path == "/release":
            script.release(asked.get("slowed") or {}, asked.get("hold"))
        else:
            return 404, {"error": "POST /hold, POST /release"}
    except (ValueError, TypeError, AttributeError) as error:
        return 400, {"error": str(error)}
    return 200, script.status()


def status(base: str) -> dict[str, Any]:
    """next, held, ranks. base: `http://127.0.0.1:9402`. Raises ControlError."""
    return _ask("GET", f"{base}/status")


def hold(base: str, step: int) -> None:
    """Wait before a step. Raises ControlError."""
    _ask("POST", f"{base}/hold", {"step": step})


def release(base: str, slowed: dict[int, float], hold: int | None = None) -> None:
    """Go on, with these ranks slowed down in the step that was held. hold: the step to wait before next.

    Raises ControlError.
    """
    _ask("POST", f"{base}/release", {"slowed": {str(rank): factor for rank, factor in slowed.items()}, "hold": hold})


def _ask(method: str, url: str, body: object = None) -> dict[str, Any]:
    if not url.startswith("http://"):
        raise ControlError(f"{url}: the control interface speaks plain http")
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)  # noqa: S310  http:// is checked above
    try:
        with _OPENER.open(request, timeout=TIMEOUT) as answer:
            return dict(json.loads(answer.read()))
    except urllib.error.HTTPError as error:
        raise ControlError(f"{method} {url}: {error.code}: {error.read().decode(errors='replace').strip()}") from error
    except OSError as error:
        raise ControlError(f"{method} {url}: {error}") from error
