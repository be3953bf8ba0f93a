"""Reads of the PostgreSQL copy: one snapshot, read-only, results in pieces through cursors of the server."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.rows import dict_row

from recovery import secret_files
from recovery.crosscheck.model import Row
from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from psycopg import Connection

    from recovery.crosscheck.model import PostgresCopy, Query

_PIECE: Final = 5000
"""Rows that are fetched at once."""
_OPTIONS: Final = " ".join(
    f"-c {setting}"
    for setting in (
        "default_transaction_read_only=on",
        "default_transaction_isolation=repeatable\\ read",
        # Cursors stay open while another store is read, however long that takes.
        "statement_timeout=0",
        "idle_in_transaction_session_timeout=0",
    )
)


class Postgres:
    """An open copy. Methods raise RecoveryError when it does not answer or a statement fails."""

    def __init__(self, copy: PostgresCopy, connection: Connection[dict[str, Any]]) -> None:
        """connection: in its one transaction."""
        self._where = _where(copy)
        self._connection = connection
        self._numbers = itertools.count()

    def tables(self) -> dict[str, frozenset[str]]:
        """Table → its columns, of the schema that names without one mean."""
        text = (
            "SELECT table_name, array_agg(column_name::text) AS columns FROM information_schema.columns"
            " WHERE table_schema = current_schema() GROUP BY table_name"
        )
        with _errors(self._where):
            rows = self._connection.execute(text).fetchall()
        return {row["table_name"]: frozenset(row["columns"]) for row in rows}

    def number(self, sql: str) -> int:
        """The one number that a statement gives."""
        with _errors(self._where):
            row = self._connection.execute(sql).fetchone()
        if row is None:
            raise RecoveryError(f"{self._where}: no row where one number was asked for")
        return int(next(iter(row.values())))

    def rows(self, query: Query) -> Generator[Row]:
        """The result, a piece at a time."""
        with _errors(self._where):
            cursor = self._connection.cursor(f"crosscheck_{next(self._numbers)}")
        with contextlib.closing(cursor):
            with _errors(self._where):
                cursor.itersize = _PIECE
                cursor.execute(query.sql)
            while True:
                with _errors(self._where):
                    piece = cursor.fetchmany(_PIECE)
                if not piece:
                    return
                for fields in piece:
                    yield Row(tuple(fields[name] for name in query.key), fields)


@contextlib.contextmanager
def opened(copy: PostgresCopy) -> Iterator[Postgres]:
    """A copy, until the end of the block. Raises RecoveryError if it cannot be reached."""
    where = _where(copy)
    with _errors(where):
        connection = psycopg.connect(
            host=copy.host,
            port=copy.port,
            dbname=copy.database,
            user=secret_files.read(copy.user_file, f"the user of {where}"),
            password=secret_files.read(copy.password_file, f"the password of {where}"),
            connect_timeout=30,
            client_encoding="utf8",
            application_name="recovery-crosscheck",
            options=_OPTIONS,
            row_factory=dict_row,
        )
    try:
        yield Postgres(copy, connection)
    finally:
        # Not as a context manager: that would commit, and there is nothing to keep.
        connection.close()


def _where(copy: PostgresCopy) -> str:
    return f"PostgreSQL copy {copy.database} at {copy.host}:{copy.port}"


@contextlib.contextmanager
def _errors(where: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise RecoveryError(f"{where}: {str(error).strip()}; is the copy restored and its server running?") from error
