"""Databases beside each other, and how a copy takes a place: by two renamings, either of which may be the last.

A copy is complete if and only if it carries a comment that begins with MARK: the last thing that a restore does. The
comment goes with the database when that is renamed, until `confirm` takes it away.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psycopg
from psycopg import sql

from recovery.errors import RecoveryError
from recovery.stores.postgres.connection import connected, doing, one, rows
from recovery.stores.postgres.figures import user_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.stores.postgres.connection import Connection
    from recovery.stores.postgres.settings import Login, Settings

MARK: Final = "plumbline: complete copy of "
_LOCK: Final = 0x506C756D
"""Key of the advisory lock: one run at a time changes names."""
_SHOWN: Final = 10
_GOING_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Names:
    """Which of the three databases are there. copy_of, current_of: SHA-256 of the dump in copy and `database`."""

    database: bool
    copy: bool
    replaced: bool
    copy_of: str | None
    current_of: str | None

    @property
    def between(self) -> bool:
        """Whether a run was killed between two renamings."""
        return self.copy and self.replaced and not self.database


@contextmanager
def maintenance(login: Login) -> Iterator[Connection]:
    """A connection to a database that is none of ours, alone with the names of databases."""
    with connected(login, "postgres") as connection:
        if not _locked(connection):
            raise RecoveryError(
                f"another run restores or renames databases at {login.host}:{login.port}; wait until it has ended"
            )
        yield connection


def _locked(connection: Connection) -> bool:
    """Whether the lock is ours. The server gives back that of a run that has ended when it notices, in a moment."""
    until = time.monotonic() + _GOING_SECONDS
    while not one(connection, "SELECT pg_try_advisory_lock(%s)", _LOCK):
        if time.monotonic() > until:
            return False
        time.sleep(_GOING_SECONDS / 20)
    return True


def names(connection: Connection, settings: Settings) -> Names:
    """What is there now."""
    query = """
    SELECT datname::text, coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = ANY (%s)
    """
    wanted = [settings.database, settings.restore_as, settings.replaced_as]
    found = {str(name): str(comment) for name, comment in rows(connection, query, wanted)}

    def source(name: str) -> str | None:
        comment = found.get(name, "")
        return comment.removeprefix(MARK) if comment.startswith(MARK) else None

    here = [name in found for name in wanted]
    return Names(here[0], here[1], here[2], source(settings.restore_as), source(settings.database))


def mark(connection: Connection, database: str, sha256: str) -> None:
    """Say that a copy is complete."""
    text = sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(database), sql.Literal(MARK + sha256))
    connection.execute(text)


def drop(connection: Connection, database: str, *, force: bool) -> None:
    """Drop a database if it is there. force: with whoever is connected, for copies that nobody serves."""
    text = "DROP DATABASE IF EXISTS {}" + (" WITH (FORCE)" if force else "")
    with doing(f"drop {database}"):
        connection.execute(sql.SQL(text).format(sql.Identifier(database)))


def promote(login: Login, settings: Settings, *, force: bool) -> str:
    """See Store.promote."""
    with maintenance(login) as connection:
        found = names(connection, settings)
        if not found.copy:
            if found.database and found.replaced and found.current_of is not None:
                return _already(settings)
            raise _no_copy(settings)
        if found.copy_of is None:
            raise RecoveryError(
                f"{settings.restore_as} is not complete: its restore was broken off; restore again, then promote"
            )
        if found.between:
            _rename(connection, settings.restore_as, settings.database)
            return f"finished what an earlier run began: {_already(settings)}"
        if found.replaced:
            raise RecoveryError(
                f"{settings.replaced_as} is still there from an earlier promotion; confirm it or demote it first"
            )
        if not found.database:
            _rename(connection, settings.restore_as, settings.database)
            return f"the copy is {settings.database} now; there was none before"
        _ready(connection, login, settings, force=force)
        _rename(connection, settings.database, settings.replaced_as)
        _rename(connection, settings.restore_as, settings.database)
        return _already(settings)


def demote(login: Login, settings: Settings) -> str:
    """See Store.demote."""
    with maintenance(login) as connection:
        found = names(connection, settings)
        if not found.replaced:
            if found.copy and found.database:
                return f"{settings.database} has not been replaced, the copy is still {settings.restore_as}"
            raise RecoveryError(f"there is no {settings.replaced_as}: nothing was replaced, or it has been confirmed")
        if found.database:
            if found.copy:
                raise RecoveryError(
                    f"{settings.restore_as} is there, so {settings.database} cannot get its name back; discard that "
                    f"copy first"
                )
            _idle(connection, settings.database)
            _rename(connection, settings.database, settings.restore_as)
        _rename(connection, settings.replaced_as, settings.database)
        return f"{settings.database} is what it was before; the copy is {settings.restore_as} again"


def confirm(login: Login, settings: Settings) -> str:
    """See Store.confirm."""
    with maintenance(login) as connection:
        found = names(connection, settings)
        refuse_between(found, settings)
        if not found.database:
            raise RecoveryError(f"there is no {settings.database}: nothing is deleted; restore and promote first")
        if found.replaced and found.current_of is None:
            raise RecoveryError(
                f"{settings.database} is no restored copy, so {settings.replaced_as} is not what it replaced: nothing "
                f"is deleted; look into both, and drop {settings.replaced_as} by hand if nobody needs it"
            )
        drop(connection, settings.replaced_as, force=False)
        if found.current_of is not None:
            connection.execute(sql.SQL("COMMENT ON DATABASE {} IS NULL").format(sql.Identifier(settings.database)))
        return f"{settings.replaced_as} is deleted" if found.replaced else f"there is no {settings.replaced_as}"


def discard(login: Login, settings: Settings) -> str:
    """See Store.discard."""
    with maintenance(login) as connection:
        found = names(connection, settings)
        refuse_between(found, settings)
        drop(connection, settings.restore_as, force=True)
        return f"{settings.restore_as} is deleted" if found.copy else f"there is no {settings.restore_as}"


def refuse_between(found: Names, settings: Settings) -> None:
    if found.between:
        raise RecoveryError(
            f"a run was broken off between two renamings: there is no {settings.database}, but {settings.restore_as} "
            f"and "
            f"{settings.replaced_as}; finish with promote, or go back with demote"
        )


def _ready(connection: Connection, login: Login, settings: Settings, *, force: bool) -> None:
    """Raises RecoveryError unless `database` may be replaced."""
    _idle(connection, settings.database)
    _idle(connection, settings.restore_as)
    query = "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = %s"
    owner, new = (str(one(connection, query, name)) for name in (settings.database, settings.restore_as))
    if owner != new:
        raise RecoveryError(
            f"{settings.database} belongs to {owner}, the copy to {new}: the application could not read it; restore "
            f"as {owner}"
        )
    if force:
        return
    with connected(login, settings.database) as inside:
        held = user_rows(inside, settings.bookkeeping_tables)
    if held:
        shown = ", ".join(f"{name} ({count})" for name, count in list(held.items())[:_SHOWN])
        more = f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
        raise RecoveryError(
            f"{settings.database} holds rows: {shown}{more}; accepted is a database without any; if the copy shall "
            f"take its "
            f"place all the same, force it: what is there is kept as {settings.replaced_as}"
        )


def _idle(connection: Connection, database: str) -> None:
    """Raises RecoveryError if anybody is connected: a database in use cannot be renamed, and nobody is thrown out.

    Whoever has just hung up is still listed for a moment.
    """
    query = """
    SELECT coalesce(nullif(application_name, ''), 'without a name'), count(*) FROM pg_stat_activity
    WHERE datname = %s AND backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY 1 ORDER BY 1
    """
    deadline = time.monotonic() + _GOING_SECONDS
    while found := ", ".join(f"{name} ({count})" for name, count in rows(connection, query, database)):
        if time.monotonic() < deadline:
            time.sleep(0.1)
            continue
        raise RecoveryError(
            f"{database} is in use, by connections: {found}; nobody was disconnected; stop these programs, then run "
            f"again"
        )


def _rename(connection: Connection, old: str, new: str) -> None:
    query = sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(old), sql.Identifier(new))
    try:
        connection.execute(query)
    except psycopg.errors.ObjectInUse:
        _idle(connection, old)
        raise RecoveryError(f"{old} is in use, so it cannot become {new}; nobody was disconnected; run again") from None
    except psycopg.Error as error:
        with doing(f"rename {old} to {new}"):
            raise error from None


def _already(settings: Settings) -> str:
    return f"the copy is {settings.database} now; what it replaced is kept as {settings.replaced_as} until confirmed"


def _no_copy(settings: Settings) -> RecoveryError:
    return RecoveryError(f"there is no {settings.restore_as}: nothing to promote; restore first")
