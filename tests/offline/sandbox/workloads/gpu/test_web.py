"""The small HTTP server: keep-alive, bodies, wrong requests, answers that fail."""

from __future__ import annotations

import asyncio

from sandbox.workloads.gpu import web
from sandbox.workloads.gpu.web import Request, Response


async def answer(request: Request) -> Response:
    """Says what was asked; /fail breaks."""
    if request.path == "/fail":
        raise ValueError("broken on purpose")
    return Response(200, f"{request.method} {request.path} {request.body.decode()}".encode())


def exchange(sent: bytes) -> bytes:
    """Send bytes, close the sending side, return everything that comes back."""

    async def talk() -> bytes:
        server = await web.serve(("127.0.0.1", 0), answer)
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        writer.write_eof()
        received = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        server.close()
        return received

    return asyncio.run(talk())


def test_two_requests_on_one_connection() -> None:
    post = b"POST /b?x=1 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
    received = exchange(b"GET /a HTTP/1.1\r\n\r\n" + post)
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert b"GET /a " in received
    assert b"POST /b abc" in received


def test_connection_is_closed_when_asked() -> None:
    received = exchange(b"GET /a HTTP/1.1\r\nConnection: close\r\n\r\nGET /b HTTP/1.1\r\n\r\n")
    assert received.count(b"HTTP/1.1 200 OK") == 1
    assert b"Connection: close" in received


def test_wrong_request_is_refused() -> None:
    assert exchange(b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert exchange(b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_answer_that_fails_does_not_end_the_server() -> None:
    received = exchange(b"GET /fail HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 500 ")
    assert b"HTTP/1.1 200 OK" in received


def test_half_a_request_is_dropped() -> None:
    assert exchange(b"GET /a HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc") == b""
