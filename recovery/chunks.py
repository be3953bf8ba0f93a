"""Streams as chunks named by their content, wherever chunks are kept."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from recovery.errors import DamagedError
from recovery.model import CHUNK_BYTES, Chunk, File

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def store(path: str, pieces: Iterable[bytes], keep: Callable[[Chunk, bytes], None], size: int = CHUNK_BYTES) -> File:
    """Cut a stream into chunks of `size` bytes, the last one shorter, and hand each to `keep`."""
    whole, total, chunks = hashlib.sha256(), 0, list[Chunk]()
    for content in cut(pieces, size):
        chunk = Chunk(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
        keep(chunk, content)
        whole.update(content)
        total += len(content)
        chunks.append(chunk)
    return File(path=path, size=total, sha256=whole.hexdigest(), chunks=tuple(chunks))


def load(file: File, fetch: Callable[[Chunk], bytes]) -> Iterator[bytes]:
    """The stream again. Raises DamagedError if a chunk, or the whole, is not what the file says."""
    whole, total = hashlib.sha256(), 0
    for number, chunk in enumerate(file.chunks, 1):
        content = fetch(chunk)
        if len(content) != chunk.size or hashlib.sha256(content).hexdigest() != chunk.sha256:
            raise DamagedError(
                f"{file.path}: chunk {number} of {len(file.chunks)} ({chunk.sha256}) is not what was stored: "
                f"{len(content)} bytes instead of {chunk.size}, or another content; this point cannot be restored, use "
                "an earlier one and look for who writes to the target"
            )
        whole.update(content)
        total += len(content)
        yield content
    if (total, whole.hexdigest()) != (file.size, file.sha256):
        raise DamagedError(
            f"{file.path}: its chunks make {total} bytes, the manifest says {file.size}, or another content; this "
            "point cannot be restored, use an earlier one"
        )


def cut(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in pieces of exactly `size`, the last one shorter and never empty."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)
