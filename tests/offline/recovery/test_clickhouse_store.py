"""ClickHouse secured and restored, over the real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.errors import DamagedError, RecoveryError
from recovery.stores.clickhouse import figures
from sandbox.swanlab_server import tables
from tests.offline.recovery.clickhouse_servers import Case, case, silent
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.sandbox.clickhouse_engine.process import Server

AWKWARD = """CREATE TABLE @.`awk/ward ``1` (
    id UInt64, f Float64, nf Nullable(Float64), ni Nullable(Int8), s String, `odd ``name` FixedString(4),
    l LowCardinality(Nullable(String)), a Array(Array(Nullable(String))), m Map(LowCardinality(String), Array(UInt8)),
    t Tuple(x Int128, y Nullable(Date32)), d DateTime64(9, 'Asia/Shanghai'), e Enum8('a' = -1, 'b' = 2), u UUID,
    i IPv6, c Decimal(38, 10), b Bool, made UInt64 MATERIALIZED rand64(), shown String ALIAS concat(s, '!'),
    late String DEFAULT upper(s))
    ENGINE = MergeTree PARTITION BY id % 3 ORDER BY id"""
AWKWARD_ROWS = """INSERT INTO @.`awk/ward ``1` (id, f, nf, ni, s, l, a, m, t, d, e, u, i, c, b) VALUES
    (18446744073709551615, nan, NULL, NULL, '', NULL, [], {}, (1, NULL), 0, 'a', generateUUIDv4(), '::1', 0, true),
    (0, inf, nan, 0, '\\0\\xff\\xfe', '', [[]], {'': []}, (-1, '1900-01-01'), '2026-01-01 00:00:00.123456789', 'b',
        generateUUIDv4(), '::', -1.5, false),
    (1, -inf, 0, -128, '火 🧪', 'x', [[NULL, ''], []], {'k': [0, 255]}, (0, '2299-12-31'), 1, 'a', generateUUIDv4(),
        '2001:db8::1', 1.0000000001, true),
    (2, -0.0, -0.0, 127, repeat('y', 70000), 'y', [['a'], ['b', NULL]], {'k': [1], 'j': [2]}, (5, NULL), 2, 'b',
        generateUUIDv4(), '::2', 7, false)"""


@pytest.fixture(scope="module")
def server(shared_engine: Server) -> Server:
    """A running engine."""
    return shared_engine


@pytest.fixture
def one(server: Server, tmp_path: Path) -> Case:
    """An empty database."""
    return case(server, tmp_path)


def points(one: Case, rows: int = 1000, first: int = 0) -> None:
    """The stand-in's tables with rows in two of them; `log` stays empty."""
    for table in tables.ALL:
        one.run(table.definition().replace("IF NOT EXISTS ", "IF NOT EXISTS @."))
    one.run(
        "INSERT INTO @.scalar SELECT 'p', 'u' || toString(intDiv(number, 100)), 'loss', number, number, number / 7, "  # noqa: S608  # of this test
        f"'FLOAT', now64(3), {first} + number FROM numbers({rows})"
    )
    one.run(f"INSERT INTO @.media SELECT 'p', 'u', 'k', number, number, ['a', ''], '', 0, number FROM numbers({rows})")  # noqa: S608  # of this test


def copied(one: Case, table: str, columns: str = "*") -> tuple[list[str], list[str]]:
    """Rows of a table in the database and in the copy."""
    name = f"`{table}`" if "`" not in table else table
    texts = [one.run(f"SELECT {columns} FROM {base}.{name} ORDER BY ALL") for base in ("@", "@__restored")]  # noqa: S608  # of this test
    return texts[0], texts[1]


def test_all_tables_of_the_points_come_back(one: Case) -> None:
    points(one)
    vault = Memory()
    part = one.take(vault)
    compared = one.restore(part, vault)
    assert compared.differences == ()
    assert compared.figures == part.figures
    assert one.databases()["__restored"] == ["log", "media", "scalar"]
    for table in ("scalar", "media", "log"):
        live, copy = copied(one, table)
        assert live == copy
    assert len(copied(one, "scalar")[1]) == 1000
    assert (part.kind, part.left_out) == ("clickhouse", ())
    assert sorted(file.path for file in part.files) == ["media/all.native.gz", "scalar/all.native.gz"]


def test_awkward_values_come_back_to_the_bit(one: Case) -> None:
    one.run(AWKWARD)
    one.run(AWKWARD_ROWS)
    vault = Memory()
    part = one.take(vault)
    assert one.restore(part, vault).differences == ()
    live, copy = copied(
        one, "`awk/ward ``1`", "* EXCEPT (s, late), hex(s), made, hex(shown), hex(reinterpretAsString(f)), late = s"
    )
    assert live == copy
    assert len(copy) == 4
    assert len(part.files) == 3, "one stream for each partition"


