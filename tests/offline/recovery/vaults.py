"""A vault in memory, for tests of what is put into one. The real one is tested in test_vault*.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recovery import chunks
from recovery.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recovery.model import Chunk, File


@dataclass
class Memory:
    """Writer and Reader of recovery/ports.py. kept: SHA-256 → content; tests damage it. sent: chunks that were new."""

    kept: dict[str, bytes] = field(default_factory=dict)
    sent: int = 0

    def put(self, path: str, pieces: Iterable[bytes]) -> File:
        """Keep a stream."""

        def keep(chunk: Chunk, content: bytes) -> None:
            self.sent += chunk.sha256 not in self.kept
            self.kept[chunk.sha256] = content

        return chunks.store(path, pieces, keep)

    def read(self, file: File) -> Iterator[bytes]:
        """The stream again, checked."""

        def fetch(chunk: Chunk) -> bytes:
            if chunk.sha256 not in self.kept:
                raise DamagedError(f"{file.path}: chunk {chunk.sha256} is missing")
            return self.kept[chunk.sha256]

        return chunks.load(file, fetch)
