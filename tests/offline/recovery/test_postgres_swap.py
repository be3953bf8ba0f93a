"""A copy takes the place of a database, goes back, and survives being killed in between."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from recovery.errors import RecoveryError
from recovery.stores.postgres import Settings, swap
from tests.offline.recovery import databases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.offline.recovery.databases import Server, Taken

OLD = "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'from the point')"


@pytest.fixture(scope="module")
def server(shared_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One PostgreSQL for all tests here."""
    with databases.running(shared_postgres, tmp_path_factory.mktemp("programs")) as found:
        yield found


@pytest.fixture
def copy(server: Server, tmp_path: Path) -> Taken:
    """A database and its restored copy; since then, the database was emptied and its table is still there."""
    found = databases.restored(databases.taken(server.store(server.database(OLD), tmp_path)))
    server.run(found.store.settings.database, "DELETE FROM t")
    return found


def _values(server: Server, database: str) -> list[str]:
    return list(server.ask(database, "SELECT array_agg(v ORDER BY id) FROM t") or [])


def _write(server: Server, database: str, value: str) -> None:
    with server.connect(database) as connection:
        connection.execute("INSERT INTO t VALUES (2, %s)", (value,))


def test_a_copy_takes_the_place_of_empty_tables_and_twice_changes_nothing(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    first = copy.store.promote(force=False)
    assert first == f"metadata: the copy is {name} now; what it replaced is kept as {name}__replaced until confirmed"
    assert server.names(name) == {"", "__replaced"}
    assert _values(server, name) == ["from the point"]
    _write(server, name, "new")
    assert copy.store.promote(force=False) == first
    assert _values(server, name) == ["from the point", "new"]
    assert _values(server, f"{name}__replaced") == []


def test_bookkeeping_of_a_server_that_just_started_is_no_data(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    server.run(name, "CREATE TABLE _prisma_migrations (id int); INSERT INTO _prisma_migrations VALUES (1)")
    copy.store.promote(force=False)
    assert _values(server, name) == ["from the point"]


def test_rows_are_refused_and_named_unless_forced(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    _write(server, name, "live")
    server.run(
        name, "CREATE SCHEMA s; CREATE TABLE s.u AS SELECT 1 AS a FROM generate_series(1, 12); SELECT lo_create(0)"
    )
    with pytest.raises(RecoveryError, match=r"holds rows: public\.t \(1\), s\.u \(12\), large objects \(1\); accepted"):
        copy.store.promote(force=False)
    assert server.names(name) == {"", "__restored"}
    assert _values(server, name) == ["live"]
    copy.store.promote(force=True)
    assert _values(server, name) == ["from the point"]
    assert _values(server, f"{name}__replaced") == ["live"]


@pytest.mark.parametrize("suffix", ["", "__restored"])
def test_traffic_is_refused_even_when_forced_and_nobody_is_thrown_out(server: Server, copy: Taken, suffix: str) -> None:
    name = copy.store.settings.database
    with (
        server.connect(name + suffix, application_name="swanlab-server") as one,
        server.connect(name + suffix, application_name="swanlab-server") as two,
        server.connect(name + suffix, application_name="") as three,
    ):
        said = rf"{name}{suffix} is in use, by connections: swanlab-server \(2\), without a name \(1\); nobody was"
        for force in (False, True):
            with pytest.raises(RecoveryError, match=said):
                copy.store.promote(force=force)
        for connection in (one, two, three):
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert server.names(name) == {"", "__restored"}


def test_somebody_who_connects_after_the_look_is_not_thrown_out(
    server: Server, copy: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = copy.store.settings.database
    real = swap._ready
    with server.connect("postgres") as unused:
        del unused
        late = []

        def ready(*given: object, **how: object) -> None:
            real(*given, **how)  # type: ignore[arg-type]  # handed through
            late.append(server.connect(name, application_name="late"))

        monkeypatch.setattr(swap, "_ready", ready)
        with pytest.raises(RecoveryError, match=r"is in use, by connections: late \(1\)"):
            copy.store.promote(force=False)
        assert late[0].execute("SELECT 1").fetchone() == (1,)
        late[0].close()
    assert server.names(name) == {"", "__restored"}


def test_without_a_copy_there_is_nothing_to_promote(server: Server, tmp_path: Path) -> None:
    store = server.store(server.database(OLD), tmp_path)
    with pytest.raises(RecoveryError, match="nothing to promote; restore first"):
        store.promote(force=True)


def test_where_there_was_no_database_the_copy_becomes_it(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    server.run("postgres", f"DROP DATABASE {name}")
    assert "there was none before" in copy.store.promote(force=False)
    assert _values(server, name) == ["from the point"]
    assert server.names(name) == {""}


def test_a_promotion_that_was_not_confirmed_stands_in_the_way_of_the_next(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    copy.store.promote(force=False)
    databases.restored(copy)
    with pytest.raises(RecoveryError, match=f"{name}__replaced is still there .*; confirm it or demote it first"):
        copy.store.promote(force=True)
    with pytest.raises(RecoveryError, match="discard that copy first"):
        copy.store.demote()
    assert server.names(name) == {"", "__restored", "__replaced"}


def test_demote_puts_back_and_promote_does_it_again(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    _write(server, name, "live")
    copy.store.promote(force=True)
    _write(server, name, "since")
    assert copy.store.demote() == f"metadata: {name} is what it was before; the copy is {name}__restored again"
    assert _values(server, name) == ["live"]
    assert _values(server, f"{name}__restored") == ["from the point", "since"]
    assert "has not been replaced" in copy.store.demote()
    copy.store.promote(force=True)
    assert _values(server, name) == ["from the point", "since"]


def test_demote_refuses_traffic(server: Server, copy: Taken) -> None:
    copy.store.promote(force=False)
    with (
        server.connect(copy.store.settings.database, application_name="swanlab-server"),
        pytest.raises(RecoveryError, match=r"swanlab-server \(1\)"),
    ):
        copy.store.demote()
    assert server.names(copy.store.settings.database) == {"", "__replaced"}


def test_confirm_deletes_what_was_replaced_and_ends_the_promotion(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    copy.store.promote(force=False)
    assert copy.store.confirm() == f"metadata: {name}__replaced is deleted"
    assert server.names(name) == {""}
    assert copy.store.confirm() == f"metadata: there is no {name}__replaced"
    with pytest.raises(RecoveryError, match="nothing was replaced, or it has been confirmed"):
        copy.store.demote()
    with pytest.raises(RecoveryError, match="nothing to promote"):
        copy.store.promote(force=True)
    assert _values(server, name) == ["from the point"]


def test_confirm_deletes_nothing_that_no_promotion_left(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    server.run("postgres", f"CREATE DATABASE {name}__replaced")
    with pytest.raises(RecoveryError, match="nothing is deleted"):
        copy.store.confirm()
    assert server.names(name) == {"", "__restored", "__replaced"}


def test_discard_deletes_the_copy_alone(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    assert copy.store.discard() == f"metadata: {name}__restored is deleted"
    assert copy.store.discard() == f"metadata: there is no {name}__restored"
    assert server.names(name) == {""}


def _killed_between(step: Callable[[], object]) -> None:
    """Run a step in a process that is killed in place of its second renaming."""
    real, done = swap._rename, list[bool]()

    def rename(*given: object) -> None:
        if done:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(True)
        real(*given)  # type: ignore[arg-type]  # handed through

    def run() -> None:
        swap._rename = rename  # type: ignore[assignment]  # in a process that ends with it
        step()

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL


def test_promote_finishes_what_was_killed_between_two_renamings(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    _write(server, name, "live")
    _killed_between(lambda: copy.store.promote(force=True))
    assert server.names(name) == {"__restored", "__replaced"}
    for step in (copy.store.discard, copy.store.confirm, lambda: databases.restored(copy)):
        with pytest.raises(RecoveryError, match="broken off between two renamings"):
            step()
    assert "finished what an earlier run began" in copy.store.promote(force=False)
    assert _values(server, name) == ["from the point"]
    assert _values(server, f"{name}__replaced") == ["live"]
    copy.store.promote(force=False)
    assert server.names(name) == {"", "__replaced"}


def test_demote_goes_back_from_between_two_renamings(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    _write(server, name, "live")
    _killed_between(lambda: copy.store.promote(force=True))
    copy.store.demote()
    assert _values(server, name) == ["live"]
    assert server.names(name) == {"", "__restored"}


def test_a_demotion_that_was_killed_is_finished_either_way(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    copy.store.promote(force=False)
    _killed_between(copy.store.demote)
    assert server.names(name) == {"__restored", "__replaced"}
    copy.store.demote()
    assert server.names(name) == {"", "__restored"}
    assert _values(server, name) == []


def test_two_runs_at_once_are_refused(server: Server, copy: Taken) -> None:
    with server.connect("postgres") as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (swap._LOCK,))
        with pytest.raises(RecoveryError, match="another run restores or renames"):
            copy.store.promote(force=True)


def test_a_copy_of_another_owner_is_refused(server: Server, copy: Taken) -> None:
    name = copy.store.settings.database
    server.run("postgres", f"CREATE ROLE application; ALTER DATABASE {name} OWNER TO application")
    with pytest.raises(RecoveryError, match=f"{name} belongs to application, the copy to swanlab"):
        copy.store.promote(force=True)


def test_names_beside_are_distinct_and_short_enough(tmp_path: Path) -> None:
    given = {
        "kind": "postgres",
        "name": "metadata",
        "host": "db",
        "database": "app",
        "username_file": str(tmp_path),
        "password_file": str(tmp_path),
    }
    found = Settings.model_validate(given)
    assert (found.restore_as, found.replaced_as, found.port) == ("app__restored", "app__replaced", 5432)
    with pytest.raises(ValidationError, match="must be three names"):
        Settings.model_validate(given | {"restore_as": "app"})
    with pytest.raises(ValidationError, match="longer than 63 bytes"):
        Settings.model_validate(given | {"database": "x" * 54})
    with pytest.raises(ValidationError, match="password"):
        Settings.model_validate(given | {"password": "never here"})
