"""What is known of a bucket's objects while a run works, in a file: a million keys do not belong in memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from recovery.stores.objects.bucket import Listed

BATCH = 500
Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Row:
    """What was read of an object. file, meta: as JSON, None while it was not read."""

    key: str
    size: int
    etag: str
    file: str | None
    meta: str | None


class Ledger:
    """Rows by key, in the order of the keys' bytes. Used by one thread."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add(self, found: Listed) -> None:
        """An object of the first listing. Raises RecoveryError if its key was there before: others may be hidden."""
        try:
            self._database.execute(
                "INSERT INTO objects (key, size, etag) VALUES (?, ?, ?)", (found.key, found.size, found.etag)
            )
        except sqlite3.IntegrityError:
            raise RecoveryError(
                f"object {found.key!r} stands in the listing twice: its pages do not fit together, so it may lack "
                "others; "
                "run again, and look into the store if it stays so"
            ) from None

    def has(self, key: str) -> bool:
        """Whether a key is known."""
        return self._database.execute("SELECT 1 FROM objects WHERE key = ?", (key,)).fetchone() is not None

    def get(self, key: str) -> Row | None:
        """What is known of a key."""
        row = self._database.execute("SELECT * FROM objects WHERE key = ?", (key,)).fetchone()
        return None if row is None else Row(*row)

    def see(self, found: Listed) -> None:
        """An object of the second listing."""
        self._database.execute("INSERT INTO seen VALUES (?, ?, ?)", (found.key, found.size, found.etag))

    def read(self, row: Row) -> None:
        """Keep what was read."""
        self._database.execute(
            "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)", (row.key, row.size, row.etag, row.file, row.meta)
        )

    def drop(self, key: str) -> None:
        """Forget an object."""
        self._database.execute("DELETE FROM objects WHERE key = ?", (key,))

    def unread(self) -> Iterator[Row]:
        """Objects of the first listing that were not read."""
        return self._rows("SELECT * FROM objects WHERE file IS NULL AND key > ? ORDER BY key LIMIT ?")

    def rows(self) -> Iterator[Row]:
        """All that was read."""
        return self._rows("SELECT * FROM objects WHERE file IS NOT NULL AND key > ? ORDER BY key LIMIT ?")

    def changed(self) -> Iterator[Row]:
        """Objects that the second listing shows otherwise than they were read, or for the first time."""
        return self._rows(
            "SELECT s.key, s.size, s.etag, o.file, NULL FROM seen s LEFT JOIN objects o ON o.key = s.key"
            " WHERE (o.key IS NULL OR o.size <> s.size OR o.etag <> s.etag) AND s.key > ? ORDER BY s.key LIMIT ?"
        )

    def vanished(self) -> Iterator[Row]:
        """Objects that the second listing does not show."""
        return self._rows(
            "SELECT * FROM objects WHERE key NOT IN (SELECT key FROM seen) AND key > ? ORDER BY key LIMIT ?"
        )

    def _rows(self, query: str) -> Iterator[Row]:
        """By pages, so that a row may be written while others are still to come."""
        last = ""
        while page := self._database.execute(query, (last, BATCH)).fetchall():
            yield from (Row(*row) for row in page)
            last = page[-1][0]


@contextmanager
def ledger(path: Path) -> Iterator[Ledger]:
    """A new ledger in a file that goes away with it. What a killed run left there is dropped."""
    path.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # Nothing in it outlives the run: no journal and no waiting for the disk.
            database.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE objects"
                " (key TEXT PRIMARY KEY, size INTEGER, etag TEXT, file TEXT, meta TEXT) WITHOUT ROWID;"
                "CREATE TABLE seen (key TEXT PRIMARY KEY, size INTEGER, etag TEXT) WITHOUT ROWID;"
            )
            yield Ledger(database)
    except sqlite3.Error as error:
        raise RecoveryError(
            f"{path}: {error}; the working directory needs room, about 1 KiB for each object: make it larger, run again"
        ) from error
    finally:
        path.unlink(missing_ok=True)


def batches(things: Iterable[Thing], size: int = BATCH) -> Iterator[list[Thing]]:
    """Lists of up to `size`."""
    source = iter(things)
    while batch := list(islice(source, size)):
        yield batch
