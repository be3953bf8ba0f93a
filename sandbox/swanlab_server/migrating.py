"""Brings the schema to the version of this server, once, whichever replica comes first."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg

from sandbox.swanlab_server.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.swanlab_server.settings import Postgres, Version

_log = logging.getLogger(__name__)
DIRECTORY: Final = Path(__file__).parent / "migrations"
LOCK: Final = 0x5377616E
"""Key of the advisory lock under which one replica migrates while the others wait."""
_NAME: Final = re.compile(r"(\d{4})_(\d+)\.(\d+)\.(\d+)_([a-z0-9_]+)\.sql")
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id text PRIMARY KEY,
    checksum text NOT NULL,
    migration_name text NOT NULL UNIQUE,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 1
)
"""
PATIENCE: Final = 120.0
"""Seconds that a starting server waits for PostgreSQL."""


@dataclass(frozen=True)
class Migration:
    """One step. version: of the first server that needs it. checksum: SHA-256 of the text, hexadecimal."""

    name: str
    version: Version
    text: str

    @property
    def checksum(self) -> str:
        """What is recorded with the step, so that a changed file is noticed."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations(directory: Path = DIRECTORY) -> tuple[Migration, ...]:
    """All steps, in order. Raises StartError for a file of another name, and for numbers or versions out of order."""
    found: list[Migration] = []
    for path in sorted(directory.glob("*.sql")):
        match = _NAME.fullmatch(path.name)
        if match is None or int(match[1]) != len(found) + 1:
            raise StartError(f"{path.name} is no migration; accepted is <next number>_<version>_<what>.sql")
        version = int(match[2]), int(match[3]), int(match[4])
        if found and version < found[-1].version:
            raise StartError(f"{path.name} is of an older version than {found[-1].name}; give it a later one")
        found.append(Migration(path.stem, version, path.read_text("utf-8")))
    return tuple(found)


def missing(steps: Sequence[Migration], version: Version, applied: Mapping[str, str]) -> list[Migration]:
    """Steps that a server of `version` must still apply. applied: name → checksum, as the database has it.

    Raises StartError when the database is newer than the server, and when an applied step was another one.
    """
    wanted = [step for step in steps if step.version <= version]
    number = ".".join(map(str, version))
    unknown = sorted(set(applied) - {step.name for step in wanted})
    if unknown:
        raise StartError(
            f"the database holds {', '.join(unknown)}, which version {number} does not know; "
            "start the newer version, or restore the database from before its upgrade"
        )
    changed = [step.name for step in wanted if applied.get(step.name, step.checksum) != step.checksum]
    if changed:
        raise StartError(f"{', '.join(changed)} was applied with another content; restore the database, or the file")
    return [step for step in wanted if step.name not in applied]


def apply(postgres: Postgres, version: Version, *, patience: float = PATIENCE) -> None:
    """Apply what is missing, each step in a transaction of its own. Raises StartError."""
    with _connect(postgres.primary, patience) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        connection.execute(_TABLE)
        rows = connection.execute("SELECT migration_name, checksum FROM _prisma_migrations").fetchall()
        for step in missing(migrations(), version, dict(rows)):
            _log.info("applying migration %s", step.name)
            with connection.transaction():
                connection.execute(step.text.encode())
                connection.execute(
                    "INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at)"
                    " VALUES (gen_random_uuid(), %s, %s, now())",
                    (step.checksum, step.name),
                )
    _connect(postgres.replica, patience).close()


def _connect(address: str, patience: float) -> psycopg.Connection[tuple[Any, ...]]:
    end = time.monotonic() + patience
    while True:
        try:
            return psycopg.connect(address, autocommit=True, connect_timeout=5)
        except psycopg.OperationalError as error:
            if time.monotonic() > end:
                raise StartError(
                    f"PostgreSQL does not answer within {patience:.0f} seconds ({type(error).__name__}); "
                    "check PRIMARY_URL and REPLICA_URL, the password, and whether the database `app` exists"
                ) from error
            _log.warning("waiting for PostgreSQL: %s", type(error).__name__)
            time.sleep(1.0)
