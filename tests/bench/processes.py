"""Programs of the bench: started in sessions of their own, awaited, and ended by their ids whatever happens."""

from __future__ import annotations

import http.server
import subprocess
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import requests

from tests.bench.errors import BenchError
from tests.offline.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_STOP_SECONDS: Final = 30.0
_LOG_LINES: Final = 15


def free_address() -> str:
    """An address of loopback that nobody has, `host:port`."""
    return f"127.0.0.1:{free_port()}"


@contextmanager
def running(argv: Sequence[str], ready: str, log: Path, seconds: float) -> Iterator[int]:
    """Process id of a program that answers 200 at `ready`. Raises BenchError with its last words when it does not.

    A session of its own: Ctrl-C is for the bench, which then ends its programs in order. seconds: to get ready.
    """
    with log.open("ab") as out:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    try:
        _await(process, ready, log, seconds)
        yield process.pid
        if process.poll() is not None:
            raise BenchError(f"{argv[0]} ended by itself with {process.returncode}:\n{_tail(log)}")
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await(process: subprocess.Popen[bytes], ready: str, log: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if requests.get(ready, timeout=5).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(0.2)
    raise BenchError(f"{ready} did not answer within {seconds:.0f} s:\n{_tail(log)}")


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:])


@contextmanager
def served(text: str, address: str) -> Iterator[None]:
    """A page that never changes, served at every path of `host:port`."""
    body = text.encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        """Answers every GET with the page."""

        def do_GET(self) -> None:
            """Answer."""
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing: a line per scrape helps nobody."""

    host, _, port = address.rpartition(":")
    with http.server.ThreadingHTTPServer((host, int(port)), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
