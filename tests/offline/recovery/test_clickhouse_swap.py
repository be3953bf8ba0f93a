"""A copy takes the place of a database: refusals, undoing, and runs that die in between. Over the real engine."""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.stores.clickhouse.client import Client
from tests.offline.recovery.clickhouse_servers import Case, case, opened, silent
from tests.offline.recovery.vaults import Memory
from tests.offline.sandbox.clickhouse_engine.process import Server, engine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def server(shared_engine: Server) -> Server:
    """A running engine."""
    return shared_engine


@pytest.fixture
def one(server: Server, tmp_path: Path) -> Case:
    """See restored."""
    return restored(server, tmp_path)


def restored(server: Server, directory: Path) -> Case:
    """A database that holds `new`, and beside it a copy that holds `old`."""
    one = case(server, directory)
    one.run("CREATE TABLE @.t (a String) ENGINE = MergeTree ORDER BY a")
    one.run("INSERT INTO @.t VALUES ('old')")
    vault = Memory()
    one.restore(one.take(vault), vault)
    one.run("TRUNCATE TABLE @.t")
    one.run("INSERT INTO @.t VALUES ('new')")
    return one


def held(one: Case) -> dict[str, list[str]]:
    """Database → rows of its table `t`; [] where there is none."""
    statement = "SELECT a FROM @{}.t"
    return {name: one.run(statement.format(name)) if "t" in made else [] for name, made in one.databases().items()}


NOTHING_DONE = {"": ["new"], "__restored": ["old"]}
PROMOTED = {"": ["old"], "__replaced": ["new"]}


def test_promote_confirm_and_again(one: Case) -> None:
    assert "is the restored copy now" in one.store.promote(force=True)
    assert held(one) == PROMOTED
    assert "already" in one.store.promote(force=True)
    assert "already" in one.store.promote(force=False)
    assert held(one) == PROMOTED
    assert "is deleted" in one.store.confirm()
    assert held(one) == {"": ["old"]}
    assert "nothing to delete" in one.store.confirm()
    with pytest.raises(RecoveryError, match="no whole copy"):
        one.store.promote(force=True)
    assert held(one) == {"": ["old"]}


def test_promote_demote_and_again(one: Case) -> None:
    one.store.promote(force=True)
    one.store.demote()
    assert held(one) == NOTHING_DONE
    assert "nothing to put back" in one.store.demote()
    assert held(one) == NOTHING_DONE
    one.store.discard()
    assert held(one) == {"": ["new"]}
    assert "nothing to delete" in one.store.discard()


def test_data_of_its_own_is_kept_unless_forced(one: Case) -> None:
    with pytest.raises(RecoveryError, match=r"holds data of its own \(table t\)"):
        one.store.promote(force=False)
    assert held(one) == NOTHING_DONE


def test_empty_tables_of_a_booted_server_are_no_data(one: Case) -> None:
    one.run("TRUNCATE TABLE @.t")
    one.store.promote(force=False)
    assert held(one) == {"": ["old"], "__replaced": []}


def test_a_server_without_the_database_gets_it(one: Case) -> None:
    one.run("DROP DATABASE @ SYNC")
    one.store.promote(force=False)
    assert held(one) == {"": ["old"], "__replaced": []}
    assert "already" in one.store.promote(force=False)
    one.store.demote()
    assert held(one) == {"": [], "__restored": ["old"]}


def test_what_was_replaced_before_is_not_overwritten(one: Case) -> None:
    one.store.promote(force=True)
    vault = Memory()
    one.restore(one.take(vault), vault)
    with pytest.raises(RecoveryError, match="is not confirmed yet"):
        one.store.promote(force=True)
    with pytest.raises(RecoveryError, match="are both there"):
        one.store.confirm()
    assert held(one) == {**PROMOTED, "__restored": ["old"]}


