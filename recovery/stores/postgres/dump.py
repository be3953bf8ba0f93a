"""The dump on its way into the vault: nothing of it is kept here but its table of contents."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.stores.postgres import programs
from recovery.stores.postgres.connection import LOCK_SECONDS
from recovery.temporary import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from recovery.model import File
    from recovery.ports import Tell, Writer
    from recovery.stores.postgres.programs import Child
    from recovery.stores.postgres.settings import Login

PATH: Final = "dump.pgc"
"""Name of the dump within the part."""
MAGIC: Final = b"PGDMP"
_SMALLEST: Final = 256
"""Bytes: less than the header and table of contents of an empty database."""
_HEAD_BYTES: Final = 64 * 1024**2
"""How much of the beginning is kept to read the table of contents: 50 000 tables take about half of it."""
_PIECE: Final = 1024**2
_ENTRY: Final = re.compile(r"\d+; \d+ \d+ (TABLE DATA .*)")


@dataclass(frozen=True)
class Order:
    """What to dump. major: of the server. excluded: labels whose rows stay out. work: for the passfile and the head."""

    login: Login
    database: str
    snapshot: str
    major: int
    excluded: tuple[str, ...]
    work: Path


@dataclass
class _Stream:
    """pg_dump's output. finished: it ended well and was read to its end."""

    child: Child
    head: IO[bytes]
    tell: Tell
    finished: bool = False
    _kept: int = field(default=0)

    def pieces(self) -> Iterator[bytes]:
        """The dump. Raises RecoveryError at its end unless pg_dump ended with 0 and had nothing to say."""
        output = self.child.process.stdout
        while output is not None and (piece := output.read1(_PIECE)):  # type: ignore[attr-defined]  # a BufferedReader
            self._keep(piece)
            yield piece
        code, said = self.child.ended()
        if code != 0:
            raise RecoveryError(
                f"pg_dump ended with {code}: {programs.first_error(said)}; the dump is not complete and no restore "
                f"point is "
                "made of it; remove the cause and run again"
            )
        quiet, other = programs.remarks(said)
        if other:
            raise RecoveryError(
                f"pg_dump ended with 0 but said: {other[0]} ({len(other)} lines); no restore point is made of a dump "
                f"with "
                "remarks; remove the cause and run again"
            )
        for line in quiet:
            self.tell(f"pg_dump: {line}")
        self.finished = True

    def _keep(self, piece: bytes) -> None:
        kept = piece[: _HEAD_BYTES - self._kept]
        self.head.write(kept)
        self._kept += len(kept)


def store(order: Order, writer: Writer, tell: Tell) -> tuple[File, frozenset[str]]:
    """Put the dump into the vault; its `TABLE DATA` entries, each `TABLE DATA schema name owner`.

    The whole stream cannot be read back with the writer's account, and a spool would need a volume as large as the
    dump. The table of contents lies at the beginning, so the beginning is kept and pg_restore reads it there; that all
    that it announces is in the stream is pg_dump's exit code, and shown when the point is verified.
    """
    client = programs.find("pg_dump", order.major)
    programs.find("pg_restore", order.major)
    argv = [
        client,
        "--format=custom",
        f"--snapshot={order.snapshot}",
        "--no-password",
        f"--lock-wait-timeout={LOCK_SECONDS}s",
        "--quote-all-identifiers",
        "--no-publications",
        "--no-subscriptions",
        *(f"--exclude-table-data={_pattern(label)}" for label in order.excluded),
        f"--dbname={programs.address(order.login, order.database)}",
    ]
    with (
        temporary(order.work, "head") as (path, head),
        programs.passfile(order.login, order.work) as variables,
        programs.running(argv, variables) as child,
    ):
        stream = _Stream(child, head, tell)
        file = writer.put(PATH, stream.pieces())
        if not stream.finished:
            raise RecoveryError("the vault stopped reading before the dump had ended; run again")
        head.flush()
        head.seek(0)
        if head.read(len(MAGIC)) != MAGIC or file.size < _SMALLEST:
            raise RecoveryError(
                f"pg_dump ended with 0 but its {file.size} bytes are no dump (it begins with {MAGIC.decode()}); "
                "look whether the program on PATH is PostgreSQL's, then run again"
            )
        return file, contents(path, order.major)


