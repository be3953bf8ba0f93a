"""Passes one call on to a server and takes its answer, as unchanged as a proxy can."""

from __future__ import annotations

from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import BinaryIO

TIMEOUT: Final = 120.0
_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "transfer-encoding"}
) | {"upgrade", "content-length", "expect"}
"""Headers of one connection; the length is written anew."""
_CHUNK_SIZE_DIGITS: Final = 16


class UpstreamError(Exception):
    """The server gave no answer."""


class BodyError(Exception):
    """A body that ended early, or that is not framed as HTTP says."""


@dataclass(frozen=True)
class Answer:
    """What a server answered. length: as announced, which a HEAD has without a body."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    length: str | None


def forward(
    upstream: str, method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes, *, keep_host: bool = True
) -> Answer:
    """Call the server. upstream: scheme, host, port. target: path and query. Raises UpstreamError.

    keep_host: whether it is shown the Host of the client, which signatures cover, or its own.
    """
    parts = urlsplit(upstream)
    connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(
        parts.hostname or "", parts.port, timeout=TIMEOUT
    )
    try:
        connection.putrequest(method, target, skip_host=keep_host, skip_accept_encoding=True)
        for name, value in kept(headers):
            if keep_host or name.lower() != "host":
                connection.putheader(name, value)
        if body or method in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)
        found = connection.getresponse()
        content = found.read()
        length = found.getheader("Content-Length")
        return Answer(found.status, found.reason, tuple(kept(found.getheaders())), content, length)
    except (OSError, HTTPException) as error:
        raise UpstreamError(f"{parts.netloc} does not answer ({type(error).__name__})") from error
    finally:
        connection.close()


def kept(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers that are not of one connection alone."""
    return [(name, value) for name, value in headers if name.lower() not in _HOP]


def body_of(source: BinaryIO, length: str | None, encoding: str | None) -> bytes:
    """The body of a request. length, encoding: its headers Content-Length and Transfer-Encoding. Raises BodyError."""
    if encoding is not None:
        if encoding.strip().lower() != "chunked":
            raise BodyError(f"transfer encoding {encoding!r}; accepted is chunked")
        return b"".join(iter(lambda: _chunk(source), b""))
    if length is None:
        return b""
    if not (length.isascii() and length.isdigit()):
        raise BodyError(f"Content-Length is {length!r}; accepted is a number")
    return _exactly(source, int(length))


def _chunk(source: BinaryIO) -> bytes:
    size = source.readline(_CHUNK_SIZE_DIGITS + 2).partition(b";")[0].strip()
    try:
        wanted = int(size, 16)
    except ValueError as error:
        raise BodyError(f"a chunk of size {size!r}; accepted is a hexadecimal number") from error
    content = _exactly(source, wanted)
    source.readline()
    return content


def _exactly(source: BinaryIO, size: int) -> bytes:
    content = source.read(size)
    if len(content) != size:
        raise BodyError(f"a body of {len(content)} bytes where {size} were announced")
    return content
