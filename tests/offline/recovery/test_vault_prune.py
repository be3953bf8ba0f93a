"""Pruning over the real object store: what goes, what stays, and that a run killed anywhere costs nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.vault import names
from recovery.vault.envelope import seal
from recovery.vault.prune import GRACE, Pruned, Pruning, lines, prune
from recovery.vault.s3 import Bucket
from recovery.vault.trial import trial
from recovery.vault.vault import LONGEST_RUN
from tests.offline.recovery.locked import LOCKED, PLAIN, SIGNING_KEY, Locked, locked
from tests.offline.recovery.vault_points import NOW, lay, point, verification
from tests.offline.recovery.vault_prunes import DAY, LATER, ONE, chunks, content, key, run, silent, three

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("store")) as found:
        yield found


def test_points_go_at_once_and_chunks_in_two_steps(store: Locked) -> None:
    bucket = store.fresh()
    (shared, *own), points = three(store, bucket)
    done = run(store, bucket, NOW + timedelta(hours=1))
    assert done.points == (points[0].id, points[1].id)
    assert (done.chunks, done.hidden) == (0, 0)
    assert len(chunks(store, bucket)) == 4
    done = run(store, bucket, LATER)
    assert (done.points, done.chunks, done.hidden, done.bytes) == ((), 0, 2, 0)
    assert content(store, bucket, own[0]) == b"own 0"
    # The marker is as young as this test, and LATER is just when it comes of age.
    done = run(store, bucket, LATER)
    assert (done.chunks, done.hidden, done.shown, done.locked) == (2, 0, 0, 0)
    assert done.bytes == len("own 0") + len("own 1")
    assert chunks(store, bucket) == {key(shared), key(own[2])}
    assert list(store.bucket(bucket).versions(key(own[0]))) == []
    assert content(store, bucket, own[2]) + content(store, bucket, shared) == b"own 2shared"
    assert run(store, bucket, LATER) == Pruned()


def test_a_chunk_that_is_hidden_is_stored_again_by_who_needs_it(store: Locked) -> None:
    bucket = store.fresh()
    vault = store.vault(bucket)
    file = vault.put("a", [b"needed again"])
    lay(store, bucket, point(vault.put("b", [b"other"])))
    assert run(store, bucket, LATER).hidden == 1
    again = store.vault(bucket)
    assert again.put("a", [b"needed again"]) == file
    assert again.counters.new == 1
    # Its point is not published yet. What is on top is as young as a run can be.
    assert run(store, bucket, NOW + GRACE - timedelta(hours=1)).chunks == 0
    assert key(file) in chunks(store, bucket)
    assert content(store, bucket, file) == b"needed again"


def test_a_run_that_met_a_chunk_before_it_was_hidden_gets_it_back(store: Locked) -> None:
    bucket = store.fresh()
    vault = store.vault(bucket)
    file = vault.put("a", [b"met"])
    running = store.vault(bucket)
    assert running.put("a", [b"met"]) == file
    assert running.counters.known == 1
    assert run(store, bucket, LATER).hidden == 1
    running.publish(point(file))
    assert content(store, bucket, file) == b"met"
    done = run(store, bucket, LATER)
    assert (done.shown, done.chunks, done.hidden) == (1, 0, 0)
    assert store.bucket(bucket).get(key(file)) == b"met"


def test_grace_is_longer_than_any_run() -> None:
    assert GRACE >= LONGEST_RUN + DAY


def test_young_chunks_are_left_alone(store: Locked) -> None:
    bucket = store.fresh()
    store.vault(bucket).put("a", [b"of a run that has not published"])
    assert run(store, bucket, NOW + GRACE - timedelta(hours=1)) == Pruned()
    assert len(list(store.bucket(bucket).versions(names.CHUNKS))) == 1


def test_the_last_verified_point_is_kept_with_all_it_needs(store: Locked) -> None:
    bucket = store.fresh()
    (shared, *own), points = three(store, bucket)
    good = verification(points[0])
    store.bucket(bucket, "writer").put(
        names.verified_key(points[0].id, good.started.strftime("%Y%m%dT%H%M%SZ")),
        seal("verification", good, SIGNING_KEY.encode()),
    )
    assert run(store, bucket, LATER).points == (points[1].id,)
    run(store, bucket, LATER)
    assert chunks(store, bucket) == {key(shared), key(own[0]), key(own[2])}
    latest = store.vault(bucket).latest_verified()
    assert latest.point is not None
    assert latest.point.id == points[0].id


def test_chunks_that_an_index_lists_are_needed(store: Locked) -> None:
    bucket = store.fresh()
    vault = store.vault(bucket)
    listed = [vault.put(f"object-{number}", [f"object {number}".encode()]) for number in range(3)]
    text = "".join(file.model_dump_json() + "\n" for file in listed).encode()
    index = vault.put("index", [text[:50], text[50:]])
    lay(store, bucket, point(index=index))
    assert run(store, bucket, LATER).hidden == 0
    assert run(store, bucket, LATER).chunks == 0
    assert chunks(store, bucket) == {key(index), *map(key, listed)}


@pytest.mark.parametrize("text", [b"{}\n", b"no json\n", b'{"path": "x"'], ids=["empty", "text", "cut off"])
def test_an_index_that_is_none_stops_the_deletion_of_chunks(store: Locked, text: bytes) -> None:
    bucket = store.fresh()
    vault = store.vault(bucket)
    vault.put("orphan", [b"orphan"])
    lay(store, bucket, point(index=vault.put("index", [text])))
    with pytest.raises(RecoveryError, match=r"no chunk is deleted.*a line of it is no file"):
        run(store, bucket, LATER)
    assert all(not version.marker for version in store.bucket(bucket).versions(names.CHUNKS))


def test_an_index_that_is_missing_stops_the_deletion_of_chunks(store: Locked) -> None:
    bucket = store.fresh()
    vault = store.vault(bucket)
    vault.put("orphan", [b"orphan"])
    index = vault.put("index", [b"{}"])
    lay(store, bucket, point(index=index))
    store.replace(key(index), None, bucket)
    with pytest.raises(RecoveryError, match=r"no chunk is deleted.*is missing"):
        run(store, bucket, LATER)
    assert all(not version.marker for version in store.bucket(bucket).versions(names.CHUNKS))


def test_a_damaged_manifest_stops_the_deletion_of_chunks_until_it_is_dropped(store: Locked) -> None:
    bucket = store.fresh()
    files, points = three(store, bucket)
    store.replace(names.manifest_key(points[0].id), b"{}", bucket)
    with pytest.raises(RecoveryError, match=rf"no chunk is deleted, since point {points[0].id}.*1 points were deleted"):
        run(store, bucket, LATER)
    assert len(chunks(store, bucket)) == len(files)
    with pytest.raises(RecoveryError, match=rf"{points[2].id}: not a damaged point; accepted.*{points[0].id}"):
        run(store, bucket, LATER, drop=(points[2].id,))
    assert run(store, bucket, LATER, drop=(points[0].id,)).points == (points[0].id,)
    assert run(store, bucket, LATER).chunks == 2


def test_another_signing_key_deletes_nothing(store: Locked) -> None:
    bucket = store.fresh()
    three(store, bucket)
    before = list(store.bucket(bucket).versions(""))
    target = store.target(bucket)
    pruner = Bucket(target, target.pruner, "pruner")
    with pytest.raises(RecoveryError, match="no chunk is deleted"):
        Pruning(pruner, b"another key" * 4, LATER, 7 * DAY, tell=silent).whole(ONE)
    assert list(store.bucket(bucket).versions("")) == before


def test_a_dry_run_says_the_same_and_changes_nothing(store: Locked) -> None:
    bucket = store.fresh()
    three(store, bucket)
    before = list(store.bucket(bucket).versions(""))
    said = run(store, bucket, LATER, dry=True)
    assert list(store.bucket(bucket).versions("")) == before
    assert run(store, bucket, LATER) == said
    assert (len(said.points), said.hidden) == (2, 2)


def test_what_is_hidden_waits_for_its_time(store: Locked) -> None:
    bucket = store.fresh()
    file = store.vault(bucket).put("a", [b"one"])
    assert run(store, bucket, LATER).hidden == 1
    assert run(store, bucket, NOW + GRACE - timedelta(hours=1)) == Pruned()
    assert content(store, bucket, file) == b"one"


@pytest.mark.parametrize("account", ["pruner-without-delete", "pruner-without-versions"])
def test_a_pruner_that_may_not_delete_says_so_and_breaks_nothing(store: Locked, account: str) -> None:
    bucket = store.fresh()
    files, points = three(store, bucket)
    with pytest.raises(RecoveryError, match=r"DeleteObjectVersion of .* as pruner.*AccessDenied"):
        prune(store.target(bucket, pruner=account), rule=ONE, tell=silent)
    assert [listed.id for listed in store.vault(bucket).points()] == [made.id for made in points]
    assert all(content(store, bucket, file) for file in files)


def test_a_bucket_without_versions_is_refused(store: Locked) -> None:
    vault = store.vault(PLAIN)
    vault.put("a", [b"one"])
    with pytest.raises(RecoveryError, match="without a version"):
        run(store, PLAIN, LATER)
    assert len(store.keys(names.CHUNKS, PLAIN)) == 1


class KilledError(Exception):
    """The process was killed."""


class Mortal(Bucket):
    """Dies before its `left`-th deletion from now."""

    left = 0

    def delete(self, key: str, version: str | None = None) -> None:
        if self.left == 0:
            raise KilledError
        self.left -= 1
        super().delete(key, version)


@pytest.mark.parametrize("deletions", range(1, 6))
def test_a_run_that_is_killed_anywhere_leaves_a_target_that_the_next_puts_right(store: Locked, deletions: int) -> None:
    bucket = store.fresh()
    (shared, *own), points = three(store, bucket)
    lay(store, bucket, point(age=9 * DAY, number=9), verification(point(age=9 * DAY, number=9), "rows differ"))
    target = store.target(bucket)
    killed = 0
    # Each run of the two gets so many deletions, again and again: 4 of points, 2 that hide, and 4 for good.
    for _ in range(20):
        mortal = Mortal(target, target.pruner, "pruner")
        mortal.left = deletions
        try:
            Pruning(mortal, target.signing_key(), LATER, 7 * DAY, tell=silent).whole(ONE)
        except KilledError:
            killed += 1
            assert content(store, bucket, shared) + content(store, bucket, own[2]) == b"sharedown 2"
            assert store.vault(bucket).point(points[2].id) == points[2]
            left = [
                listed.state for listed in store.vault(bucket).points() if listed.id == point(age=9 * DAY, number=9).id
            ]
            assert left in ([], ["failed"])
    assert killed >= 1
    assert run(store, bucket, LATER) == Pruned()
    assert set(store.keys("", bucket)) == {names.manifest_key(points[2].id), key(shared), key(own[2])}
    assert not any(version.marker for version in store.bucket(bucket).versions(""))


def test_what_trials_left_behind_goes_when_it_is_old(store: Locked) -> None:
    bucket = store.fresh()
    store.bucket(bucket, "writer").put(f"{names.PROBES}x", b"one")
    store.bucket(bucket, "writer").put(f"{names.PROBES}x", b"two", absent=False)
    run(store, bucket, NOW)
    assert store.keys(names.PROBES, bucket) == [f"{names.PROBES}x"]
    assert run(store, bucket, LATER).bytes == 6
    assert store.keys(names.PROBES, bucket) == []
    probe = trial(store.target(LOCKED)).probe
    run(store, LOCKED, NOW + GRACE - DAY)
    assert probe in store.keys(names.PROBES, LOCKED)


def test_what_is_no_chunk_is_left_alone_and_said(store: Locked) -> None:
    bucket = store.fresh()
    lay(store, bucket, point())
    for name in ("chunks/readme", f"chunks/aa/{'b' * 64}", f"chunks/aa/{'a' * 63}", f"chunks/aa/{'A' * 64}"):
        store.bucket(bucket).put(name, b"x")
    done = run(store, bucket, LATER)
    assert done.hidden == 0
    assert done.notes == ("4 objects below chunks/ are no chunks and were left alone; look for their writer",)


def test_a_needed_chunk_that_is_missing_is_said(store: Locked) -> None:
    bucket = store.fresh()
    file = store.vault(bucket).put("a", [b"one"])
    lay(store, bucket, point(file))
    store.replace(key(file), None, bucket)
    store.bucket(bucket, "pruner").delete(key(file))
    assert "is needed by a point and is missing" in run(store, bucket, LATER).notes[0]


def test_lines_of_a_stream() -> None:
    assert list(lines(iter([b'{"a"', b': 1}\n{"b": 2}', b"\n\n", b'{"c": 3}']))) == [
        json.dumps({name: number}).encode() for name, number in (("a", 1), ("b", 2), ("c", 3))
    ]
    assert list(lines(iter([]))) == []