def contents(head: Path, major: int) -> frozenset[str]:
    """`TABLE DATA` entries in the beginning of a dump. Raises RecoveryError if pg_restore cannot read it."""
    with programs.running([programs.find("pg_restore", major), "--list", str(head)]) as child:
        output = child.process.stdout
        lines = [] if output is None else output.read().decode("utf-8", "replace").splitlines()
        code, said = child.ended()
    if code != 0:
        raise RecoveryError(
            f"pg_restore cannot read the dump's table of contents: {programs.first_error(said)}; no restore point is "
            f"made "
            "of it; run again"
        )
    return frozenset(match[1] for line in lines if (match := _ENTRY.fullmatch(line)))


def entry(schema: str, name: str, owner: str) -> str:
    """How pg_restore lists the rows of a table."""
    return " ".join(("TABLE DATA", *(part.replace("\n", " ").replace("\r", " ") for part in (schema, name, owner))))


def _pattern(label: str) -> str:
    """A label as pg_dump's pattern: quoted parts are taken literally, so quote both."""
    schema, name = _parts(label)
    return f'"{schema}"."{name}"'


def _parts(label: str) -> list[str]:
    found = re.findall(r'"(?:[^"]|"")*"|[^."]+', label)
    return [part[1:-1] if part.startswith('"') else part for part in found]


def load(login: Login, database: str, major: int, work: Path, pieces: Iterator[bytes]) -> None:
    """Feed a dump into a database that is empty, in one transaction.

    Owners and grants are not restored: everything belongs to the user who connects, whatever the source's roles were.
    The dump goes in as it comes, because a spool would need a volume of its size; whatever is wrong with a chunk ends
    the program before it has seen the end, and so before it commits. What `pieces` raises passes through. Raises
    RecoveryError naming the first statement that failed: on a full volume, too, whose room cannot be asked through SQL.
    """
    argv = [
        programs.find("pg_restore", major),
        "--exit-on-error",
        "--single-transaction",
        "--no-owner",
        "--no-privileges",
        "--no-password",
        f"--dbname={programs.address(login, database)}",
    ]
    with (
        programs.passfile(login, work) as variables,
        programs.running(argv, variables, stdin=subprocess.PIPE) as child,
    ):
        whole = _feed(child, pieces)
        code, said = child.ended()
    if code != 0 or not whole:
        raise RecoveryError(
            f"pg_restore ended with {code} while it made {database}: {programs.first_error(said)}; {_cause(said)}; "
            "nothing of it counts, and what the server held before is untouched; remove the cause and run again"
        )
    other = programs.remarks(said)[1]
    if other:
        raise RecoveryError(f"pg_restore ended with 0 but said: {other[0]}; nothing of it was kept; remove the cause")


def _cause(said: str) -> str:
    """What a person must look at. A server that has no room for its log of changes stops, and says so in its log alone:
    the client only sees that it is gone."""
    if "No space left on device" in said:
        return "the server's volume is full: make it larger"
    if "server closed the connection" in said or "connection to server was lost" in said:
        return (
            "the server stopped in the midst of it; see its log: if it says `No space left on device`, its volume is "
            "full, and it starts again once that is made larger"
        )
    return "the statement or the server's log tells why"


def _feed(child: Child, pieces: Iterator[bytes]) -> bool:
    """Whether the program took everything."""
    stdin = child.process.stdin
    if stdin is None:
        return False
    try:
        for piece in pieces:
            stdin.write(piece)
        stdin.close()
    except BrokenPipeError:
        return False
    return True
