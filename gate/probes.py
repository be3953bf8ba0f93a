"""One question per kind of part. Each returns words: empty when the part answers, else what is wrong."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import requests
import urllib3

from gate.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from gate.model import Part

_MOST_BYTES: Final = 4096
_SHOWN: Final = 60
_CLIENT_ERRORS: Final = range(400, 500)
# Message StartupMessage: its length, protocol 3.0, then names and values; an end without a key is the gate's right.
_WHO: Final = b"user\0swanlab-gate\0database\0postgres\0application_name\0swanlab-gate\0\0"
_STARTUP: Final = struct.pack("!ii", 8 + len(_WHO), 3 << 16) + _WHO
# SQLSTATE cannot_connect_now: it starts, ends or recovers.
_NOT_NOW: Final = b"57P03"


def ask(part: Part, timeout: float) -> Outcome:
    """Ask once. timeout: seconds, for each step of the exchange."""
    begin = time.monotonic()
    try:
        words = _PROBES[part.kind](part, timeout)
    # The beginning of a text is read below requests, which would have put urllib3's errors into its own.
    except (OSError, requests.RequestException, urllib3.exceptions.HTTPError) as error:
        words = f"{part.address}: {_reason(error)}"
    end = time.monotonic()
    return Outcome(up=not words, words=words or "answers", seconds=end - begin, at=end)


def _http(part: Part, timeout: float) -> str:
    status, _ = _get(part.address, timeout)
    return "" if status == requests.codes.ok else f"{part.address} answers {status}, wanted is 200"


def _body(part: Part, timeout: float) -> str:
    status, text = _get(part.address, timeout)
    if status != requests.codes.ok:
        return f"{part.address} answers {status}, wanted is 200"
    return "" if text.strip() == part.body else f"{part.address} answers {text[:_SHOWN]!r}, wanted is {part.body!r}"


def _refused(part: Part, timeout: float) -> str:
    """A server error is no refusal: whoever is not there yet refuses nothing."""
    status, _ = _get(part.address, timeout)
    if status in _CLIENT_ERRORS:
        return ""
    return f"{part.address} answers {status}, and must be refused with 4xx: it is not for the outside"


def _answers(part: Part, timeout: float) -> str:
    """Any status is an answer."""
    _get(part.address, timeout)
    return ""


def _tcp(part: Part, timeout: float) -> str:
    """Words or a hang-up are a program's. A connection alone is the kernel's, which takes it for one that hangs."""
    with _connected(part, timeout) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        with suppress(ConnectionResetError):
            connection.recv(1)
    return ""


def _redis(part: Part, timeout: float) -> str:
    """An answer that asks for a password is one: Redis is up, and the gate needs no key to it."""
    with _connected(part, timeout) as connection:
        connection.sendall(b"PING\r\n")
        answer = connection.recv(_MOST_BYTES).decode(errors="replace").strip()
    return "" if answer.startswith(("+PONG", "-NOAUTH")) else f"{part.address} answers {answer[:_SHOWN]!r} to PING"


def _postgres(part: Part, timeout: float) -> str:
    """A server asks who we are (R), or refuses us (E); both are answers, as for pg_isready, but `not now` is none."""
    with _connected(part, timeout) as connection, connection.makefile("rb") as stream:
        connection.sendall(_STARTUP)
        kind, length = stream.read(1), stream.read(4)
        if kind not in (b"R", b"E") or len(length) < 4:  # noqa: PLR2004  # the width of a length
            return f"{part.address} does not answer as PostgreSQL does"
        fields = stream.read(min(int.from_bytes(length), _MOST_BYTES) - 4) if kind == b"E" else b""
    now = b"C" + _NOT_NOW not in fields.split(b"\0")
    return "" if now else f"{part.address} takes no connections yet: PostgreSQL starts, ends or recovers"


_PROBES: Final[dict[str, Callable[[Part, float], str]]] = {
    "http": _http,
    "body": _body,
    "refused": _refused,
    "answers": _answers,
    "tcp": _tcp,
    "redis": _redis,
    "postgres": _postgres,
}


def _get(address: str, timeout: float) -> tuple[int, str]:
    """Status and the beginning of the text. No redirection is followed: it would answer for somebody else."""
    with session() as client, client.get(address, timeout=timeout, allow_redirects=False, stream=True) as response:
        start = response.raw.read(_MOST_BYTES, decode_content=True) or b""
        return response.status_code, start.decode(errors="replace")


def session() -> requests.Session:
    """A client that no proxy of the environment stands in the way of."""
    found = requests.Session()
    found.trust_env = False
    return found


def _connected(part: Part, timeout: float) -> socket.socket:
    host, _, port = part.address.rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=timeout)
    connection.settimeout(timeout)
    return connection


def _reason(error: Exception) -> str:
    """In a few words: the messages of requests repeat the address and name objects in memory."""
    if isinstance(error, requests.Timeout | TimeoutError | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    if isinstance(error, socket.gaierror) or "NameResolutionError" in str(error):
        return "no such name"
    if isinstance(error, ConnectionRefusedError) or "Connection refused" in str(error):
        return "connection refused"
    return type(error).__name__
