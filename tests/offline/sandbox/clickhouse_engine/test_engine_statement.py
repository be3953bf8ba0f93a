"""Where a statement ends and its rows begin."""

from __future__ import annotations

import pytest

from sandbox.clickhouse_engine import statement
from sandbox.clickhouse_engine.statement import Insert, Query


@pytest.mark.parametrize(
    ("text", "separate", "expected"),
    [
        (b"INSERT INTO t FORMAT CSV", True, Insert("INSERT INTO t", "CSV", b"")),
        (b"insert into t (a, b) format TSV\n1\t2\n", False, Insert("insert into t (a, b)", "TSV", b"1\t2\n")),
        (
            b"/* x */ -- y\n INSERT INTO t FORMAT Native\n\x00\xff",
            False,
            Insert("/* x */ -- y\n INSERT INTO t", "Native", b"\x00\xff"),
        ),
        (b"INSERT INTO t SETTINGS a = 1 FORMAT CSV ", True, Insert("INSERT INTO t SETTINGS a = 1", "CSV", b"")),
        (b"INSERT INTO t", True, Insert("INSERT INTO t", "Values", b"")),
    ],
)
def test_rows_in_a_format_are_taken_apart(text: bytes, separate: bool, expected: Insert) -> None:  # noqa: FBT001  # a case
    assert statement.insert(text, separate=separate) == expected


@pytest.mark.parametrize(
    "text",
    [
        b"SELECT 1 FORMAT CSV",
        b"INSERT INTO t VALUES (1)",
        b"INSERT INTO t SELECT 1 FORMAT CSV",
        b"INSERT INTO t",
        b"CREATE TABLE inserts (a Int8) ENGINE = Memory",
    ],
)
def test_everything_else_is_for_the_engine(text: bytes) -> None:
    assert statement.insert(text, separate=False) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", Query("SELECT 1", "TabSeparated", streamed=True)),
        ("SELECT 1 FORMAT JSON", Query("SELECT 1 FORMAT JSON", "JSON", streamed=False)),
        ("SELECT 1 FORMAT Native", Query("SELECT 1 FORMAT Native", "Native", streamed=True)),
        ("SELECT 1 FORMAT CSV SETTINGS a = 1", Query("SELECT 1 FORMAT CSV SETTINGS a = 1", "CSV", streamed=True)),
        ("SELECT ' FORMAT JSON'", Query("SELECT ' FORMAT JSON'", "TabSeparated", streamed=True)),
        ("SHOW TABLES", Query("SHOW TABLES", "TabSeparated", streamed=False)),
    ],
)
def test_the_format_of_a_result(text: str, expected: Query) -> None:
    assert statement.query(text, "TabSeparated") == expected
