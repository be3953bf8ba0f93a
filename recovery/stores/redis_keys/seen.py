"""Names that came by, in a file: there may be more of them than fit into memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Seen:
    """A set of bytes."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add(self, name: bytes) -> bool:
        """Whether it is new."""
        return self._database.execute("INSERT OR IGNORE INTO seen VALUES (?)", (name,)).rowcount == 1

    def has(self, name: bytes) -> bool:
        """Whether it came by."""
        return self._database.execute("SELECT 1 FROM seen WHERE name = ?", (name,)).fetchone() is not None

    def clear(self) -> None:
        """Forget all."""
        self._database.execute("DELETE FROM seen")


@contextmanager
def seen_in(path: Path) -> Iterator[Seen]:
    """An empty set in a file that goes away with it."""
    path.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            path.chmod(0o600)
            database.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                "CREATE TABLE seen (name BLOB PRIMARY KEY) WITHOUT ROWID;"
            )
            yield Seen(database)
    except sqlite3.Error as error:
        raise RecoveryError(
            f"{path}: {error}; the working directory needs room for the names of all keys: make it larger, run again"
        ) from error
    finally:
        path.unlink(missing_ok=True)
