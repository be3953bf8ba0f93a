"""Definitions taken apart. The statements are as ClickHouse writes them into system.tables."""

from __future__ import annotations

import pytest

from recovery.errors import RecoveryError
from recovery.stores.clickhouse import definitions


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("CREATE TABLE app.t (`a` UInt8) ENGINE = MergeTree ORDER BY a", "(`a` UInt8) ENGINE = MergeTree ORDER BY a"),
        ("CREATE TABLE `a.b`.`t``(` UUID '1-2' (`a` UInt8) ENGINE = Log", "(`a` UInt8) ENGINE = Log"),
        ("CREATE TABLE a.`t\\`` (`a` UInt8) ENGINE = Log", "(`a` UInt8) ENGINE = Log"),
        ("ATTACH TABLE a.t ON CLUSTER c (`a` UInt8) ENGINE = Log", "(`a` UInt8) ENGINE = Log"),
        (
            "CREATE TABLE a.t (`a` String DEFAULT 'ENGINE = ReplicatedMergeTree(') "
            "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/{uuid}/{shard}', '{replica}', v, gone) ORDER BY f(a)",
            "(`a` String DEFAULT 'ENGINE = ReplicatedMergeTree(') ENGINE = ReplacingMergeTree(v, gone) ORDER BY f(a)",
        ),
        (
            "CREATE TABLE a.t (`a` UInt8) ENGINE = ReplicatedMergeTree('/x', '{replica}') ORDER BY a",
            "(`a` UInt8) ENGINE = MergeTree ORDER BY a",
        ),
        (
            "CREATE TABLE a.t (`a` UInt8) ENGINE = ReplicatedSummingMergeTree((a, b)) ORDER BY a",
            "(`a` UInt8) ENGINE = SummingMergeTree((a, b)) ORDER BY a",
        ),
        (
            "CREATE TABLE a.t (`a` UInt8) ENGINE = SharedReplacingMergeTree ORDER BY a",
            "(`a` UInt8) ENGINE = ReplacingMergeTree ORDER BY a",
        ),
    ],
)
def test_a_table_can_be_made_anywhere(statement: str, expected: str) -> None:
    assert definitions.tail(statement, "a.t") == ("TABLE", expected)


def test_the_account_of_a_view_is_left_out() -> None:
    told = "CREATE MATERIALIZED VIEW a.v TO a.t (`a` UInt8) DEFINER = admin SQL SECURITY DEFINER AS SELECT a FROM a.s"
    assert definitions.tail(told, "a.v") == ("MATERIALIZED VIEW", "TO a.t (`a` UInt8) AS SELECT a FROM a.s")
    plain = "CREATE VIEW a.v (`a` UInt8) AS SELECT DEFINER = a FROM a.s"
    assert definitions.tail(plain, "a.v") == ("VIEW", "(`a` UInt8) AS SELECT DEFINER = a FROM a.s")


def test_what_is_no_table_and_no_view_is_an_error() -> None:
    with pytest.raises(RecoveryError, match="cannot read"):
        definitions.tail("CREATE DICTIONARY a.d (`a` UInt8) PRIMARY KEY a", "a.d")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AS SELECT a FROM app.t", "AS SELECT a FROM `new`.t"),
        ("AS SELECT app.t.a FROM `app`.`t`", "AS SELECT `new`.t.a FROM `new`.`t`"),
        ("AS SELECT 'app.t', x.app.y FROM app2.t", "AS SELECT 'app.t', x.app.y FROM app2.t"),
        ("AS SELECT app FROM t", "AS SELECT app FROM t"),
    ],
)
def test_a_database_is_renamed_where_it_is_named(text: str, expected: str) -> None:
    assert definitions.renamed(text, "app", "new") == expected
    assert definitions.names(text, "app") == (text != expected or "'app.t'" in text)
