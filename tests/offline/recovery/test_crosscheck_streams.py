"""Sorting, merging, and a check of more than it may hold in memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recovery.crosscheck import merging, sorting
from recovery.crosscheck.merging import Match
from recovery.crosscheck.model import PRIVATE, Row
from recovery.errors import RecoveryError
from tests.offline.recovery import crosscheck_site
from tests.offline.recovery.crosscheck_site import Stores, World, file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.model import File

_MANY = 100_000


def _rows(text: str) -> list[Row]:
    return [Row((letter,), {"at": number}) for number, letter in enumerate(text)]


@pytest.mark.parametrize("count", [0, 1, 99, 1000])
def test_sorting_gives_every_row_once_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(sorting, "_RUN", 7)
    monkeypatch.setattr(sorting, "_MOST_FILES", 3)
    keys = [f"{number:05}/é\n'\u2028" for number in range(count)]
    shuffled = random.Random(6).sample(keys, count)  # noqa: S311  # no secret
    rows = sorting.in_order((Row((key,), {"size": key}) for key in shuffled), tmp_path)
    assert [(row.key, row.fields) for row in rows] == [((key,), {"size": key}) for key in keys]
    assert list(tmp_path.iterdir()) == []


def test_long_keys_end_a_run_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_RUN_CHARACTERS", 10)
    rows = sorting.in_order((Row((key * 9,), {}) for key in "cab"), tmp_path)
    assert [row.key[0][0] for row in rows] == ["a", "b", "c"]


def test_the_order_is_that_of_bytes(tmp_path: Path) -> None:
    keys = ["b", "a/x", "a-b", "a", "Z", "é", "日", "\U0001f600", "\uffee", "aa"]
    rows = sorting.in_order((Row((key,), {}) for key in keys), tmp_path)
    assert [row.key[0] for row in rows] == sorted(keys, key=str.encode)


def test_matches() -> None:
    first, second, targets = _rows("abbd"), _rows("bc"), _rows("abce")
    found = list(merging.matches([first, second], targets))
    assert found == [
        Match(0, first[0], targets[0]),
        Match(0, first[1], targets[1]),
        Match(0, first[2], targets[1]),
        Match(1, second[0], targets[1]),
        Match(1, second[1], targets[2]),
        Match(0, first[3], None),
        Match(-1, None, targets[3]),
    ]


def test_matches_of_nothing() -> None:
    targets = _rows("ab")
    assert list(merging.matches([], targets)) == [Match(-1, None, target) for target in targets]
    assert list(merging.matches([_rows("a"), []], [])) == [Match(0, _rows("a")[0], None)]
    assert list(merging.matches([[]], [])) == []


def test_owned_leaves_out_rows_without_an_owner() -> None:
    owners = [Row((name,), {}) for name in ("b", "d")]
    rows = [Row((name, "k"), {}) for name in ("a", "b", "b", "c", "d", "e")]
    assert [(owner.key, row.key) for owner, row in merging.owned(owners, rows)] == [
        (("b",), ("b", "k")),
        (("b",), ("b", "k")),
        (("d",), ("d", "k")),
    ]


def test_a_key_below_the_one_before_is_an_error() -> None:
    assert len(list(merging.ordered(_rows("aab"), "x"))) == 3
    with pytest.raises(RecoveryError, match=r"x: .*a.* comes behind .*b"):
        list(merging.ordered(_rows("aba"), "x"))


@pytest.fixture(scope="module")
def world(shared_stores: Stores) -> Iterator[World]:
    with crosscheck_site.world(shared_stores) as found:
        yield found


def _fill(world: World, uid: str, run: int) -> None:
    """A series, a file, and an image under every number; one of each has no counterpart."""
    world.sql(
        "INSERT INTO columns (experiment_id, key, type, class, name, created_at) SELECT %s, 'key/' || n, 'FLOAT',"
        " 'CUSTOM', '', '2026-01-01' FROM generate_series(0, %s) n",
        run,
        _MANY - 1,
    )
    world.sql(
        "INSERT INTO files (experiment_id, path, size, md5, mime_type, state, updated_at) SELECT %s, 'f' || n, n, '',"
        " '', 'UPLOADED', '2026-01-01' FROM generate_series(0, %s) n",
        run,
        _MANY - 1,
    )
    old = 2**64 - 1 - 1_700_000_000_000_000_000
    world.clickhouse.execute(
        f"INSERT INTO scalar (uid, key, step, precedence) SELECT '{uid}', concat('key/', toString(number)), 1,"  # noqa: S608  # values of the test
        f" {old} - number FROM numbers({_MANY}) WHERE number != 77777"
    )
    world.clickhouse.execute(
        f"INSERT INTO media (uid, key, step, data, precedence) SELECT '{uid}', 'img', number,"  # noqa: S608  # values of the test
        f" [concat('m', toString(number))], {old} - number FROM numbers({_MANY})"
    )


def _peak() -> int:
    """Most bytes that were resident at once."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def test_a_check_of_many_holds_few(world: World) -> None:
    uid = world.started("r1")
    world.announce("r1", {"img": "IMAGE"})
    row = world.row("r1")
    _fill(world, uid, row["id"])
    top = f"{row['project_cuid']}/r1/"

    def objects() -> Iterator[File]:
        for number in reversed(range(_MANY)):
            if number != 555:
                yield file(f"{top}m{number}", 1)
            yield file(f"{top}files/f{number}", number + (number == 4242))
        yield file(f"{top}exports/x.csv", 1)

    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from what is resident now
    before = _peak()
    found = world.check(buckets={PRIVATE: objects()})
    grown = _peak() - before
    assert found.differences == (
        f"1 scalar columns in PostgreSQL have nothing in ClickHouse: run {uid} key 'key/77777'",
        f"1 names in rows of media have no object in the private bucket: run {uid} key 'img' object '{top}m555'",
        "1 uploaded files have an object of another size in the private bucket:"
        f" object '{top}files/f4242' of 4242 bytes",
    )
    names = ("scalar_columns", "media_names", "files_uploaded", "objects_referenced", "objects_unreferenced")
    assert [found.figures[name] for name in names] == [_MANY, _MANY, _MANY, 2 * _MANY - 1, 1]
    # Two hundred thousand rows of either side would be more than a hundred million bytes.
    assert grown < 48 * 1024**2, grown