def test_a_running_insert_is_traffic(one: Case) -> None:
    slow = "INSERT INTO @.t SELECT 'slow' FROM numbers(4) WHERE NOT sleepEachRow(1) SETTINGS max_block_size = 1"
    thread = threading.Thread(target=one.run, args=(slow,))
    thread.start()
    running = "SELECT count() FROM system.processes WHERE query_kind = 'Insert' AND position(query, '@') > 0"
    while thread.is_alive() and one.run(running) == ["0"]:
        pass
    with pytest.raises(RecoveryError, match="1 statements are writing"):
        one.store.promote(force=True)
    thread.join()
    assert "__restored" in one.databases()


def test_an_insert_a_moment_ago_is_traffic(one: Case, tmp_path: Path) -> None:
    cautious = opened(one.server, tmp_path, database=one.database, quiet=3600)
    with pytest.raises(RecoveryError, match=r"was written to .* seconds ago, less than 3600"):
        cautious.promote(force=True)
    assert held(one) == NOTHING_DONE
    one.store.promote(force=True)
    with pytest.raises(RecoveryError, match="was written to"):
        cautious.demote()
    assert held(one) == PROMOTED


def test_an_insert_that_was_the_last_one_is_waited_out(one: Case, tmp_path: Path) -> None:
    one.run("INSERT INTO @.t SELECT * FROM @.t LIMIT 1")
    opened(one.server, tmp_path, database=one.database, quiet=2).promote(force=True)
    assert held(one) == {"": ["old"], "__replaced": ["new", "new"]}


def test_engines_that_merge_on_insert_are_seen_too(one: Case, tmp_path: Path) -> None:
    one.run("TRUNCATE TABLE @.t")
    one.run("DROP TABLE @.t SYNC")
    one.run("CREATE TABLE @.t (a String) ENGINE = ReplacingMergeTree ORDER BY a")
    one.run("INSERT INTO @.t VALUES ('x')")
    one.run("OPTIMIZE TABLE @.t FINAL")
    with pytest.raises(RecoveryError, match="was written to"):
        opened(one.server, tmp_path, database=one.database, quiet=3600).promote(force=True)


@dataclass(frozen=True)
class Late(Client):
    """Somebody inserts a row when nobody looks any more: right before the database is renamed."""

    case: Case | None = None

    def execute(self, statement: str, **parameters: str) -> None:
        """Run a statement."""
        assert self.case
        if statement.startswith(f"RENAME DATABASE `{self.case.database}` "):
            self.case.run("INSERT INTO @.t VALUES ('newest')")
        super().execute(statement, **parameters)


def test_a_row_that_comes_while_it_is_renamed_is_seen_and_kept(one: Case) -> None:
    names = {field.name: getattr(one.store.client, field.name) for field in dataclasses.fields(one.store.client)}
    store = dataclasses.replace(one.store, client=Late(**names, case=one))
    with pytest.raises(RecoveryError, match=r"somebody wrote to database .* while it was renamed"):
        store.promote(force=True)
    assert {name: sorted(rows) for name, rows in held(one).items()} == {**NOTHING_DONE, "": ["new", "newest"]}


@pytest.mark.parametrize("where", ["@", "@__restored"])
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW {0}.v AS SELECT a FROM {0}.t",
        "CREATE MATERIALIZED VIEW {0}.v ENGINE = MergeTree ORDER BY a AS SELECT a FROM {0}.t",
        "CREATE DICTIONARY {0}.v (a String) PRIMARY KEY a SOURCE(CLICKHOUSE(DB '{0}' TABLE 't')) LAYOUT(FLAT()) "
        "LIFETIME(0)",
    ],
)
def test_what_names_the_database_would_break(one: Case, where: str, statement: str) -> None:
    one.run(statement.format(where))
    with pytest.raises(RecoveryError, match="names a database that would be renamed"):
        one.store.promote(force=True)
    assert held(one) == NOTHING_DONE


