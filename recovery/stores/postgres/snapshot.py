"""One moment of a database, held open for as long as somebody reads it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from psycopg import errors, sql

from recovery.errors import RecoveryError
from recovery.stores.postgres import catalogue
from recovery.stores.postgres.connection import connected, doing, one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.stores.postgres.connection import Connection
    from recovery.stores.postgres.settings import Login

_ATTEMPTS: Final = 5


@dataclass(frozen=True)
class Snapshot:
    """id: what pg_dump joins it with. connection: in a transaction that sees it, and only reads."""

    id: str
    connection: Connection


@contextmanager
def held(login: Login, database: str) -> Iterator[Snapshot]:
    """A snapshot with every table locked against being dropped or rewritten, until the block ends.

    Locks come first: a table that is rewritten between snapshot and lock would look empty to the snapshot. Raises
    RecoveryError if tables come and go faster than they can be locked, or somebody holds a lock.
    """
    with connected(login, database) as connection, doing(f"database {database}: snapshot"):
        for _ in range(_ATTEMPTS):
            found = _lock(connection)
            if found is not None and found == _tables(connection):
                break
            connection.execute("ROLLBACK")
        else:
            raise RecoveryError(
                f"database {database}: tables come and go; wait until a migration has ended, then run again"
            )
        yield Snapshot(str(one(connection, "SELECT pg_export_snapshot()")), connection)


def _tables(connection: Connection) -> list[catalogue.Relation]:
    return [relation for relation in catalogue.relations(connection) if relation.kind in "rp"]


def _lock(connection: Connection) -> list[catalogue.Relation] | None:
    """The tables that are locked now, in a transaction that has no snapshot yet; None if one of them went away."""
    found = _tables(connection)
    connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    if not found:
        return found
    names = sql.SQL(", ").join(sql.SQL("ONLY {}").format(relation.identifier) for relation in found)
    try:
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(names))
    except errors.UndefinedTable:
        return None
    return found
