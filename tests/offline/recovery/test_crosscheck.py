"""What the stand-in writes holds together, and each reference that dangles is told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.crosscheck.model import PRIVATE, PUBLIC
from tests.offline.recovery import crosscheck_site
from tests.offline.recovery.crosscheck_site import LONG_AGO, NOW, Stores, World, file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.model import Mode

JUST_NOW = NOW - timedelta(minutes=4)
"""Within the window of five minutes."""


@pytest.fixture
def world(shared_stores: Stores) -> Iterator[World]:
    with crosscheck_site.world(shared_stores) as found:
        yield found


def test_an_empty_installation_holds(world: World) -> None:
    found = world.check()
    assert found.differences == ()
    assert found.figures["profile"] == "swanlab-sandbox"
    assert found.figures["runs"] == 0


def test_what_the_server_writes_holds(world: World) -> None:
    # In the order of bytes, `run-1` is between `run` and `run/`, upper case before lower, accents behind both.
    for cuid in ("run", "run-1", "run.1", "Run", "é", "run1", "r'un"):
        world.started(cuid)
        world.scalar(
            cuid, "loss", "Loss", "train/loss", "train-loss", "métrique", "日本 'k'", "\\n", "__swanlab__.cpu.pct"
        )
        world.media(cuid, "val/img", "001-ab12cd34.png", "001-00ff00ff.png")
        world.save(cuid, "code/train.py")
        world.deliver("log", world.row(cuid), {"level": "INFO", "epoch": 1, "message": "line"})
    found = world.check()
    assert found.differences == ()
    assert found.figures == {
        "profile": "swanlab-sandbox",
        "runs": 7,
        "columns_with_error": 0,
        "series": 0,
        "files": 7,
        "media_rows": 7,
        "runs_logged": 7,
        "runs_with_points": 7,
        "runs_without_points": 0,
        "scalar_columns": 56,
        "scalar_columns_with_points": 56,
        "scalar_keys_without_column": 0,
        "media_columns": 7,
        "media_columns_with_points": 7,
        "media_keys_without_column": 0,
        "other_columns": 0,
        "other_columns_with_points": 0,
        "media_names": 14,
        "files_uploaded": 7,
        "objects_referenced": 21,
        "objects_unreferenced": 0,
        "tolerated": [],
    }


def test_keys_of_a_project_with_multi_view_boards_are_counted(world: World) -> None:
    world.started("r1")
    series = {"series": [{"key": "loss", "type": "FLOAT"}]}
    assert world.client.ask("POST", "/api/projects/root/p/series", series).status == 201
    world.deliver("scalar", world.row("r1"), {"key": "loss", "index": 1, "data": 1})
    found = world.check()
    assert found.differences == ()
    assert (found.figures["series"], found.figures["scalar_keys_without_column"]) == (1, 1)


def test_a_run_without_points_is_counted(world: World) -> None:
    world.started("r1")
    found = world.check()
    assert found.differences == ()
    assert (found.figures["runs"], found.figures["runs_without_points"]) == (1, 1)


def test_an_object_that_two_media_share_counts_once_and_one_of_nobody_is_no_fault(world: World) -> None:
    world.started("r1")
    world.media("r1", "a", "001-ab12cd34.png")
    world.media("r1", "b", "001-ab12cd34.png")
    world.objects.sizes["p/r1/exports/x.csv"] = 9
    found = world.check(
        buckets={PRIVATE: [file(*item) for item in world.objects.sizes.items()], PUBLIC: [file("a", 1)]}
    )
    assert found.differences == ()
    names = ("media_names", "objects_referenced", "objects_unreferenced", "public_objects")
    assert [found.figures[name] for name in names] == [2, 1, 1, 1]


@pytest.mark.parametrize("mode", ["quiesced", "online"])
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("FLOAT", "2 scalar columns in PostgreSQL have nothing in ClickHouse"),
        ("ECHARTS", "2 media columns in PostgreSQL have nothing in ClickHouse"),
        ("NEW", "2 columns of types that are not known in PostgreSQL have nothing in ClickHouse"),
    ],
)
def test_columns_without_points_are_told(world: World, mode: Mode, kind: str, says: str) -> None:
    uid = world.started("r1")
    world.scalar("r1", "loss")
    world.announce("r1", {"a": kind, "b": kind})
    assert world.check(mode).differences == (f"{says}: run {uid} key 'a'; run {uid} key 'b'",)


def test_points_of_another_kind_do_not_stand_in(world: World) -> None:
    uid = world.started("r1")
    world.scalar("r1", "loss")
    world.sql("UPDATE columns SET type = 'IMAGE'")
    assert world.check().differences == (
        f"1 media columns in PostgreSQL have nothing in ClickHouse: run {uid} key 'loss'",
    )


def test_points_of_another_run_do_not_stand_in(world: World) -> None:
    first, second = world.started("r1"), world.started("r2")
    world.announce("r1", {"loss": "FLOAT"})
    world.scalar("r2", "loss")
    told = world.check().differences
    assert told == (f"1 scalar columns in PostgreSQL have nothing in ClickHouse: run {first} key 'loss'",)
    assert second not in told[0]


def test_three_of_many_are_shown(world: World) -> None:
    uid = world.started("r1")
    world.announce("r1", dict.fromkeys("edcba", "FLOAT"))
    assert world.check().differences == (
        "5 scalar columns in PostgreSQL have nothing in ClickHouse: "
        f"run {uid} key 'a'; run {uid} key 'b'; run {uid} key 'c'; …",
    )


def test_a_column_that_was_just_announced_is_tolerated_online_alone(world: World) -> None:
    world.started("r1")
    world.announce("r1", {"loss": "FLOAT"}, JUST_NOW)
    online, quiesced = world.check("online"), world.check("quiesced")
    assert online.differences == ()
    assert online.figures["scalar_columns_without_points_recent"] == 1
    assert online.figures["tolerated"] == [
        "1 scalar_columns_without_points_recent: taken online, and announced or changed from 2026-11-30T06:55:00+00:00"
        " on: the rest may still have been on its way"
    ]
    assert len(quiesced.differences) == 1
    assert quiesced.figures["tolerated"] == []


def test_a_running_run_gets_no_tolerance_for_what_it_announced_long_ago(world: World) -> None:
    world.started("r1")
    assert world.row("r1")["state"] == "RUNNING"
    world.announce("r1", {"loss": "FLOAT"}, NOW - timedelta(minutes=6))
    assert len(world.check("online").differences) == 1


def test_a_column_with_an_error_has_no_points(world: World) -> None:
    world.started("r1")
    body = [{"key": "k", "type": "FLOAT", "error": {"expected": "float"}}]
    assert world.client.ask("POST", "/api/experiment/r1/columns", body).status == 201
    found = world.check()
    assert found.differences == ()
    assert found.figures["columns_with_error"] == 1


@pytest.mark.parametrize("mode", ["quiesced", "online"])
def test_a_missing_object_of_media_is_told(world: World, mode: Mode) -> None:
    uid = world.started("r1")
    gone, _ = world.media("r1", "img", "001-ab12cd34.png", "002-ab12cd34.png")
    del world.objects.sizes[gone]
    assert world.check(mode).differences == (
        f"1 names in rows of media have no object in the private bucket: run {uid} key 'img' object '{gone}'",
    )


def test_a_missing_object_of_media_that_just_arrived_is_tolerated_online_alone(world: World) -> None:
    world.started("r1")
    world.arrivals.moment = JUST_NOW
    world.media("r1", "img", "001-ab12cd34.png")
    world.objects.sizes.clear()
    online = world.check("online")
    assert online.differences == ()
    assert online.figures["media_without_object_recent"] == 1
    assert len(world.check("quiesced").differences) == 1


@pytest.mark.parametrize("mode", ["quiesced", "online"])
def test_an_empty_object_of_media_is_told(world: World, mode: Mode) -> None:
    uid = world.started("r1")
    world.arrivals.moment = JUST_NOW
    (key,) = world.media("r1", "img", "001-ab12cd34.png", size=0)
    assert world.check(mode).differences == (
        f"1 objects of media in the private bucket are empty: run {uid} key 'img' object '{key}'",
    )


def test_an_object_whose_name_says_that_it_is_empty_may_be(world: World) -> None:
    world.started("r1")
    world.media("r1", "text", "001-e3b0c442.txt", size=0)
    assert world.check().differences == ()


def test_a_missing_file_is_told(world: World) -> None:
    world.started("r1")
    gone = world.save("r1", "model.bin", 7)
    world.save("r1", "other.bin")
    del world.objects.sizes[gone]
    assert world.check().differences == (
        f"1 uploaded files have no object in the private bucket: object '{gone}' of 7 bytes",
    )


def test_a_file_of_another_size_is_told(world: World) -> None:
    world.started("r1")
    cut = world.save("r1", "model.bin", 7)
    world.objects.sizes[cut] = 6
    assert world.check("online").differences == (
        f"1 uploaded files have an object of another size in the private bucket: object '{cut}' of 7 bytes",
    )


def test_an_empty_file_may_be(world: World) -> None:
    world.started("r1")
    world.save("r1", "__init__.py", 0)
    assert world.check().differences == ()


def test_files_that_just_changed_are_tolerated_online_alone(world: World) -> None:
    world.started("r1")
    world.objects.sizes[world.save("r1", "a", 7)] = 6
    del world.objects.sizes[world.save("r1", "b", 7)]
    world.sql("UPDATE files SET updated_at = %s", JUST_NOW)
    online = world.check("online")
    assert online.differences == ()
    assert (online.figures["files_of_other_size_recent"], online.figures["files_without_object_recent"]) == (1, 1)
    assert len(world.check("quiesced").differences) == 2


def test_a_file_that_is_not_uploaded_needs_no_object(world: World) -> None:
    world.started("r1")
    world.objects.sizes.pop(world.save("r1", "a", state="FAILED"))
    found = world.check()
    assert found.differences == ()
    assert (found.figures["files"], found.figures["files_uploaded"]) == (1, 0)


@pytest.mark.parametrize("mode", ["quiesced", "online"])
@pytest.mark.parametrize("kind", ["scalar", "media", "log"])
def test_a_run_that_postgres_never_had_is_told(world: World, mode: Mode, kind: str) -> None:
    world.started("r1")
    newer = {**world.row("r1"), "cuid": "r2", "id": world.row("r1")["id"] + 1}
    world.deliver(
        kind, newer, {"key": "k", "index": 1, "epoch": 1, "message": "m", "data": ["a"] if kind == "media" else 1}
    )
    assert world.check(mode).differences == (
        f"1 runs have rows in ClickHouse and none in PostgreSQL: run r2.{newer['id']} with 1 rows",
    )


def test_a_run_that_came_after_the_snapshot_is_tolerated_online_alone(world: World) -> None:
    world.started("r1")
    newer = {**world.row("r1"), "cuid": "r2", "id": world.row("r1")["id"] + 1}
    world.arrivals.moment = NOW + timedelta(seconds=1)
    world.deliver("scalar", newer, {"key": "k", "index": 1, "data": 1})
    online = world.check("online")
    assert online.differences == ()
    assert online.figures["orphans_newer"] == 1
    assert len(world.check("quiesced").differences) == 1
    world.arrivals.moment = NOW - timedelta(seconds=1)
    world.deliver("scalar", newer, {"key": "k", "index": 2, "data": 1})
    assert len(world.check("online").differences) == 1


def test_a_run_whose_row_is_lost_is_told(world: World) -> None:
    uid = world.started("r1")
    world.scalar("r1", "a")
    world.arrivals.moment = LONG_AGO + timedelta(minutes=6)
    world.scalar("r1", "b")
    world.sql("DELETE FROM experiments")
    assert world.check().differences == (
        f"1 runs have rows in ClickHouse and none in PostgreSQL: run {uid} with 4 rows",
    )


def test_what_comes_for_a_deleted_run_is_counted(world: World) -> None:
    world.started("r1")
    world.scalar("r1", "a")
    row = world.row("r1")
    assert world.client.ask("DELETE", "/api/project/root/p/runs/r1").status == 204
    assert world.check().figures["runs_logged"] == 0
    world.deliver("scalar", row, {"key": "a", "index": 7, "data": 1})
    world.deliver("media", row, {"key": "m", "index": 7, "data": ["001-ab12cd34.png"]})
    found = world.check()
    assert found.differences == ()
    assert found.figures["orphans_remains"] == 1
    assert found.figures["media_names"] == 0


def test_points_of_a_deleted_run_do_not_stand_in_for_one_made_anew(world: World) -> None:
    world.started("r1")
    row = world.row("r1")
    assert world.client.ask("DELETE", "/api/project/root/p/runs/r1").status == 204
    world.deliver("scalar", row, {"key": "loss", "index": 7, "data": 1})
    uid = world.started("r1")
    world.announce("r1", {"loss": "FLOAT"})
    assert world.check().differences == (
        f"1 scalar columns in PostgreSQL have nothing in ClickHouse: run {uid} key 'loss'",
    )
