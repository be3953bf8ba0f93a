"""Each kind of question, answered rightly and wrongly."""

from __future__ import annotations

import socket
import struct

import pytest

from gate.model import Kind, Part
from gate.probes import ask
from tests.offline.gate.servers import speaker, web
from tests.offline.programs import free_port


def part(kind: Kind, address: str, body: str = "") -> Part:
    return Part(name="x", kind=kind, address=address, body=body)


@pytest.mark.parametrize(
    ("kind", "status", "text", "up"),
    [
        ("http", 200, "anything", True),
        ("http", 204, "", False),
        ("http", 302, "", False),
        ("http", 404, "", False),
        ("http", 503, "", False),
        ("body", 200, "OK", True),
        ("body", 200, " OK\n", True),
        ("body", 200, "<html>OK</html>", False),
        ("body", 200, "", False),
        ("body", 500, "OK", False),
        ("refused", 403, "", True),
        ("refused", 404, "", True),
        ("refused", 200, "", False),
        ("refused", 302, "", False),
        ("refused", 502, "", False),
        ("answers", 200, "", True),
        ("answers", 404, "", True),
        ("answers", 503, "", True),
    ],
)
def test_web_answers(kind: Kind, status: int, text: str, *, up: bool) -> None:
    with web(api=(status, text)) as server:
        found = ask(part(kind, f"{server.url}/api", "OK" if kind == "body" else ""), 5)
    assert found.up is up, found.words
    assert (str(status) in found.words or repr(text) in found.words) is not up


@pytest.mark.parametrize("kind", ["answers", "http", "tcp", "redis", "postgres"])
def test_open_port_of_a_program_that_never_accepts_is_no_answer(kind: Kind) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        found = ask(part(kind, f"http://{address}/" if kind in ("answers", "http") else address), 0.2)
    assert (found.up, "no answer in time" in found.words) == (False, True)


@pytest.mark.parametrize(
    ("answer", "up"),
    [
        (b"+PONG\r\n", True),
        (b"-NOAUTH Authentication required.\r\n", True),
        (b"-LOADING Redis is loading the dataset in memory\r\n", False),
        (b"-DENIED Redis is running in protected mode\r\n", False),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
        (b"", False),
    ],
)
def test_redis(answer: bytes, *, up: bool) -> None:
    with speaker(answer) as (address, told):
        found = ask(part("redis", address), 5)
    assert (found.up, told) == (up, [b"PING\r\n"])


def message(kind: bytes, content: bytes) -> bytes:
    """A message of PostgreSQL's protocol: the length counts itself."""
    return kind + struct.pack("!i", 4 + len(content)) + content


def refusal(state: str) -> bytes:
    return message(b"E", b"SFATAL\0VFATAL\0C" + state.encode() + b"\0Mwords\0\0")


@pytest.mark.parametrize(
    ("answer", "up"),
    [
        (message(b"R", struct.pack("!i", 10) + b"SCRAM-SHA-256\0\0"), True),
        (refusal("28000"), True),
        (refusal("3D000"), True),
        (refusal("57P03"), False),
        (b"N", False),
        (b"S", False),
        (b"R", False),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
        (b"", False),
    ],
)
def test_postgres(answer: bytes, *, up: bool) -> None:
    """A startup packet begins with its length and protocol 3.0 (PostgreSQL, message formats)."""
    with speaker(answer) as (address, told):
        found = ask(part("postgres", address), 5)
    assert (found.up, told[0][:8], told[0][-2:]) == (up, struct.pack("!iHH", len(told[0]), 3, 0), b"\0\0")


def test_answer_that_breaks_off_is_none() -> None:
    with speaker(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nO") as (address, _):
        found = ask(part("http", f"http://{address}/"), 5)
    assert (found.up, address in found.words) == (False, True)


def test_words_or_a_hang_up_are_enough_for_tcp_and_a_closed_port_is_not() -> None:
    for answer in (b"", b"\x15\x03\x01\x00\x02\x02\x16"):
        with speaker(answer) as (address, _):
            assert ask(part("tcp", address), 5).up
    closed = ask(part("tcp", f"127.0.0.1:{free_port()}"), 5)
    assert (closed.up, "connection refused" in closed.words) == (False, True)


@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_silence_ends_at_the_deadline(kind: Kind) -> None:
    with speaker(None) as (address, _):
        found = ask(part(kind, address), 0.2)
    assert (found.up, "no answer in time" in found.words) == (False, True)


def test_silent_web_server_ends_at_the_deadline() -> None:
    with speaker(None) as (address, _):
        found = ask(part("http", f"http://{address}/"), 0.2)
    assert (found.up, "no answer in time" in found.words) == (False, True)


def test_unreachable_names_are_said_to_be_so() -> None:
    for kind, address in (("http", "http://nowhere.invalid/"), ("tcp", "nowhere.invalid:80")):
        found = ask(part(kind, address), 5)  # type: ignore[arg-type]  # literals in a tuple
        assert (found.up, "no such name" in found.words) == (False, True), found.words


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("no_proxy", "")
    with web(api=(200, "OK")) as server:
        assert ask(part("body", f"{server.url}/api", "OK"), 5).up