@dataclass(frozen=True)
class Dying(Client):
    """Kills the server right before or right after it renames for the first time."""

    server: Server | None = None
    before: bool = False

    def execute(self, statement: str, **parameters: str) -> None:
        """Run a statement."""
        assert self.server
        if statement.startswith("RENAME") and self.before:
            self.server.kill()
        super().execute(statement, **parameters)
        if statement.startswith("RENAME"):
            self.server.kill()


def dying(one: Case, *, before: bool) -> None:
    """Promote until the server is killed."""
    names = {field.name: getattr(one.store.client, field.name) for field in dataclasses.fields(one.store.client)}
    client = Dying(**names, server=one.server, before=before)
    with pytest.raises(RecoveryError, match="broke"):
        dataclasses.replace(one.store, client=client).promote(force=True)


@pytest.mark.parametrize("after", ["promote", "demote", "promote over a booted server", "demote over a booted server"])
def test_killed_between_the_two_names_it_goes_on(tmp_path: Path, after: str) -> None:
    with engine(tmp_path / "data") as server:
        one = restored(server, tmp_path)
        dying(one, before=False)
    with engine(tmp_path / "data") as server:
        store = opened(server, tmp_path, database=one.database)
        one = Case(server, store, one.database)
        assert held(one) == {"__replaced": ["new"], "__restored": ["old"]}
        if "booted" in after:
            one.run("CREATE DATABASE @ ENGINE = Atomic")
            one.run("CREATE TABLE @.t (a String) ENGINE = MergeTree ORDER BY a")
        for refused in (store.confirm, store.discard):
            with pytest.raises(RecoveryError, match="may hold the only data"):
                refused()
        if "promote" in after:
            store.promote(force=False)
            assert held(one) == PROMOTED
        else:
            store.demote()
            assert held(one) == NOTHING_DONE


def test_killed_between_and_written_to_since_is_refused(tmp_path: Path) -> None:
    with engine(tmp_path / "data") as server:
        one = restored(server, tmp_path)
        dying(one, before=False)
    with engine(tmp_path / "data") as server:
        store = opened(server, tmp_path, database=one.database)
        one = Case(server, store, one.database)
        one.run("CREATE DATABASE @ ENGINE = Atomic")
        one.run("CREATE TABLE @.t (a String) ENGINE = MergeTree ORDER BY a")
        one.run("INSERT INTO @.t VALUES ('newer')")
        with pytest.raises(RecoveryError, match="somebody wrote while a run was cut short"):
            store.promote(force=True)
        with pytest.raises(RecoveryError, match="somebody wrote while a run was cut short"):
            store.demote()
        assert held(one) == {"": ["newer"], "__replaced": ["new"], "__restored": ["old"]}


def test_killed_before_the_first_name_nothing_is_done(tmp_path: Path) -> None:
    with engine(tmp_path / "data") as server:
        one = restored(server, tmp_path)
        dying(one, before=True)
    with engine(tmp_path / "data") as server:
        store = opened(server, tmp_path, database=one.database)
        one = Case(server, store, one.database)
        assert held(one) == NOTHING_DONE
        store.promote(force=True)
        assert held(one) == PROMOTED


def test_killed_while_it_restores_there_is_no_copy(tmp_path: Path) -> None:
    with engine(tmp_path / "data") as server:
        one = case(server, tmp_path)
        one.run("CREATE TABLE @.t (a UInt64) ENGINE = MergeTree ORDER BY a")
        one.run("INSERT INTO @.t SELECT number FROM numbers(1000)")
        vault = Memory()
        part = one.take(vault)

        def kill(line: str) -> None:
            assert line
            server.kill()

        with pytest.raises(RecoveryError, match="broke"):
            one.store.restore(part, vault, kill)
    with engine(tmp_path / "data") as server:
        store = opened(server, tmp_path, database=one.database)
        with pytest.raises(RecoveryError, match="no whole copy"):
            store.promote(force=True)
        with pytest.raises(RecoveryError, match="no whole copy"):
            store.compare(part, vault)
        store.restore(part, vault, silent)
        assert store.compare(part, vault).differences == ()
