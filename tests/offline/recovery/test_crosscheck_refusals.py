"""What cannot be checked is never good: another schema, a store that breaks off, a side out of order."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import psycopg
import pytest

from recovery.crosscheck import postgres
from recovery.crosscheck.check import NOT_DONE
from recovery.crosscheck.clickhouse import ClickHouse
from recovery.crosscheck.model import PRIVATE, Circumstances, Query
from recovery.crosscheck.swanlab import SANDBOX
from recovery.errors import RecoveryError
from tests.offline.recovery import crosscheck_site
from tests.offline.recovery.crosscheck_site import Stores, World, file
from tests.offline.sandbox.clickhouse_engine.process import PASSWORD, engine, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def world(shared_stores: Stores) -> Iterator[World]:
    with crosscheck_site.world(shared_stores) as found:
        yield found


def test_a_clickhouse_without_a_table_is_no_known_schema(world: World) -> None:
    world.clickhouse.execute("DROP TABLE media")
    found = world.check()
    assert found.differences == (
        f"{NOT_DONE}; for swanlab-sandbox the copies lack ClickHouse media (data, key, precedence, step, uid)",
    )
    assert found.figures == {"profile": None}


def test_a_postgres_with_other_columns_is_no_known_schema(world: World) -> None:
    world.sql("ALTER TABLE experiments RENAME COLUMN cuid TO uuid")
    assert world.check().differences == (
        f"{NOT_DONE}; for swanlab-sandbox the copies lack PostgreSQL experiments (cuid)",
    )


def test_empty_databases_are_no_known_schema(world: World) -> None:
    world.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    for table in ("scalar", "media", "log"):
        world.clickhouse.execute(f"DROP TABLE {table}")
    (told,) = world.check().differences
    assert told.startswith(NOT_DONE)


def test_no_profile_is_no_known_schema(world: World) -> None:
    assert world.check(profiles=(), buckets={}).differences == (f"{NOT_DONE}; there is no profile",)


def test_the_private_bucket_must_be_there(world: World) -> None:
    world.started("r1")
    world.media("r1", "img", "001-ab12cd34.png")
    assert world.check(buckets={}).differences == (
        "bucket private is not in the point: what refers to it was not checked",
    )


def test_a_bucket_that_nobody_knows_is_refused(world: World) -> None:
    with pytest.raises(RecoveryError, match="the bucket swanlab-private; accepted are private, public"):
        world.check(buckets={"swanlab-private": []})


def test_a_moment_without_a_time_zone_is_refused(world: World) -> None:
    naive = datetime(2026, 11, 30, 7)
    with pytest.raises(RecoveryError, match="without a time zone"):
        world.check(under=Circumstances(mode="online", taken=naive))


def test_a_side_out_of_order_is_no_result(world: World) -> None:
    world.started("r1")
    world.started("r2")
    world.scalar("r1", "a", "b")
    runs, scalars, *others = SANDBOX.comparisons
    source = scalars.relations[0].source
    assert isinstance(source, Query)
    turned = replace(scalars.relations[0], source=replace(source, sql=f"{source.sql} DESC"))
    wrong = replace(SANDBOX, comparisons=(runs, replace(scalars, relations=(turned,)), *others))
    with pytest.raises(RecoveryError, match=r"scalar_columns: .* the order must ascend"):
        world.check(profiles=(wrong,))


@pytest.mark.parametrize("store", ["postgres", "clickhouse"])
def test_a_wrong_password_is_told_and_never_shown(world: World, tmp_path: Path, store: str) -> None:
    (tmp_path / "password").write_text("hunter2-of-nobody\n")
    copy = replace(getattr(world, f"{store}_copy"), password_file=tmp_path / "password")
    with pytest.raises(RecoveryError) as failure:
        world.check(**{f"{store}_copy": copy})
    assert "copy app at" in str(failure.value)
    assert "hunter2" not in str(failure.value)
    assert PASSWORD not in str(failure.value)


@pytest.mark.parametrize("text", [None, "", "\n", b"\xff"], ids=["absent", "empty", "a newline", "not UTF-8"])
def test_a_file_of_an_account_that_holds_none_is_named(world: World, tmp_path: Path, text: str | bytes | None) -> None:
    if text is not None:
        (tmp_path / "user").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(RecoveryError, match=str(tmp_path / "user")):
        world.check(postgres_copy=replace(world.postgres_copy, user_file=tmp_path / "user"))


def test_a_store_that_is_not_there_is_an_error(world: World) -> None:
    with pytest.raises(RecoveryError, match="PostgreSQL copy app at"):
        world.check(postgres_copy=replace(world.postgres_copy, port=free_port()))
    with pytest.raises(RecoveryError, match="ClickHouse copy app at"):
        world.check(clickhouse_copy=replace(world.clickhouse_copy, url=f"http://127.0.0.1:{free_port()}"))


def test_the_copies_cannot_be_written_to(world: World) -> None:
    world.started("r1")
    world.scalar("r1", "a")
    with postgres.opened(world.postgres_copy) as database, pytest.raises(RecoveryError, match="read-only"):
        database.number("DELETE FROM experiments RETURNING 1")
    clickhouse = ClickHouse(world.clickhouse_copy)
    for text in ("DROP TABLE scalar", "INSERT INTO scalar (uid) SELECT 'x'", "ALTER TABLE scalar DELETE WHERE 1"):
        with pytest.raises(RecoveryError, match="readonly"):
            clickhouse.number(text)
    assert world.check().figures["scalar_columns_with_points"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT toString(number) AS uid, throwIf(number = 300000) FROM numbers(400000) ORDER BY number",
        "SELECT 'Code: 241. DB::Exception: Memory limit' AS exception",
        "SELECT 'uid' FORMAT TabSeparated",
        "SELECT 'r1' AS run",
        "SELECT no_such_column",
    ],
    ids=["an error in its middle", "an error as a row", "no JSON", "another shape", "refused"],
)
def test_a_result_of_clickhouse_that_is_none_is_an_error(world: World, text: str) -> None:
    with pytest.raises(RecoveryError, match="ClickHouse copy app at"):
        list(ClickHouse(world.clickhouse_copy).rows(Query("clickhouse", text, ("uid",))))


def test_a_number_of_clickhouse_is_one(world: World) -> None:
    with pytest.raises(RecoveryError, match="2 rows where one number was asked for"):
        ClickHouse(world.clickhouse_copy).number("SELECT number FROM numbers(2)")


def test_a_clickhouse_that_dies_is_an_error(world: World, tmp_path: Path) -> None:
    # Far more than what sockets hold.
    query = Query("clickhouse", "SELECT toString(number) AS uid FROM numbers(5000000)", ("uid",))
    with engine(tmp_path) as found:
        rows = ClickHouse(replace(world.clickhouse_copy, url=found.url, database="default")).rows(query)
        assert next(rows).key == ("0",)
        found.kill()
        with pytest.raises(RecoveryError, match="does not answer"):
            list(rows)


def test_a_postgres_that_ends_the_session_is_an_error(world: World) -> None:
    query = Query("postgres", "SELECT n::text AS uid FROM generate_series(1, 100000) n", ("uid",))
    with postgres.opened(world.postgres_copy) as database:
        rows = database.rows(query)
        assert next(rows).key == ("1",)
        with psycopg.connect(f"{world.stores.address}/app", autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'recovery-crosscheck'"
            )
        with pytest.raises(RecoveryError, match="PostgreSQL copy app at"):
            list(rows)


def test_an_index_that_breaks_off_passes_through_and_leaves_nothing_open(world: World) -> None:
    def broken() -> Iterator[object]:
        yield file("a", 1)
        raise RecoveryError("the index is cut off")

    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # pathlib would hold one open while it counts
    with pytest.raises(RecoveryError, match="the index is cut off"):
        world.check(buckets={PRIVATE: broken()})
    assert len(os.listdir("/proc/self/fd")) <= before + 1  # noqa: PTH208  # as above; a connection to ClickHouse stays
    assert not [path for path in world.stores.directory.iterdir() if path.name.startswith("tmp")]
