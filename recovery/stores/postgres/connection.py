"""Connections whose text output depends on nothing that a server or a role may set."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg import errors, sql

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.stores.postgres.settings import Login

Connection = psycopg.Connection[tuple[object, ...]]

APPLICATION: Final = "plumbline-recovery"
LOCK_SECONDS: Final = 60
"""How long a lock of somebody else is waited for."""
OLDEST: Final = 13
"""Oldest major version: DROP DATABASE … WITH (FORCE) is not in an older one."""
CONNECT: Final[dict[str, Any]] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 6,
}

_SESSION: Final = {
    # Hashes are of text, so both sides must write the same text for the same value.
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "extra_float_digits": "3",
    "lc_monetary": "C",
    "quote_all_identifiers": "off",
    "search_path": "pg_catalog",
    "xmlbinary": "base64",
    # A policy that hides rows must be an error, not a smaller count.
    "row_security": "off",
    "statement_timeout": "0",
    "lock_timeout": f"{LOCK_SECONDS}s",
    # The connection that holds the snapshot does nothing while the dump runs.
    "idle_in_transaction_session_timeout": "0",
}
_SINCE: Final = {"idle_session_timeout": 14, "transaction_timeout": 17}

_HINTS: Final[dict[type[Exception], str]] = {
    errors.DiskFull: "the server's volume is full: make it larger or free space, then run again",
    errors.InsufficientPrivilege: "the user needs to own the database and to have CREATEDB",
    errors.LockNotAvailable: "somebody holds a lock on it: wait until that ends, then run again",
    errors.ObjectInUse: "somebody is connected: stop them, then run again",
    errors.InvalidPassword: "put the right values into the files of user and password",
}


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Whatever the server refuses becomes a RecoveryError that begins with `what`."""
    try:
        yield
    except psycopg.Error as error:
        raise RecoveryError(f"{what}: {said(error)}") from None


def said(error: psycopg.Error) -> str:
    """The server's message in one line, and what to do. Without details and context: they may quote rows."""
    text = error.diag.message_primary or " ".join(str(error).split()) or type(error).__name__
    hint = next((hint for kind, hint in _HINTS.items() if isinstance(error, kind)), None)
    if hint is None and "password authentication failed" in text:
        hint = _HINTS[errors.InvalidPassword]
    return f"{text}; {hint}" if hint else text


@contextmanager
def connected(login: Login, database: str) -> Iterator[Connection]:
    """A connection without a transaction. Raises RecoveryError if there is none, or the server is too old."""
    with (
        doing(f"database {database} at {login.host}:{login.port}"),
        psycopg.connect(
            host=login.host,
            port=login.port,
            dbname=database,
            user=login.username,
            password=login.password,
            application_name=APPLICATION,
            autocommit=True,
            **CONNECT,
        ) as connection,
    ):
        if major(connection) < OLDEST:
            raise RecoveryError(
                f"the server at {login.host}:{login.port} is PostgreSQL {major(connection)}; accepted is {OLDEST} or "
                f"newer"
            )
        wanted = _SESSION | {name: "0" for name, since in _SINCE.items() if major(connection) >= since}
        for name, value in wanted.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, value))
        yield connection


def major(connection: Connection) -> int:
    """The server's major version."""
    return connection.info.server_version // 10000


def release(connection: Connection) -> str:
    """The server's version without its packager's words: `15.14`."""
    return str(one(connection, "SHOW server_version")).split()[0]


def one(connection: Connection, query: sql.Composed | str, *given: object) -> object:
    """The first column of the first row; None if there is no row."""
    row = connection.execute(query, given or None).fetchone()
    return None if row is None else row[0]


def rows(connection: Connection, query: sql.Composed | str, *given: object) -> list[tuple[object, ...]]:
    """All rows of a catalogue query: as many as there are objects, never as many as there are rows of users."""
    return connection.execute(query, given or None).fetchall()
