"""A small HTTP/1.1 server on asyncio: enough for scrapes by the thousand and a JSON interface, on one core."""

from __future__ import annotations

import asyncio
import contextlib
import http
import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HEAD_BYTES: Final = 64 * 1024
BODY_BYTES: Final = 1024 * 1024
log = logging.getLogger("web")


@dataclass(frozen=True)
class Request:
    """What was asked. path: without the query."""

    method: str
    path: str
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    """What is answered. delay: seconds before it is sent. headers: ready lines, each with its line break."""

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    delay: float = 0.0
    headers: str = ""


def document(status: int, content: Any) -> Response:  # noqa: ANN401  any JSON
    """A JSON answer."""
    return Response(status, json.dumps(content).encode() + b"\n", "application/json")


NOT_FOUND: Final = Response(404, b"404 page not found\n")


def address(text: str) -> tuple[str, int]:
    """Host and port of `<host>:<port>`; no host means every address. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:  # noqa: PLR2004  the last port
        raise ValueError(f"{text!r} is no <host>:<port>")
    return host.strip("[]"), int(port)


async def serve(where: tuple[str, int], answer: Callable[[Request], Awaitable[Response]]) -> asyncio.Server:
    """Listen on host and port. Raises OSError when the address cannot be bound."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while await _exchange(reader, writer, answer):
                pass
        writer.close()

    host, port = where
    return await asyncio.start_server(connected, host or None, port, limit=HEAD_BYTES)


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Callable[[Request], Awaitable[Response]]
) -> bool:
    """One request and its answer; whether the connection stays open."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lines = head.split("\r\n")
    method, _, rest = lines[0].partition(" ")
    target, _, version = rest.rpartition(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length = headers.get("content-length", "0")
    if not version.startswith("HTTP/1.") or not length.isdecimal() or int(length) > BODY_BYTES:
        _send(writer, Response(400, b"bad request\n"), keep=False)
        return False
    body = await reader.readexactly(int(length))
    try:
        response = await answer(Request(method, target.partition("?")[0], body))
    except Exception:  # one bad answer must not end the server
        log.exception("%s %s", method, target)
        response = Response(500, b"internal server error\n")
    if response.delay:
        await asyncio.sleep(response.delay)
    keep = headers.get("connection", "").lower() != "close" and version == "HTTP/1.1"
    _send(writer, response, keep=keep)
    await writer.drain()
    return keep


def _send(writer: asyncio.StreamWriter, response: Response, *, keep: bool) -> None:
    reason = http.HTTPStatus(response.status).phrase
    writer.write(
        f"HTTP/1.1 {response.status} {reason}\r\n"
        f"Content-Type: {response.content_type}\r\n"
        f"Content-Length: {len(response.body)}\r\n"
        f"{response.headers}"
        f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n".encode()
    )
    writer.write(response.body)
