"""Whatever goes wrong with a dump ends in an error that names it, and leaves nothing that looks restored."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recovery.errors import DamagedError, RecoveryError
from tests.offline.recovery import databases
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recovery.model import File
    from tests.offline.recovery.databases import Server, Taken

SECRET = "t:ell\\tale' pass"  # noqa: S105  # of a server that lives as long as these tests


@pytest.fixture(scope="module")
def server(shared_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One PostgreSQL for all tests here."""
    with databases.running(shared_postgres, tmp_path_factory.mktemp("programs")) as found:
        yield found


@pytest.fixture
def source(server: Server, tmp_path: Path) -> Taken:
    """A database with awkward values, taken."""
    return databases.taken(server.store(server.database(databases.AWKWARD), tmp_path))


def _refused(server: Server, found: Taken, kind: type[RecoveryError] = RecoveryError) -> str:
    """Message of a restore that must fail; nothing may be left of it."""
    with pytest.raises(kind) as caught:
        databases.restored(found)
    assert server.names(found.store.settings.database) == {""}
    with pytest.raises(RecoveryError, match="nothing to promote"):
        found.store.promote(force=True)
    return str(caught.value)


@pytest.mark.parametrize("kept", [0, 1, 3, 40, 600, -1, -5, None], ids=str)
def test_a_truncated_dump_with_right_hashes_is_refused(server: Server, source: Taken, kept: int | None) -> None:
    whole = databases.content(source)
    source.part = databases.rewritten(source, whole[: len(whole) // 2 if kept is None else kept])
    said = _refused(server, source)
    assert ("empty dump.pgc" if kept == 0 else "pg_restore ended with 1") in said


@pytest.mark.parametrize("at", [2, 1500, -1500, -1])
def test_one_byte_altered_is_damage(server: Server, source: Taken, at: int) -> None:
    (sha256,) = (chunk.sha256 for chunk in source.part.files[0].chunks)
    altered = bytearray(source.vault.kept[sha256])
    altered[at] ^= 1
    source.vault.kept[sha256] = bytes(altered)
    assert sha256 in _refused(server, source, DamagedError)


def test_a_damaged_last_chunk_ends_a_restore_that_has_begun(server: Server, tmp_path: Path) -> None:
    text = "CREATE TABLE t AS SELECT sha512(i::text::bytea) AS h FROM generate_series(1, 600000) AS i"
    found = databases.taken(server.store(server.database(text), tmp_path))
    chunks = found.part.files[0].chunks
    assert len(chunks) > 1
    del found.vault.kept[chunks[-1].sha256]
    assert chunks[-1].sha256 in _refused(server, found, DamagedError)


def test_a_part_without_dump_is_damage(server: Server, source: Taken) -> None:
    source.part = source.part.model_copy(update={"files": ()})
    assert "has no dump.pgc" in _refused(server, source, DamagedError)


def test_figures_of_another_shape_are_damage(server: Server, source: Taken) -> None:
    del source.part.figures["tables"]
    assert "tables: Field required" in _refused(server, source, DamagedError)


def test_a_role_that_is_missing_is_named(server: Server, tmp_path: Path) -> None:
    server.run("postgres", "CREATE ROLE gone_soon")
    name = server.database("""
        CREATE TABLE t (id int); INSERT INTO t VALUES (1); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
        CREATE POLICY p ON t TO gone_soon USING (true);
    """)
    found = databases.taken(server.store(name, tmp_path))
    server.run(name, "DROP POLICY p ON t; DROP ROLE gone_soon")
    said = _refused(server, found)
    assert 'role "gone_soon" does not exist' in said
    assert 'in the statement CREATE POLICY "p" ON "public"."t" TO "gone_soon"' in said


def test_one_bad_statement_in_the_middle_is_named(server: Server, tmp_path: Path) -> None:
    name = server.database("""
        CREATE FUNCTION helper(v text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower(v)';
        CREATE FUNCTION key_of(v text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN helper(v); END';
        CREATE TABLE t (v text); INSERT INTO t VALUES ('x'); CREATE INDEX by_key ON t (key_of(v)); CREATE TABLE u ();
    """)
    said = _refused(server, databases.taken(server.store(name, tmp_path)))
    assert "function helper(text) does not exist" in said
    assert 'in the statement CREATE INDEX "by_key" ON "public"."t"' in said


def test_an_extension_that_the_server_lacks_is_named_first(server: Server, source: Taken) -> None:
    source.part.figures["extensions"]["vector"] = "0.8.0"  # type: ignore[index,call-overload]  # of this shape
    assert "does not have the extension vector" in _refused(server, source)


def test_a_point_of_a_newer_server_is_refused(server: Server, source: Taken) -> None:
    source.part.figures.update({"major": 99, "server": "99.1"})
    said = _refused(server, source)
    assert "the server is PostgreSQL 15." in said
    assert "the point is of 99.1" in said


def test_a_point_of_an_older_server_is_restored_and_says_what_is_not_compared(server: Server, source: Taken) -> None:
    del server
    source.part.figures.update({"major": 14, "server": "14.9"})
    source.part.figures["extensions"]["plpgsql"] = "0.9"  # type: ignore[index,call-overload]  # of this shape
    databases.restored(source)
    compared = source.store.compare(source.part, source.vault)
    assert compared.differences == ()
    assert "shape of tables" in compared.figures["not_compared"]  # type: ignore[operator]  # a list


def test_a_restore_that_was_killed_is_no_copy(server: Server, source: Taken) -> None:
    class Killing(Memory):
        def read(self, file: File) -> Iterator[bytes]:
            whole = b"".join(super().read(file))
            yield whole[:2000]
            os.kill(os.getpid(), signal.SIGKILL)

    killed = Killing(source.vault.kept)
    child = multiprocessing.get_context("fork").Process(
        target=lambda: source.store.restore(source.part, killed, databases.telling([]))
    )
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert server.names(source.store.settings.database) == {"", "__restored"}
    with pytest.raises(RecoveryError, match="is not complete"):
        source.store.promote(force=True)
    with pytest.raises(RecoveryError, match="is not complete"):
        source.store.compare(source.part, source.vault)
    databases.restored(source)
    assert source.store.compare(source.part, source.vault).differences == ()


def test_a_copy_of_another_point_is_not_compared(server: Server, source: Taken) -> None:
    databases.restored(source)
    server.run(source.store.settings.database, "CREATE TABLE later AS SELECT 1 AS one")
    other = databases.taken(source.store)
    assert other.part.files[0].sha256 != source.part.files[0].sha256
    with pytest.raises(RecoveryError, match="of another point"):
        source.store.compare(other.part, other.vault)


MORE_THAN_A_PIPE_HOLDS = "CREATE TABLE t AS SELECT sha512(i::text::bytea) AS h FROM generate_series(1, 20000) AS i"
"""So pg_dump cannot end before it is looked at."""


class Observing(Memory):
    """Sees, while a dump runs, what anybody sees of the program that makes it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.modes: set[int] = set()

    def put(self, path: str, pieces: Iterable[bytes]) -> File:
        """Look at every process of ours, then go on."""
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
                environment = (entry / "environ").read_bytes().decode("utf-8", "replace")
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if parent == str(os.getpid()) and "--snapshot=" in command:
                self.seen += [command, environment]
                name = environment.partition("PGPASSFILE=")[2].partition("\0")[0]
                self.modes.add(Path(name).stat().st_mode & 0o777)
        return super().put(path, pieces)


def test_the_password_is_in_no_argument_variable_or_file_that_stays(server: Server, tmp_path: Path) -> None:
    literal = SECRET.replace("'", "''")
    server.run("postgres", f"CREATE ROLE telltale SUPERUSER LOGIN PASSWORD '{literal}'")
    store = server.store(server.database(MORE_THAN_A_PIPE_HOLDS), tmp_path)
    (tmp_path / "username").write_text("telltale\n")
    (tmp_path / "password").write_text(SECRET)
    vault, told = Observing(), list[str]()
    part = store.take(vault, "online", databases.telling(told))
    assert len(vault.seen) == 2
    assert "--dbname=host='127.0.0.1'" in vault.seen[0]
    assert vault.modes == {0o600}
    for text in (*vault.seen, *told, part.model_dump_json(), repr(store)):
        assert SECRET not in text
        assert "t:ell" not in text
    store.restore(part, vault, databases.telling(told))
    assert store.compare(part, vault).differences == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["password", "username"]


def test_a_wrong_password_is_said_without_it(server: Server, tmp_path: Path) -> None:
    store = server.store(server.database("CREATE TABLE t ()"), tmp_path)
    part = databases.taken(store).part
    (tmp_path / "password").write_text("not-the-right-one\n")
    steps: list[Any] = [
        lambda: store.take(Memory(), "online", databases.telling([])),
        lambda: store.restore(part, Memory(), databases.telling([])),
        lambda: store.compare(part, Memory()),
        lambda: store.promote(force=False),
        store.demote,
        store.confirm,
        store.discard,
    ]
    for step in steps:
        with pytest.raises(RecoveryError, match="password authentication failed for user") as caught:
            step()
        assert "not-the-right-one" not in str(caught.value)
        assert "put the right values into the files" in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n", "a\nb\n", None])
def test_a_file_of_the_password_that_is_no_value_is_refused(
    server: Server, tmp_path: Path, content: str | None
) -> None:
    store = server.store("nowhere", tmp_path)
    (tmp_path / "password").unlink()
    if content is not None:
        (tmp_path / "password").write_text(content)
    with pytest.raises(RecoveryError, match=str(tmp_path / "password")):
        store.discard()


def _dumps(entry: Path, database: str) -> bool:
    try:
        command = (entry / "cmdline").read_bytes()
    except OSError:
        return False
    return b"--snapshot=" in command and database.encode() in command


def test_a_vault_that_fails_ends_the_dump(server: Server, tmp_path: Path) -> None:
    class Full(Memory):
        def put(self, path: str, pieces: Iterable[bytes]) -> File:
            del path
            next(iter(pieces))
            raise RecoveryError("the target is full")

    name = server.database("CREATE TABLE t AS SELECT i FROM generate_series(1, 300000) AS i")
    store = server.store(name, tmp_path)
    with pytest.raises(RecoveryError, match="the target is full"):
        store.take(Full(), "online", databases.telling([]))
    assert not [entry for entry in Path("/proc").glob("[0-9]*") if _dumps(entry, name)]


def test_a_vault_that_does_not_read_to_the_end_is_noticed(server: Server, tmp_path: Path) -> None:
    class Hasty(Memory):
        def put(self, path: str, pieces: Iterable[bytes]) -> File:
            return super().put(path, [next(iter(pieces))])

    name = server.database("CREATE TABLE t AS SELECT i FROM generate_series(1, 300000) AS i")
    with pytest.raises(RecoveryError, match="stopped reading before the dump had ended"):
        server.store(name, tmp_path).take(Hasty(), "online", databases.telling([]))


@pytest.mark.parametrize(
    ("excluded", "said"),
    [
        ("nothing_like_it", "is no table"),
        ("parent", "each partition"),
        ("users", "to which rows of public.keys refer"),
    ],
)
def test_exclusions_that_cannot_be_are_refused(server: Server, tmp_path: Path, excluded: str, said: str) -> None:
    name = server.database("""
        CREATE TABLE users (id int PRIMARY KEY); CREATE TABLE keys (id int REFERENCES users);
        CREATE TABLE parent (id int) PARTITION BY HASH (id);
    """)
    with pytest.raises(RecoveryError, match=said):
        server.store(name, tmp_path, exclude_tables=(excluded,)).take(Memory(), "online", databases.telling([]))


def test_rows_that_a_policy_hides_are_an_error(server: Server, tmp_path: Path) -> None:
    name = server.database("""
        CREATE TABLE t (id int); INSERT INTO t VALUES (1), (2); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
        CREATE POLICY half ON t USING (id = 1); CREATE ROLE onlooker LOGIN PASSWORD 'pw'; GRANT SELECT ON t TO onlooker;
    """)
    store = server.store(name, tmp_path)
    (tmp_path / "username").write_text("onlooker")
    with pytest.raises(RecoveryError, match="row-level security"):
        store.take(Memory(), "online", databases.telling([]))
