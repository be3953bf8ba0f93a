"""The proxy ends exactly one session, exactly when its run ends, and changes nothing else."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
import requests

from smoke.sdk.expiry import expiring

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE = "/api/project/alice/p/runs/r1/state"


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _tell(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        told = {"method": self.command, "path": self.path, "body": body, "cookie": self.headers.get("Cookie")}
        told["sdk"] = self.headers.get("X-SwanLab-SDK-Version")
        content = json.dumps(told).encode()
        self.send_response(500 if "broken" in self.path else 201)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("traceid", "7")
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = _tell  # names that the base class calls

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def upstream() -> Iterator[str]:
    """A server that answers 201 with what it was asked; 500 where the path says broken."""
    server = _Server(("127.0.0.1", 0), _Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def proxy() -> Iterator[str]:
    """Address of a proxy before such a server."""
    with upstream() as server, expiring(server) as address:
        yield address


def ask(address: str, method: str, path: str, sid: str = "", body: str = "") -> requests.Response:
    """One request, with a session."""
    headers = {"X-SwanLab-SDK-Version": "0.8.4"} | ({"Cookie": f"other=1; sid={sid}"} if sid else {})
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, f"{address}{path}", data=body, headers=headers, timeout=60)


def test_requests_and_answers_pass_unchanged(proxy: str) -> None:
    answer = ask(proxy, "POST", "/api/house/metrics?x=%2F", "s1", "grüße")
    assert (answer.status_code, answer.headers["traceid"]) == (201, "7")
    assert answer.json() == {
        "method": "POST",
        "path": "/api/house/metrics?x=%2F",
        "body": "grüße",
        "cookie": "other=1; sid=s1",
        "sdk": "0.8.4",
    }


def test_the_end_of_a_run_ends_its_session_and_no_other(proxy: str) -> None:
    assert ask(proxy, "GET", "/api/project", "s1").status_code == 201
    assert ask(proxy, "PUT", STATE, "s1", "{}").status_code == 201
    assert ask(proxy, "GET", "/api/project", "s1").status_code == 401
    assert ask(proxy, "GET", "/api/project", "s2").status_code == 201
    assert ask(proxy, "POST", "/api/login/api_key").status_code == 201


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", STATE), ("PUT", "/api/project/alice/p/runs/r1/profile"), ("PUT", "/api/project/broken/p/runs/r/state")],
)
def test_nothing_else_ends_a_session(proxy: str, method: str, path: str) -> None:
    ask(proxy, method, path, "s1")
    assert ask(proxy, "GET", "/api/project", "s1").status_code == 201


def test_a_server_that_is_gone_is_a_bad_gateway() -> None:
    with upstream() as server:
        gone = server
    with expiring(gone) as address:
        assert ask(address, "GET", "/api", "s1").status_code == 502


def test_it_is_gone_after_the_block() -> None:
    with upstream() as server, expiring(server) as address:
        pass
    with pytest.raises(requests.ConnectionError):
        ask(address, "GET", "/api")
