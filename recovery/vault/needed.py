"""Which chunks the points need: more than fit into memory, so in files, of which one at a time is in memory.

A target lists its chunks by their hash, and each file holds those whose hash begins alike: a listing meets one file
after another. In any other order the answers are the same, only later.
"""

from __future__ import annotations

import struct
import tempfile
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FILES: Final = 64
_ROW: Final = struct.Struct("<32sd")
"""The hash, and seconds since 1970."""
_FEW: Final = 50_000
"""Rows of a file that are not worth a look at which of them are the same."""
_BUFFER: Final = 32 * 1024


class Needed:
    """Hash of a chunk → when the newest point that needs it was begun, in seconds since 1970. See needed_in.

    Methods raise RecoveryError if there is no room.
    """

    def __init__(self, files: list[IO[bytes]], where: str) -> None:
        self._files, self._where = files, where
        self._rows = [0] * _FILES
        self._limits = [_FEW] * _FILES
        self._held: tuple[int, dict[bytes, float]] | None = None

    def add(self, digest: bytes, began: float) -> None:
        """What is added later counts: add points by their age, the oldest first."""
        number = _number(digest)
        self._held = None
        try:
            self._files[number].write(_ROW.pack(digest, began))
            self._rows[number] += 1
            if self._rows[number] >= self._limits[number]:
                self._once(number)
        except OSError as error:
            raise _no_room(self._where, error) from error

    def count(self) -> int:
        """How many chunks there are."""
        try:
            return sum(self._once(number) for number in range(_FILES))
        except OSError as error:
            raise _no_room(self._where, error) from error

    def began(self, digest: bytes) -> float | None:
        """None if no point needs it."""
        number = _number(digest)
        if self._held is None or self._held[0] != number:
            self._held = None  # before the next one is read: never two of them
            try:
                self._held = (number, self._read(number))
            except OSError as error:
                raise _no_room(self._where, error) from error
        return self._held[1].get(digest)

    def _once(self, number: int) -> int:
        """Write each chunk of a file once: points share most of theirs."""
        rows = self._read(number)
        file = self._files[number]
        file.seek(0)
        file.truncate()
        file.writelines(_ROW.pack(digest, began) for digest, began in rows.items())
        self._rows[number], self._limits[number] = len(rows), max(_FEW, 2 * len(rows))
        return len(rows)

    def _read(self, number: int) -> dict[bytes, float]:
        file = self._files[number]
        file.seek(0)
        rows = dict[bytes, float]()
        while piece := file.read(_ROW.size * 4096):
            rows.update(_ROW.iter_unpack(piece))
        return rows


@contextmanager
def needed_in(work: Path | None) -> Iterator[Needed]:
    """None of them yet. work: directory for 40 to 80 bytes for each chunk, None is the system's for temporary files.

    The files have no name and go with the process. Raises RecoveryError if they cannot be made.
    """
    files, where = list[IO[bytes]](), str(work or tempfile.gettempdir())
    try:
        try:
            for _ in range(_FILES):
                files.append(tempfile.TemporaryFile(dir=work, buffering=_BUFFER))  # noqa: SIM115  # closed below
        except OSError as error:
            raise _no_room(where, error) from error
        yield Needed(files, where)
    finally:
        for file in files:
            with suppress(OSError):  # what it still had to write is not needed any more
                file.close()


def _no_room(where: str, error: OSError) -> RecoveryError:
    return RecoveryError(
        f"hashes of the chunks that points need cannot be kept in {where} ({error.strerror}); without them no chunk is "
        "deleted; the directory must be there, writable, and have 80 bytes for each chunk; then run again"
    )


def _number(digest: bytes) -> int:
    return digest[0] * _FILES // 256
