"""A request's body, decompressed to memory or, when it is large, to a file without a name."""

from __future__ import annotations

import tempfile
import zlib
from typing import IO, TYPE_CHECKING, Final, Protocol

from sandbox.clickhouse_engine.errors import NOT_IMPLEMENTED, ZLIB_INFLATE_FAILED, error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

IN_MEMORY: Final = 16 * 1024**2
"""Bytes up to which a body stays in memory."""
CHUNK: Final = 1024**2
"""Bytes that are handed to the engine at once."""
_WINDOW: Final = {"gzip": 31, "deflate": 15}
"""`wbits` of zlib: 16 more than the largest window means gzip's header."""


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes) -> bytes: ...


class _Plain:
    eof: Final = True

    def decompress(self, data: bytes) -> bytes:
        return data


def _decoder(encoding: str) -> _Decoder:
    if encoding in {"", "identity"}:
        return _Plain()
    if encoding not in _WINDOW:
        raise error(NOT_IMPLEMENTED, "NOT_IMPLEMENTED", f"Content-Encoding {encoding!r} is not supported here")
    return zlib.decompressobj(_WINDOW[encoding])


async def receive(chunks: AsyncIterator[bytes], encoding: str) -> IO[bytes]:
    """The whole body, rewound; the caller closes it. Raises EngineError when it is not what `encoding` says."""
    decoder = _decoder(encoding.strip().lower())
    spool: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # handed to the caller
    received = 0
    try:
        async for chunk in chunks:
            received += len(chunk)
            spool.write(decoder.decompress(chunk))
    except zlib.error as failure:
        spool.close()
        raise error(ZLIB_INFLATE_FAILED, "ZLIB_INFLATE_FAILED", f"the body is no {encoding}: {failure}") from failure
    except BaseException:
        spool.close()
        raise
    if received and not decoder.eof:
        spool.close()
        raise error(ZLIB_INFLATE_FAILED, "ZLIB_INFLATE_FAILED", f"the body ends before its {encoding} does")
    spool.seek(0)
    return spool


def pieces(body: IO[bytes]) -> Iterator[bytes]:
    """The rest of the body in pieces."""
    while piece := body.read(CHUNK):
        yield piece
