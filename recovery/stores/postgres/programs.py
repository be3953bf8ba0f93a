"""PostgreSQL's own programs: of the server's major version, no secret in sight, dead when not needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.stores.postgres.connection import APPLICATION, CONNECT
from recovery.temporary import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO

    from recovery.stores.postgres.settings import Login

PACKAGES: Path = Path("/usr/lib/postgresql")
"""Where distributions put the programs of each major version: `<major>/bin`."""
_SAID_BYTES: Final = 64 * 1024
"""How much of a program's messages is kept."""
_VERSION: Final = re.compile(r"\(PostgreSQL\) (\d+)(\S*)")
_QUIET: Final = re.compile(
    r"(NOTICE|INFO|LOG|DEBUG\d?): |(DETAIL|HINT|CONTEXT): "
    r"|WARNING: +database \"[^\"]*\" has a collation version mismatch"
)
"""Lines that say nothing about what was dumped."""
_PATIENCE: Final = 20.0
_SHOWN: Final = 120
"""Characters of a statement in a message."""


@dataclass
class Child:
    """A running program. said: what it wrote to its standard error, its beginning only."""

    name: str
    process: subprocess.Popen[bytes]
    _kept: bytearray = field(default_factory=bytearray)
    _thread: threading.Thread | None = None

    def listen(self) -> None:
        """Read its messages from now on, so that it never waits for somebody to do so."""
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        stream = self.process.stderr
        while stream is not None and (piece := stream.read(4096)):
            self._kept += piece[: max(0, _SAID_BYTES - len(self._kept))]

    def ended(self) -> tuple[int, str]:
        """Wait for its end: code, and what it said."""
        code = self.process.wait()
        if self._thread is not None:
            self._thread.join(_PATIENCE)
        return code, self._kept.decode("utf-8", "replace")


def find(name: str, major: int) -> str:
    """Path of a program of that major version: on PATH, else among the distribution's packages.

    Raises RecoveryError naming the server's version and those that were found.
    """
    packaged = PACKAGES / str(major) / "bin" / name
    seen: list[str] = []
    for path in (shutil.which(name), str(packaged) if packaged.is_file() else None):
        if path is None:
            continue
        version = _version(path)
        if version.split(".")[0] == str(major):
            return path
        seen.append(f"{name} {version}")
    raise RecoveryError(
        f"the server is PostgreSQL {major}, the client is {' and '.join(seen) or f'missing: there is no {name}'}; "
        f"accepted is "
        f"the server's own major version; use the image that was built for PostgreSQL {major}"
    )


def _version(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, timeout=_PATIENCE, check=False, env=_environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"that does not run ({type(error).__name__})"
    match = _VERSION.search(done.stdout.decode("utf-8", "replace"))
    return match[1] + match[2] if match else "of no known version"


@contextmanager
def running(
    argv: Sequence[str], variables: Mapping[str, str] | None = None, *, stdin: int = subprocess.DEVNULL
) -> Iterator[Child]:
    """A program whose messages are read; it is killed if it still runs when the block ends."""
    process = subprocess.Popen(
        argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment() | dict(variables or {})
    )
    child = Child(Path(argv[0]).name, process)
    child.listen()
    try:
        yield child
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            _close(stream)
        child.ended()
        _close(process.stderr)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with suppress(OSError):  # what was not sent yet has nobody left who reads it
            stream.close()


def _environment() -> dict[str, str]:
    """Ours, without what would have libpq go elsewhere; messages in English, because they are read here."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}


def address(login: Login, database: str) -> str:
    """How the programs are told where to connect; without a password."""
    values = {"host": login.host, "port": login.port, "user": login.username, "dbname": database, **CONNECT}
    return " ".join(f"{name}={_quoted(str(value))}" for name, value in values.items())


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


@contextmanager
def passfile(login: Login, work: Path) -> Iterator[dict[str, str]]:
    """Variables that have libpq find the password in a file of mode 600, which goes away with the block."""
    values = (login.username, login.password)
    line = ":".join(("*", "*", "*", *(value.replace("\\", "\\\\").replace(":", "\\:") for value in values)))
    with temporary(work, "pgpass") as (path, file):
        file.write(f"{line}\n".encode())
        file.flush()
        yield {"PGPASSFILE": str(path), "PGAPPNAME": APPLICATION}


def remarks(said: str) -> tuple[list[str], list[str]]:
    """Lines of a program's messages: those that say nothing about what was dumped, and all others."""
    lines = [line for line in said.splitlines() if line.strip()]
    return [line for line in lines if _QUIET.match(line)], [line for line in lines if not _QUIET.match(line)]


def first_error(said: str) -> str:
    """What a program says about its first error: the server's words, and the statement up to its first literal.

    What comes after a quote may be a value of somebody's, or a password.
    """
    lines = said.splitlines()
    at = next((number for number, line in enumerate(lines) if ": error: " in line or ": fatal: " in line), None)
    if at is None:
        return next((line for line in lines if line.strip()), "it says nothing")
    text = lines[at].partition(": error: ")[2] or lines[at]
    found = next((line.partition("Command was: ")[2] for line in lines[at:] if line.startswith("Command was: ")), "")
    command = re.split(r"['$]", found)[0][:_SHOWN].strip()
    return f"{text}, in the statement {command}" if command else text
