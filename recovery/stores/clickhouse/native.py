"""Streams in ClickHouse's Native format: counted, proven whole, compressed so that equal data gives equal bytes.

A stream is a series of blocks: number of columns, number of rows (both as varints), then for each column its name, its
type and its values. Nothing in it says where a block ends. So a last column is asked for whose name nobody can know
beforehand and whose values are all 1: where it ends, everything before it is there. It is taken out again.
"""

from __future__ import annotations

import secrets
import zlib
from typing import TYPE_CHECKING, Final

from recovery.errors import DamagedError, RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_GZIP: Final = 31
"""`wbits` of zlib: 16 more than the largest window means gzip's header. zlib leaves its time at 0."""
_PIECE: Final = 1024**2
_LONGEST_VARINT: Final = 10
_MORE: Final = 0x80


class Blocks:
    """Blocks of one result. marker: what must be the name of its last column. rows: in the blocks that are whole."""

    def __init__(self, where: str, columns: int) -> None:
        """where: for messages. columns: how many there are besides the marker."""
        self._where = where
        self._columns = columns
        self.marker = f"plumbline_{secrets.token_hex(16)}"
        name = self.marker.encode()
        self._head = bytes([len(name)]) + name + b"\x05UInt8"
        self._held = bytearray()
        self.rows = 0

    def strip(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks without the marker. Raises RecoveryError unless the stream ends where a block does."""
        source = iter(pieces)
        while True:
            while not self._held and (piece := next(source, None)) is not None:
                self._held += piece
            if not self._held:
                return
            columns, rows = self._varint(source), self._varint(source)
            if columns != self._columns + 1 and (columns, rows) != (0, 0):
                raise self._broken("something that is no block follows a block")
            if columns:
                yield _varint(columns - 1) + _varint(rows)
                yield from self._body(source)
                self._marks(source, rows)
                self.rows += rows

    def _body(self, source: Iterator[bytes]) -> Iterator[bytes]:
        while (found := self._held.find(self._head)) < 0:
            whole = len(self._held) - len(self._head) + 1
            if whole > 0:
                yield bytes(self._held[:whole])
                del self._held[:whole]
            self._more(source)
        yield bytes(self._held[:found])
        del self._held[: found + len(self._head)]

    def _marks(self, source: Iterator[bytes], rows: int) -> None:
        left = rows
        while left:
            if not self._held:
                self._more(source)
            taken = min(left, len(self._held))
            if self._held.count(1, 0, taken) != taken:
                raise self._broken("the end of a block is not what was asked for")
            del self._held[:taken]
            left -= taken

    def _varint(self, source: Iterator[bytes]) -> int:
        value = 0
        for number in range(_LONGEST_VARINT):
            if not self._held:
                self._more(source)
            byte = self._held.pop(0)
            value |= (byte & ~_MORE) << 7 * number
            if byte < _MORE:
                return value
        raise self._broken("something that is no block follows a block")

    def _more(self, source: Iterator[bytes]) -> None:
        piece = next(source, None)
        if piece is None:
            raise self._broken("it ends inside a block")
        self._held += piece

    def _broken(self, what: str) -> RecoveryError:
        text = bytes(self._held[:400])
        at = text.find(b"DB::Exception")
        told = f": {text[at:].decode(errors='replace').strip()}" if at >= 0 else ""
        return RecoveryError(
            f"{self._where}: the stream broke after {self.rows} whole rows, {what}{told}; nothing of it is used. "
            "Look at the server's log, then run again"
        )


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= _MORE:
        out.append(value & ~_MORE & 0xFF | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def compress(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """As gzip, level 1. The same bytes give the same bytes."""
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


def decompress(path: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What `compress` was given, in pieces of at most 1 MiB. Raises DamagedError if it is cut off or something else."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        for piece in pieces:
            rest = piece
            while rest:
                if unpacker.eof:
                    raise _damaged(path, "something follows its end")
                if plain := unpacker.decompress(rest, _PIECE):
                    yield plain
                rest = unpacker.unconsumed_tail or unpacker.unused_data
        while not unpacker.eof and (plain := unpacker.decompress(b"", _PIECE)):
            yield plain
    except zlib.error as failure:
        raise _damaged(path, str(failure)) from failure
    if not unpacker.eof:
        raise _damaged(path, "it ends too early")


def _damaged(path: str, why: str) -> DamagedError:
    return DamagedError(f"{path}: no gzip stream as this program writes it: {why}; use an earlier point")
