"""An API server that answers as a test told it to, over real HTTP on the loopback."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from sandbox.workloads.kube_state_metrics.access import Access
from sandbox.workloads.kube_state_metrics.api import Api
from tests.offline.sandbox.fakes import PATIENCE

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

BREAK = "break"
"""In a script of events: the connection ends without a proper end."""
HOLD = "hold"
"""In a script of events: the watch stays open until the test is over."""
Script = list[dict[str, Any] | str | int]
"""Events of one watch, or one status to refuse it with."""


def until(true: Callable[[], object]) -> None:
    """Wait until this holds; give up after the patience of all tests."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def event(kind: str, version: str, uid: str = "u1", **parts: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """A watch event about a pod."""
    return {"type": kind, "object": pod(uid, version, **parts)}


def pod(uid: str, version: str = "1", **parts: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """A pod whose name is its uid."""
    metadata = {"namespace": "ns1", "name": uid, "uid": uid, "resourceVersion": version}
    return {"metadata": metadata, **parts}


class FakeApi(ThreadingHTTPServer):
    """Lists and watches are taken from queues per path; an empty queue answers with an empty list, or holds."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        """Listen on a free port; with a context, over TLS."""
        super().__init__(("127.0.0.1", 0), _Handler)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.lists: dict[str, list[dict[str, Any] | int]] = defaultdict(list)
        self.watches: dict[str, list[Script]] = defaultdict(list)
        self.probes: dict[str, int] = {}
        self.requests: list[tuple[str, dict[str, str], str]] = []
        self.over = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def api(self, token: str = "") -> Api:
        """A client of this server."""
        return Api(Access(tls=False, host="127.0.0.1", port=self.server_port, token=token))

    def asked(self, *, watch: bool) -> list[dict[str, str]]:
        """Queries of the lists or of the watches so far."""
        return [query for _, query, _ in list(self.requests) if ("watch" in query) == watch]

    def end(self) -> None:
        """Let go of every watch and stop."""
        self.over.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FakeApi
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        self.server.requests.append((url.path, query, self.headers.get("Authorization", "")))
        if url.path in self.server.probes:
            self._send(self.server.probes[url.path], {})
        elif "watch" in query:
            scripts = self.server.watches[url.path]
            self._watch(scripts.pop(0) if scripts else [HOLD])
        else:
            lists = self.server.lists[url.path]
            answer = lists.pop(0) if lists else listed("1")
            self._send(answer if isinstance(answer, int) else 200, answer)

    def _send(self, status: int, body: object) -> None:
        content = json.dumps({"message": "refused by the test"} if status != 200 else body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _watch(self, script: Script) -> None:
        if script and isinstance(script[0], int):
            self._send(script[0], {})
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        for item in script:
            if item == BREAK:
                return
            if item == HOLD:
                self.server.over.wait(PATIENCE)
                return
            line = (item if isinstance(item, str) else json.dumps(item)).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


def listed(version: str, *objects: dict[str, Any], more: str = "") -> dict[str, Any]:
    """The answer to a list. more: token of the next page."""
    metadata = {"resourceVersion": version, **({"continue": more} if more else {})}
    return {"items": list(objects), "metadata": metadata}
