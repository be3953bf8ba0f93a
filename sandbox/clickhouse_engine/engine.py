"""The engine: one directory of data, one connection for each request."""

from __future__ import annotations

import contextlib
import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

import chdb

from sandbox.clickhouse_engine.errors import BAD_ARGUMENTS, EngineError, error

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from pathlib import Path

    from sandbox.clickhouse_engine.statement import Insert, Query

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What holds for one request. database: empty = the engine's default. parameters: of `{name:Type}` in the text."""

    database: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Rows and bytes of one statement, as the engine counted them."""

    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0
    elapsed_ns: int = 0


@dataclass(frozen=True)
class Answer:
    """chunks: the result; whoever takes it must exhaust or close it, its connection hangs on it.

    summary: None while the result is still being made.
    """

    chunks: Iterator[bytes]
    summary: Summary | None


class _Result(Protocol):
    def bytes(self) -> bytes: ...
    def rows_read(self) -> int: ...
    def bytes_read(self) -> int: ...
    def rows_written(self) -> int: ...
    def bytes_written(self) -> int: ...
    def elapsed(self) -> float: ...


class Engine:
    """Runs statements, each on a connection of its own: they run side by side. Safe to use from several threads."""

    def __init__(self, directory: Path) -> None:
        """Open the data. Raises EngineError, among others when another process has it open."""
        self._path = str(directory)
        with _engine_errors():
            self._root = chdb.connect(self._path)  # without one that stays open, the engine would end with each request
        self.version = self.value("SELECT version()")

    def close(self) -> None:
        """Close the data; no statement may be running."""
        self._root.close()

    def value(self, text: str) -> str:
        """The result of a statement as tab-separated text, without the last newline. Raises EngineError."""
        with self._connection(Scope()) as connection, _engine_errors():
            return str(connection.query(text, "TabSeparated").bytes().decode().rstrip("\n"))

    def insert(self, statement: Insert, rows: Iterable[bytes], scope: Scope) -> Summary:
        """Insert rows given as chunks of bytes. A row that cannot be read leaves nothing of its block behind."""
        with (
            self._connection(scope) as connection,
            _engine_errors(),
            connection.send_insert(statement.statement, statement.format) as stream,
        ):
            for chunk in itertools.chain((statement.data,), rows):
                if chunk:
                    stream.append(chunk)
            done = stream.finish()
        return Summary(
            written_rows=done.rows_written, written_bytes=done.bytes_written, elapsed_ns=int(done.elapsed * 1e9)
        )

    def run(self, statement: Query, scope: Scope) -> Answer:
        """Run a statement. Raises EngineError before the first byte of the result, or while it is taken."""
        if statement.streamed:
            chunks = self._stream(statement, scope)
            first = next(chunks, b"")
            return Answer(_chain(first, chunks), None)
        with self._connection(scope) as connection, _engine_errors():
            result: _Result = connection.query(statement.text, statement.format, params=dict(scope.parameters) or None)
            summary = Summary(
                read_rows=result.rows_read(),
                read_bytes=result.bytes_read(),
                written_rows=result.rows_written(),
                written_bytes=result.bytes_written(),
                elapsed_ns=int(result.elapsed() * 1e9),
            )
            return Answer(iter((result.bytes(),)), summary)

    def _stream(self, statement: Query, scope: Scope) -> Generator[bytes]:
        with self._connection(scope) as connection, _engine_errors():
            stream = connection.send_query(statement.text, statement.format, params=dict(scope.parameters) or None)
            try:
                for chunk in stream:
                    yield chunk.bytes()
            finally:
                stream.close()

    @contextlib.contextmanager
    def _connection(self, scope: Scope) -> Iterator[Any]:
        with _engine_errors():
            connection = chdb.connect(self._path)
        try:
            with _engine_errors():
                for name, value in scope.settings.items():
                    connection.query(_set(name, value))
                if scope.database:
                    connection.query(f"USE {_quoted(scope.database)}")
            yield connection
        finally:
            connection.close()


def _chain(first: bytes, rest: Generator[bytes]) -> Generator[bytes]:
    try:
        yield first
        yield from rest
    finally:
        rest.close()


def _set(name: str, value: str) -> str:
    if not _NAME.fullmatch(name):
        raise error(BAD_ARGUMENTS, "BAD_ARGUMENTS", f"{name!r} is no name of a setting")
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"SET {name} = '{escaped}'"


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"


@contextlib.contextmanager
def _engine_errors() -> Iterator[None]:
    try:
        yield
    except EngineError:
        raise
    except (chdb.ChdbError, RuntimeError) as failure:
        raise EngineError(str(failure)) from failure