def test_rows_that_are_replaced_at_any_time_do_not_change_the_figures(one: Case) -> None:
    points(one, 500, first=0)
    points(one, 500, first=10_000)  # the same identities, a higher precedence: 500 rows are left of 1000
    vault = Memory()
    before = one.take(vault)
    assert one.run("SELECT count() FROM @.scalar") == ["1000"]
    one.run("OPTIMIZE TABLE @.scalar FINAL")
    assert one.run("SELECT count() FROM @.scalar") == ["500"]
    after = one.take(vault)
    assert (before.figures["tables"], figures.parse(after).tables["scalar"].partitions["all"].rows) == (
        after.figures["tables"],
        500,
    )
    assert one.restore(before, vault).differences == ()


@pytest.mark.parametrize(
    ("engine_name", "columns", "rows"),
    [
        ("SummingMergeTree", "k UInt8, n UInt64", "(1, 2), (1, 3), (2, 1)"),
        ("CollapsingMergeTree(sign)", "k UInt8, sign Int8", "(1, 1), (1, -1), (2, 1)"),
        ("VersionedCollapsingMergeTree(sign, v)", "k UInt8, sign Int8, v UInt8", "(1, 1, 1), (1, -1, 1), (2, 1, 1)"),
        ("ReplacingMergeTree(v, gone)", "k UInt8, v UInt8, gone UInt8", "(1, 1, 0), (1, 2, 1), (2, 1, 0)"),
        ("ReplacingMergeTree", "k UInt8, v String", "(1, 'a'), (1, 'b'), (2, 'c')"),
    ],
)
def test_engines_that_merge_come_back_as_they_read(one: Case, engine_name: str, columns: str, rows: str) -> None:
    one.run(f"CREATE TABLE @.t ({columns}) ENGINE = {engine_name} ORDER BY k")
    for row in rows.split("), "):  # each a part of its own
        one.run(f"INSERT INTO @.t VALUES {row.rstrip(')')})")  # noqa: S608  # of this test
    vault = Memory()
    assert one.restore(one.take(vault), vault).differences == ()
    assert one.run("SELECT * FROM @.t FINAL ORDER BY k") == one.run("SELECT * FROM @__restored.t FINAL ORDER BY k")


def test_aggregate_states_come_back(one: Case) -> None:
    one.run(
        "CREATE TABLE @.t (k UInt8, u AggregateFunction(uniqExact, String), m SimpleAggregateFunction(max, UInt64)) "
        "ENGINE = AggregatingMergeTree ORDER BY k"
    )
    for start in (0, 50):
        one.run(
            "INSERT INTO @.t SELECT number % 2, uniqExactState(toString(number)), max(number) "  # noqa: S608  # of this test
            f"FROM numbers({start}, 100) GROUP BY 1"
        )
    vault = Memory()
    assert one.restore(one.take(vault), vault).differences == ()
    assert one.run("SELECT k, uniqExactMerge(u), max(m) FROM @__restored.t GROUP BY k ORDER BY k") == [
        "0\t75\t148",
        "1\t75\t149",
    ]


def test_a_log_table_has_no_partition(one: Case) -> None:
    one.run("CREATE TABLE @.t (a UInt8, b String) ENGINE = StripeLog")
    one.run("INSERT INTO @.t VALUES (1, 'x'), (1, 'x')")
    vault = Memory()
    assert one.restore(one.take(vault), vault).differences == ()
    assert one.run("SELECT * FROM @__restored.t") == ["1\tx", "1\tx"]


def test_views_are_made_after_the_rows(one: Case) -> None:
    one.run("CREATE TABLE @.raw (a UInt64) ENGINE = MergeTree ORDER BY a")
    one.run("CREATE TABLE @.total (n UInt64) ENGINE = MergeTree ORDER BY n")
    one.run("CREATE MATERIALIZED VIEW @.into TO @.total AS SELECT a * 2 AS n FROM @.raw")
    one.run("CREATE MATERIALIZED VIEW @.own (n UInt64) ENGINE = MergeTree ORDER BY n AS SELECT a * 3 AS n FROM @.raw")
    one.run("CREATE VIEW @.z_base AS SELECT n FROM @.total")
    one.run("CREATE VIEW @.a_top AS SELECT n FROM @.z_base")
    one.run("INSERT INTO @.raw VALUES (1), (2)")
    vault = Memory()
    part = one.take(vault)
    for _ in range(2):
        assert one.restore(part, vault).differences == ()
        assert one.run("SELECT n FROM @__restored.a_top ORDER BY n") == ["2", "4"]
        assert one.run("SELECT n FROM @__restored.own ORDER BY n") == ["3", "6"]
    one.run("INSERT INTO @__restored.raw VALUES (5)")
    assert one.run("SELECT n FROM @__restored.own ORDER BY n") == ["3", "6", "15"]
    assert one.run("SELECT n FROM @.own ORDER BY n") == ["3", "6"], "the copy's view does not write into the database"


