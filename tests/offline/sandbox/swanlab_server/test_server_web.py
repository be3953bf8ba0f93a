"""What becomes of a request, whatever its handler does."""

from __future__ import annotations

import logging
from typing import Any, cast

import minio.error
import psycopg
import pytest
import redis
import urllib3
from psycopg_pool import PoolTimeout

from sandbox.swanlab_server import web
from sandbox.swanlab_server.web import Account, Answer, Call, Endpoint, Refusal
from tests.offline.sandbox.swanlab_server.server_driver import Client

ALICE = Account(id=1, username="alice", name="Alice", root=False)


def client(handler: object, *, account: bool = True, sid: str = "s") -> Client:
    endpoint: Endpoint[None] = Endpoint("POST", "/api/things/{name}", cast("Any", handler), account=account)
    server: web.Server[None] = web.Server(context=None, identify=lambda given: ALICE if given == "s" else None)
    return Client(web.application(server, [endpoint]), sid=sid)


def failing(error: Exception) -> object:
    def handler(_context: None, _call: Call) -> Answer:
        raise error

    return handler


def test_a_handler_gets_path_query_body_and_account() -> None:
    def handler(_context: None, call: Call) -> Answer:
        return Answer(status=201, body=[call.path["name"], call.query["q"], call.body, call.caller.username])

    answered = client(handler).ask("POST", "/api/things/a%20b?q=1", {"n": 1.5})
    assert (answered.status, answered.body) == (201, ["a b", "1", {"n": 1.5}, "alice"])
    assert answered.headers["traceid"]


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("secret of the driver"),
        psycopg.InterfaceError("the connection is closed"),
        psycopg.errors.AdminShutdown("terminating"),
        PoolTimeout("no connection within 5 seconds"),
        redis.ConnectionError("refused"),
        redis.TimeoutError("late"),
        urllib3.exceptions.MaxRetryError(urllib3.HTTPConnectionPool("s3"), "/"),
        minio.error.ServerError("503 from the store", 503),
        ConnectionRefusedError("refused"),
    ],
)
def test_a_store_that_is_away_is_503_and_never_a_4xx(error: Exception) -> None:
    answered = client(failing(error)).ask("POST", "/api/things/a")
    assert (answered.status, answered.body["code"]) == (503, "Store_Unavailable")
    assert "secret" not in answered.body["message"]


def test_sessions_that_cannot_be_looked_up_are_503_and_not_401() -> None:
    def identify(_sid: str) -> Account | None:
        raise redis.ConnectionError("refused")

    server: web.Server[None] = web.Server(context=None, identify=identify)
    app = web.application(server, [Endpoint("GET", "/api/x", lambda _context, _call: Answer())])
    assert Client(app, sid="s").ask("GET", "/api/x").status == 503


@pytest.mark.parametrize("sid", ["", "unknown"])
def test_no_session_is_401_where_one_is_needed(sid: str) -> None:
    answered = client(lambda _context, _call: Answer(), sid=sid).ask("POST", "/api/things/a")
    assert (answered.status, answered.body["code"]) == (401, "Unauthorized")


def test_no_session_is_fine_where_none_is_needed() -> None:
    answered = client(lambda _context, _call: Answer(text="OK"), account=False, sid="").ask("POST", "/api/things/a")
    assert (answered.status, answered.raw) == (200, b"OK")


def test_a_refusal_has_code_and_message() -> None:
    answered = client(failing(Refusal(409, "Conflict", "it is there"))).ask("POST", "/api/things/a")
    assert (answered.status, answered.body) == (409, {"code": "Conflict", "message": "it is there"})


def test_a_value_that_the_database_cannot_hold_is_the_callers_fault() -> None:
    answered = client(failing(psycopg.DataError("NUL (0x00) bytes"))).ask("POST", "/api/things/a")
    assert answered.status == 422


def test_a_fault_of_ours_is_500_and_told_in_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answered = client(failing(KeyError("inner secret"))).ask("POST", "/api/things/a")
    assert (answered.status, answered.body["code"]) == (500, "Internal_Error")
    assert "inner secret" not in answered.raw.decode()
    assert "inner secret" in caplog.text
    assert answered.headers["traceid"] in caplog.text


@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe", b"{'a': 1}"])
def test_a_body_that_is_no_json_is_400(raw: bytes) -> None:
    assert client(lambda _context, _call: Answer()).ask("POST", "/api/things/a", raw).status == 400


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/api/else", 404), ("GET", "/api/things/a", 405)])
def test_a_route_that_is_not_there_is_told_as_json(method: str, path: str, status: int) -> None:
    answered = client(lambda _context, _call: Answer()).ask(method, path)
    assert answered.status == status
    assert answered.body["message"] == f"no route {method} {path}"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"host": "a:8000"}, "http://a:8000"),
        ({"host": "a", "x-forwarded-proto": "https", "x-forwarded-host": "swanlab.example"}, "https://swanlab.example"),
        ({"host": "a", "x-forwarded-proto": "https, http"}, "https://a"),
    ],
)
def test_addresses_begin_as_the_caller_came(headers: dict[str, str], expected: str) -> None:
    assert web.origin(headers, "http") == expected


def test_requests_are_counted_by_pattern_and_never_by_path() -> None:
    asked = client(lambda _context, _call: Answer(status=201))
    asked.ask("POST", "/api/things/a")
    asked.ask("POST", "/api/things/b")
    asked.ask("GET", "/api/else")
    page = asked.ask("GET", "/metrics").raw.decode()
    counted = 'http_request_duration_seconds_count{method="POST",route="/api/things/{name}",status="201"} 2.0'
    assert counted in page
    assert 'route="unmatched",status="404"} 1.0' in page
    assert "/api/else" not in page
    assert "process_resident_memory_bytes" in page
