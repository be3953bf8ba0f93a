"""A ClickHouse store over the real engine, and statements beside it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recovery.stores.clickhouse import ClickHouse, Settings, open_store
from tests.offline.sandbox.clickhouse_engine.process import PASSWORD, USER, Server

if TYPE_CHECKING:
    from pathlib import Path

    from recovery.model import Mode, Part
    from recovery.stores.clickhouse.restoring import Compared
    from tests.offline.recovery.vaults import Memory


def silent(line: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Case:
    """One database of one server and the store that secures it."""

    server: Server
    store: ClickHouse
    database: str

    def run(self, statement: str) -> list[str]:
        """Run a statement; `@` stands for the database."""
        answer = self.server.ask(statement.replace("@", self.database))
        assert answer.status == 200, answer.text
        return answer.text.splitlines()

    def take(self, vault: Memory, mode: Mode = "quiesced") -> Part:
        """A part of it."""
        return self.store.take(vault, mode, silent)

    def restore(self, part: Part, vault: Memory) -> Compared:
        """Restore and compare."""
        self.store.restore(part, vault, silent)
        return self.store.compare(part, vault)

    def databases(self) -> dict[str, list[str]]:
        """Those of this case: name without the common part → its tables."""
        found = self.run("SELECT name FROM system.databases WHERE startsWith(name, '@') ORDER BY name")
        tables = "SELECT name FROM system.tables WHERE database = '{}' ORDER BY name"
        return {name.removeprefix(self.database): self.run(tables.format(name)) for name in found}


def case(server: Server, directory: Path, **settings: object) -> Case:
    """A database of its own."""
    database = f"d_{uuid.uuid4().hex[:12]}"
    found = Case(server, opened(server, directory, database=database, **settings), database)
    found.run("CREATE DATABASE @ ENGINE = Atomic")
    return found


def opened(server: Server, directory: Path, **settings: object) -> ClickHouse:
    """The store of a database."""
    user, password = directory / "username", directory / "password"
    user.write_text(USER + "\n")
    password.write_text(PASSWORD + "\n")
    given = {
        "name": "clickhouse",
        "url": server.url,
        "username_file": str(user),
        "password_file": str(password),
        "seconds": 120,
        "quiet": 0,
        **settings,
    }
    return open_store(Settings.model_validate(given), directory)
