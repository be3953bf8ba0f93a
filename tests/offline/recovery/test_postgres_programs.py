"""Programs of another version, and dumps that are not all: wrong programs stand before the real ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import psycopg
import pytest

from recovery.errors import RecoveryError
from recovery.stores.postgres import programs
from recovery.stores.postgres.connection import said
from recovery.temporary import PREFIX
from tests.offline.recovery import databases
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recovery.stores.postgres import Postgres
    from tests.offline.recovery.databases import Server


@pytest.fixture(scope="module")
def server(shared_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One PostgreSQL for all tests here."""
    with databases.running(shared_postgres, tmp_path_factory.mktemp("programs")) as found:
        yield found


def _instead(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, name: str = "pg_dump") -> None:
    """Another program of this name on PATH; `$real` in its line is the one of the server."""
    real = server.programs / name
    directory = tmp_path / "instead"
    directory.mkdir()
    version = f'if [ "$1" = --version ]; then exec {real} --version; fi\n'
    databases.script(directory / name, ("" if "--version" in line else version) + f"real={real}\n{line}")
    monkeypatch.setenv("PATH", str(directory), prepend=os.pathsep)
    monkeypatch.setattr(programs, "PACKAGES", tmp_path / "none")


def _not_taken(store: Postgres) -> str:
    vault = Memory()
    with pytest.raises(RecoveryError) as caught:
        store.take(vault, "online", databases.telling([]))
    assert not list(store.work.glob(f"{PREFIX}*"))
    return str(caught.value)


@pytest.mark.parametrize("name", ["pg_dump", "pg_restore"])
@pytest.mark.parametrize("version", ["13.4", "99.0"])
def test_a_client_of_another_major_version_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, version: str
) -> None:
    store = server.store(server.database("CREATE TABLE t ()"), tmp_path)
    found = databases.taken(store)
    _instead(server, tmp_path, monkeypatch, f'echo "{name} (PostgreSQL) {version}" # --version', name)
    said = _not_taken(store)
    assert f"the server is PostgreSQL 15, the client is {name} {version}" in said
    if name == "pg_restore":
        with pytest.raises(RecoveryError, match=f"the client is {name} {version}"):
            databases.restored(found)


def test_the_right_client_is_found_among_packages(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _instead(server, tmp_path, monkeypatch, 'echo "pg_dump (PostgreSQL) 13.4" # --version')
    directory = tmp_path / "packages/15/bin"
    directory.mkdir(parents=True)
    databases.script(directory / "pg_dump", f'exec {server.programs / "pg_dump"} "$@"')
    monkeypatch.setattr(programs, "PACKAGES", tmp_path / "packages")
    assert programs.find("pg_dump", 15) == str(directory / "pg_dump")
    databases.taken(server.store(server.database("CREATE TABLE t ()"), tmp_path))


def test_no_client_at_all_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "PACKAGES", tmp_path)
    with pytest.raises(RecoveryError, match="missing: there is no pg_dump"):
        programs.find("pg_dump", 15)


WRONG = {
    "cut and failed": ('"$real" "$@" | head -c 2000; exit 1', "pg_dump ended with 1"),
    "killed": ('"$real" "$@" | head -c 2000; kill -9 $$', "pg_dump ended with -9"),
    "nothing": ("exit 0", "are no dump"),
    "cut within its contents": (
        '"$real" "$@" | (head -c 700; cat > /dev/null)',
        "cannot read the dump's table of contents",
    ),
    "another format": ('"$real" "$@" --format=plain', "are no dump"),
    "a table missing": ('"$real" "$@" --exclude-table=public.child', "lists no rows of public.child"),
    "rows missing": ('"$real" "$@" --exclude-table-data=other.numbers', "lists no rows of other.numbers"),
    "schema only": ('"$real" "$@" --schema-only', "lists no rows of "),
    "remarks": ('"$real" "$@" && echo "pg_dump: warning: something odd" >&2', "said: pg_dump: warning: something odd"),
}


@pytest.mark.parametrize(("line", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_dump_that_is_not_all_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    store = server.store(server.database(databases.AWKWARD), tmp_path)
    _instead(server, tmp_path, monkeypatch, line)
    assert said in _not_taken(store)


def test_notices_are_told_and_no_fault(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = server.store(server.database("CREATE TABLE t ()"), tmp_path)
    _instead(server, tmp_path, monkeypatch, 'echo "NOTICE:  hello" >&2; exec "$real" "$@"')
    assert "metadata: pg_dump: NOTICE:  hello" in databases.taken(store).told


def test_a_flood_of_messages_blocks_nothing(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = server.store(server.database("CREATE TABLE t ()"), tmp_path)
    _instead(server, tmp_path, monkeypatch, 'yes "pg_dump: error: flood" | head -c 3000000 >&2; exit 1')
    said = _not_taken(store)
    assert "pg_dump ended with 1: flood" in said
    assert len(said) < 1000


def test_an_error_is_shown_without_what_a_statement_holds() -> None:
    said = (
        "pg_restore: warning: before it\npg_restore: error: could not execute query: ERROR:  no such server\n"
        "DETAIL:  Key (secret)=(1)\nCommand was: CREATE USER MAPPING FOR x OPTIONS (password 'secret');\n\n"
    )
    expected = (
        "could not execute query: ERROR:  no such server, in the statement CREATE USER MAPPING FOR x OPTIONS (password"
    )
    assert programs.first_error(said) == expected
    assert programs.first_error("") == "it says nothing"
    assert programs.first_error("pg_dump: fatal: x") == "pg_dump: fatal: x"


def test_a_full_volume_is_said(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = databases.taken(server.store(server.database("CREATE TABLE t ()"), tmp_path))
    error = "pg_restore: error: could not execute query: ERROR:  could not extend file: No space left on device"
    _instead(server, tmp_path, monkeypatch, f'cat > /dev/null; echo "{error}" >&2; exit 1', "pg_restore")
    with pytest.raises(RecoveryError, match="No space left on device; the server's volume is full: make it larger"):
        databases.restored(found)
    assert server.names(found.store.settings.database) == {""}
    assert "the server's volume is full" in said(psycopg.errors.DiskFull("could not extend file"))


def test_a_program_that_ends_before_it_has_read_everything_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "CREATE TABLE t AS SELECT sha512(i::text::bytea) AS h FROM generate_series(1, 20000) AS i"
    found = databases.taken(server.store(server.database(text), tmp_path))
    _instead(server, tmp_path, monkeypatch, "exit 0", "pg_restore")
    with pytest.raises(RecoveryError, match="pg_restore ended with 0 while it made"):
        databases.restored(found)
    assert server.names(found.store.settings.database) == {""}


def test_a_server_that_cannot_be_reached_is_named(server: Server, tmp_path: Path) -> None:
    store = server.store("app", tmp_path, port=1)
    with pytest.raises(RecoveryError, match=r"database app at 127\.0\.0\.1:1: .*onnection refused"):
        store.take(Memory(), "online", databases.telling([]))