def test_what_is_elsewhere_is_named(one: Case) -> None:
    one.run("CREATE TABLE @.kept (a UInt8) ENGINE = MergeTree ORDER BY a")
    one.run("CREATE TABLE @.nothing (a UInt8) ENGINE = Null")
    one.run("CREATE TABLE @.fleeting (a UInt8) ENGINE = Memory")
    assert one.take(Memory()).left_out == (
        f"table {one.database}.fleeting (engine Memory): its rows are in the memory of the server and end with it",
        f"table {one.database}.nothing (engine Null): it keeps no rows",
    )


def test_a_table_that_cannot_be_secured_is_an_error(one: Case) -> None:
    one.run("CREATE TABLE @.t (a UInt8) ENGINE = Set")
    with pytest.raises(RecoveryError, match="has engine Set, whose rows this program cannot secure"):
        one.take(Memory())


def test_restoring_twice_gives_the_same(one: Case) -> None:
    points(one)
    vault = Memory()
    part = one.take(vault)
    first = one.restore(part, vault)
    assert one.restore(part, vault) == first
    assert one.run("SELECT count() FROM @__restored.scalar") == ["1000"]


def test_what_did_not_change_is_not_sent_again(one: Case) -> None:
    one.run(
        "CREATE TABLE @.t (d UInt8, a UInt64, l LowCardinality(String)) ENGINE = MergeTree PARTITION BY d ORDER BY a"
    )
    one.run("INSERT INTO @.t SELECT number % 3, number, toString(number % 10) FROM numbers(300000)")
    vault = Memory()
    one.take(vault)
    assert vault.sent == 3
    one.take(vault)
    assert vault.sent == 3
    one.run("INSERT INTO @.t VALUES (1, 5, 'x')")
    one.take(vault)
    assert vault.sent == 4, "of the partition with a new row"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("INSERT INTO @__restored.media VALUES ('p', 'u', 'k', 0, -1, [], '', 0, 0)", "1000 rows in the point, 1001"),
        ("DELETE FROM @__restored.media WHERE step = 7", "1000 rows in the point, 999"),
        ("ALTER TABLE @__restored.media UPDATE more = 'x' WHERE step = 7 SETTINGS mutations_sync = 2", ": content "),
        ("DROP TABLE @__restored.media", "table media is in the point and not in the copy"),
        ("CREATE TABLE @__restored.m2 (a UInt8) ENGINE = Log", "table m2 is in the copy and not in the point"),
        ("ALTER TABLE @__restored.media ADD COLUMN z UInt8", "its columns is"),
        ("ALTER TABLE @__restored.media MODIFY COMMENT 'x'", "its definition is"),
    ],
)
def test_a_copy_that_differs_is_told(one: Case, change: str, expected: str) -> None:
    points(one)
    vault = Memory()
    part = one.take(vault)
    assert one.restore(part, vault).differences == ()
    one.run(change)
    assert expected in "\n".join(one.store.compare(part, vault).differences)


def test_there_is_nothing_to_compare_without_a_whole_copy(one: Case) -> None:
    points(one)
    vault = Memory()
    part = one.take(vault)
    with pytest.raises(RecoveryError, match="is no whole copy"):
        one.store.compare(part, vault)
    vault.kept[part.files[1].chunks[0].sha256] = b"else"
    with pytest.raises(DamagedError):
        one.store.restore(part, vault, silent)
    with pytest.raises(RecoveryError, match="is no whole copy"):
        one.store.compare(part, vault)
    with pytest.raises(RecoveryError, match="is no whole copy"):
        one.store.promote(force=True)


def test_a_newer_servers_data_is_refused(one: Case) -> None:
    points(one, 1)
    vault = Memory()
    part = one.take(vault).model_copy(update={"version": "99.1.2.3"})
    with pytest.raises(RecoveryError, match=r"the data is of 99\.1\.2\.3"):
        one.store.restore(part, vault, silent)
    assert "__restored" not in one.databases()


def test_without_room_nothing_is_made(one: Case) -> None:
    points(one, 1)
    vault = Memory()
    part = one.take(vault)
    part = part.model_copy(update={"figures": {**part.figures, "bytes_on_disk": 2**60}})
    with pytest.raises(RecoveryError, match="bytes are free"):
        one.store.restore(part, vault, silent)
    assert "__restored" not in one.databases()
