"""PostgreSQL taken, restored and compared, in a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.offline.recovery import databases
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recovery.model import Part
    from tests.offline.recovery.databases import Server, Taken

EMPTY_HASH = "0"


@pytest.fixture(scope="module")
def server(shared_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One PostgreSQL for all tests here."""
    with databases.running(shared_postgres, tmp_path_factory.mktemp("programs")) as found:
        yield found


@pytest.fixture(scope="module")
def awkward(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Taken:
    """A database with awkward values, taken once."""
    return databases.taken(server.store(server.database(databases.AWKWARD), tmp_path_factory.mktemp("work")))


def _differences(found: Taken, part: Part | None = None) -> tuple[str, ...]:
    return found.store.compare(part or found.part, found.vault).differences


def test_a_copy_of_awkward_values_is_equal(server: Server, awkward: Taken) -> None:
    databases.restored(awkward)
    compared = awkward.store.compare(awkward.part, awkward.vault)
    assert compared.differences == ()
    assert "roles: everything belongs to whoever restored" in compared.figures["not_compared"]  # type: ignore[operator]  # a list
    copy = awkward.store.settings.restore_as
    assert server.ask(copy, "SELECT f::text || r::text FROM numbers WHERE id = 2") == "Infinity-Infinity"
    assert server.ask(copy, "SELECT twice FROM texts WHERE code = ''") == ""
    assert server.ask(copy, "SELECT kind::text FROM texts WHERE code = 'ä'") == "numbers"
    assert server.ask(copy, "SELECT length(lo_get(oid)) FROM pg_largeobject_metadata") == 6000
    assert server.ask(copy, "INSERT INTO numbers (f) VALUES (1) RETURNING id") == 7
    assert server.ask(copy, "SELECT reltuples FROM pg_class WHERE relname = 'measured_2025'") == 30, "no statistics"


def test_figures_are_what_was_put_in(awkward: Taken) -> None:
    figures: Any = awkward.part.figures
    tables = figures["tables"]
    rows = {name: table["rows"] for name, table in tables.items()}
    assert rows == {
        "other.numbers": 1,
        'public."Odd ""name"".x"': 3,
        "public.child": 2,
        "public.empty": 0,
        "public.heir": 1,
        "public.measured_2025": 30,
        "public.measured_2026": 30,
        "public.nothing": 0,
        "public.numbers": 6,
        "public.parent": 2,
        "public.parted_0": 1,
        "public.parted_1": 1,
        "public.points": 1,
        "public.texts": 3,
    }
    assert tables["public.child"]["largest"] == {"id": 9007199254740993}
    assert tables["public.numbers"]["largest"] == {"id": 6}
    assert tables["public.empty"]["largest"] == {"id": None}
    assert tables["public.empty"]["hash"] == EMPTY_HASH
    assert figures["partitioned"]["public.measured"]["partitions"] == 2
    assert figures["views"] == ["public.counted", "public.glad"]
    assert figures["sequences"]["public.tickets"]["last_value"] == 15
    assert figures["sequences"]["public.unused"]["is_called"] is False
    assert figures["large_objects"]["bytes"] == 6000
    assert figures["foreign_keys"] == 3


def test_restored_twice_is_the_same(server: Server, awkward: Taken) -> None:
    databases.restored(awkward)
    server.run(awkward.store.settings.restore_as, "DELETE FROM numbers WHERE id = 5")
    databases.restored(awkward)
    first = awkward.store.compare(awkward.part, awkward.vault)
    databases.restored(awkward)
    second = awkward.store.compare(awkward.part, awkward.vault)
    assert first == second
    assert first.differences == ()


CHANGES = (
    ("UPDATE other.numbers SET id = 8", "table other.numbers: largest id is 8 in the copy, 7 in the source"),
    ("DELETE FROM other.numbers", "table other.numbers: rows is 0 in the copy, 1 in the source"),
    ("UPDATE texts SET j = replace(j::text, '  ', ' ')::json WHERE code = 'ä'", "table public.texts: content hash is "),
    ("UPDATE texts SET body = NULL WHERE code = ''", "table public.texts: content hash is "),
    ("UPDATE texts SET raw = '\\x00ff0a5d' WHERE code = 'ä'", "table public.texts: content hash is "),
    ("UPDATE numbers SET f = 0 WHERE id = 3", "table public.numbers: content hash is "),
    ("UPDATE numbers SET f = 0.3 WHERE id = 4", "table public.numbers: content hash is "),
    ("""INSERT INTO "Odd ""name"".x" VALUES ('same', NULL)""", "rows is 4 in the copy, 3 in the source"),
    ("SELECT nextval('tickets')", "sequence public.tickets: last_value is 20 in the copy, 15 in the source"),
    ("SELECT setval('unused', 1)", "sequence public.unused: is_called is True in the copy, False in the source"),
    ("DROP SEQUENCE unused", "sequence public.unused: in the source, missing in the copy"),
    ("CREATE TABLE more ()", "table public.more: not in the source, but in the copy"),
    (
        "ALTER TABLE measured DETACH PARTITION measured_2025",
        "table public.measured: partitions is 1 in the copy, 2 in the source",
    ),
    ("DROP VIEW glad", "view public.glad: in the source, missing in the copy"),
    ("CREATE SCHEMA third", "schema third: not in the source, but in the copy"),
    ("DROP FUNCTION add", "database: functions is 0 in the copy, 1 in the source"),
    ("ALTER TABLE empty ALTER note TYPE varchar", "table public.empty: hash of its columns is "),
    ("ALTER TABLE empty ADD CHECK (id > 0)", "table public.empty: hash of its constraints is "),
    (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'other.numbers_pkey'::regclass",
        "index other.numbers_pkey: valid in the source or not there, invalid in the copy",
    ),
    ("DROP INDEX child_number", "table public.child: hash of its indexes is "),
    ("ALTER TABLE child DROP CONSTRAINT child_number_fkey", "database: foreign keys is 2 in the copy, 3 in the source"),
    ("DROP TABLE child", "table public.child: in the source, missing in the copy"),
    ("SELECT lo_put(oid, 5999, '\\x01') FROM pg_largeobject_metadata", "large objects: hash is "),
    ("SELECT lo_unlink(oid) FROM pg_largeobject_metadata", "large objects: count is 0 in the copy, 1 in the source"),
    ("DROP EXTENSION plpgsql", "extension plpgsql: in the source, missing in the copy"),
)
"""What is done to a copy, one after the other, and what is new among the differences after it."""


def test_each_figure_is_seen_failing(server: Server, awkward: Taken) -> None:
    databases.restored(awkward)
    before: set[str] = set(_differences(awkward))
    assert before == set()
    for text, said in CHANGES:
        server.run(awkward.store.settings.restore_as, text)
        after = set(_differences(awkward))
        assert any(said in line for line in after - before), (text, after - before)
        before = after
    assert all(line.startswith("metadata: ") for line in before)


def test_another_encoding_is_a_difference(server: Server, tmp_path: Path) -> None:
    found = databases.restored(databases.taken(server.store(server.database("CREATE TABLE t ()"), tmp_path)))
    found.part.figures["encoding"] = "LATIN1"
    assert _differences(found) == ("metadata: database: encoding is UTF8 in the copy, LATIN1 in the source",)


def test_settings_of_the_database_come_back(server: Server, tmp_path: Path) -> None:
    name = server.database("CREATE TABLE t (at timestamptz); INSERT INTO t VALUES ('2026-11-30T00:00:00Z')")
    server.run(name, f"""
        ALTER DATABASE {name} SET timezone = 'Asia/Kathmandu';
        ALTER DATABASE {name} SET search_path = "$user", public, "With, comma";
        ALTER DATABASE {name} SET extra_float_digits = -5;
        ALTER DATABASE {name} SET default_transaction_read_only = off;
    """)  # fmt: skip
    found = databases.restored(databases.taken(server.store(name, tmp_path)))
    assert _differences(found) == ()
    copy = found.store.settings.restore_as
    assert server.ask(copy, "SHOW timezone") == "Asia/Kathmandu"
    assert server.ask(copy, "SHOW search_path") == '"$user", public, "With, comma"'
    server.run(copy, f"ALTER DATABASE {copy} RESET timezone")
    assert _differences(found) == ("metadata: setting TimeZone=Asia/Kathmandu: in the source, missing in the copy",)


def test_the_schema_of_the_server_with_rows(server: Server, tmp_path: Path) -> None:
    name = server.database(databases.schema())
    server.run(name, """
        INSERT INTO users (username, name, password_hash) SELECT 'u' || i, 'ü', 'h' FROM generate_series(1, 5000) AS i;
        INSERT INTO api_keys (user_id, name, key_hash) SELECT id, 'k', 'hash' || id FROM users;
        DELETE FROM users WHERE id % 2 = 0;
    """)  # fmt: skip
    found = databases.restored(databases.taken(server.store(name, tmp_path)))
    assert _differences(found) == ()
    copy = found.store.settings.restore_as
    assert server.ask(copy, "SELECT count(*) FROM api_keys") == 2500
    assert (
        server.ask(copy, "INSERT INTO users (username, name, password_hash) VALUES ('x', '', '') RETURNING id") == 5001
    )


def test_a_database_without_anything(server: Server, tmp_path: Path) -> None:
    found = databases.restored(databases.taken(server.store(server.database(), tmp_path)))
    assert found.part.figures["tables"] == {}
    assert _differences(found) == ()


def test_a_database_without_the_usual_schema(server: Server, tmp_path: Path) -> None:
    name = server.database(
        "DROP SCHEMA public; CREATE SCHEMA mine; CREATE TABLE mine.t (id int); INSERT INTO mine.t VALUES (1)"
    )
    assert _differences(databases.restored(databases.taken(server.store(name, tmp_path)))) == ()


def test_what_is_committed_after_the_snapshot_is_in_neither(server: Server, tmp_path: Path) -> None:
    name = server.database(
        "CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY); INSERT INTO t DEFAULT VALUES"
    )
    found = databases.Taken(server.store(name, tmp_path), Memory(), None)  # type: ignore[arg-type]  # taken below
    late = []

    def tell(line: str) -> None:
        if "snapshot" in line or "dump of" in line:
            late.append(server.ask(name, "INSERT INTO t DEFAULT VALUES RETURNING id"))

    found.part = found.store.take(found.vault, "online", tell)
    assert late == [2, 3]
    databases.restored(found)
    assert _differences(found) == ()
    copy = found.store.settings.restore_as
    assert server.ask(copy, "SELECT array_agg(id) FROM t") == [1]
    assert server.ask(copy, "SELECT last_value FROM t_id_seq") == 2, "a sequence is of no snapshot"
    server.run(copy, "SELECT setval('t_id_seq', 3)")
    assert _differences(found) == (
        "metadata: sequence public.t_id_seq: last_value is 3 in the copy, 1 to 2 in the source while it was dumped",
    )


def test_a_lock_takes_no_snapshot(server: Server) -> None:
    name = server.database("CREATE TABLE t (id integer)")
    with server.connect(name) as connection:
        connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute("LOCK TABLE ONLY t IN ACCESS SHARE MODE")
        server.run(name, "INSERT INTO t VALUES (1)")
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_tables_are_locked_before_the_snapshot(server: Server, tmp_path: Path) -> None:
    name = server.database("CREATE TABLE t (id integer); INSERT INTO t VALUES (1)")
    refused = []

    def tell(line: str) -> None:
        if "snapshot" in line:
            with server.connect(name, options="-c lock_timeout=100ms") as other:
                with pytest.raises(psycopg.errors.LockNotAvailable) as caught:
                    other.execute("ALTER TABLE t ALTER id TYPE bigint")
                refused.append(caught)

    part = server.store(name, tmp_path).take(Memory(), "online", tell)
    assert len(refused) == 1
    assert part.figures["tables"]["public.t"]["rows"] == 1  # type: ignore[index,call-overload]  # of this shape


def test_excluded_rows_stay_out_and_the_table_does_not(server: Server, tmp_path: Path) -> None:
    name = server.database("""
        CREATE TABLE "Big one" (id int); INSERT INTO "Big one" VALUES (1); CREATE SCHEMA s; CREATE TABLE s.log (id int);
        INSERT INTO s.log VALUES (1); CREATE TABLE big (id int); INSERT INTO big VALUES (1);
        CREATE TABLE "a.""b*" (id int); INSERT INTO "a.""b*" VALUES (1)
    """)
    excluded = ["Big one", "s.log", 'public."a.""b*"']
    found = databases.taken(server.store(name, tmp_path, exclude_tables=excluded))
    assert 'rows of public."Big one": excluded by the configuration' in found.part.left_out
    assert "rows of s.log: excluded by the configuration" in found.part.left_out
    databases.restored(found)
    assert _differences(found) == ()
    copy = found.store.settings.restore_as
    counts = 'SELECT (SELECT count(*) FROM "Big one"), (SELECT count(*) FROM s.log), (SELECT count(*) FROM big)'
    with server.connect(copy) as connection:
        assert connection.execute(counts).fetchone() == (0, 0, 1)
        assert connection.execute('SELECT count(*) FROM "a.""b*"').fetchone() == (0,)
    server.run(copy, "DROP TABLE s.log")
    assert _differences(found) == ("metadata: excluded table s.log: in the source, missing in the copy",)


def test_extensions_and_invalid_indexes(server: Server, tmp_path: Path) -> None:
    name = server.database("""
        CREATE SCHEMA extras; CREATE EXTENSION hstore SCHEMA extras; CREATE EXTENSION pg_trgm;
        CREATE TABLE t (id int, h extras.hstore); INSERT INTO t VALUES (1, 'a=>1,b=>NULL'), (1, '');
    """)
    with pytest.raises(psycopg.errors.UniqueViolation):
        server.run(name, "CREATE UNIQUE INDEX CONCURRENTLY broken ON t (id)")
    found = databases.taken(server.store(name, tmp_path))
    assert found.part.figures["invalid_indexes"] == ["public.broken"]
    assert "index public.broken: it is invalid in the source" in found.part.left_out
    databases.restored(found)
    assert _differences(found) == ()
    found.part.figures["extensions"]["hstore"] = "0.9"  # type: ignore[index,call-overload]  # of this shape
    assert _differences(found) == ("metadata: extension hstore: version is 1.8 in the copy, 0.9 in the source",)


def test_another_owner_restores_everything_as_his_own(server: Server, tmp_path: Path) -> None:
    name = server.database("CREATE ROLE reader_of_t; CREATE TABLE t (id int); GRANT SELECT ON t TO reader_of_t")
    found = databases.taken(server.store(name, tmp_path))
    assert "role reader_of_t, which owns something or has been granted something" in found.part.left_out
    server.run("postgres", "CREATE ROLE newcomer LOGIN CREATEDB PASSWORD 'another'")
    (tmp_path / "username").write_text("newcomer")
    (tmp_path / "password").write_text("another\n")
    databases.restored(found)
    assert _differences(found) == ()
    copy = found.store.settings.restore_as
    assert server.ask(copy, "SELECT tableowner FROM pg_tables WHERE tablename = 't'") == "newcomer"
