"""The vault over the real object store: what it keeps, and that nothing in it can be altered unseen."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from recovery.errors import DamagedError, RecoveryError
from recovery.model import CHUNK_BYTES
from recovery.vault.envelope import seal
from recovery.vault.names import chunk_key, manifest_key, verified_key
from recovery.vault.s3 import Bucket, Put
from recovery.vault.vault import Vault
from tests.offline.recovery.locked import LOCKED, SIGNING_KEY, Locked, locked
from tests.offline.recovery.vault_points import NOW, lay, point, verification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.model import File


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("store")) as found:
        yield found


def read(store: Locked, bucket: str, file: File) -> bytes:
    return b"".join(Vault.open(store.target(bucket), write=False).read(file))


def test_streams_come_back_whatever_their_length(store: Locked) -> None:
    vault = store.vault(store.fresh())
    whole = os.urandom(2 * CHUNK_BYTES + 5)
    cases = {"empty": b"", "one": b"x", "exact": whole[:CHUNK_BYTES], "large": whole}
    files = {name: vault.put(name, [content]) for name, content in cases.items()}
    assert {name: b"".join(vault.read(file)) for name, file in files.items()} == cases
    assert {name: len(file.chunks) for name, file in files.items()} == {"empty": 0, "one": 1, "exact": 1, "large": 3}
    assert vault.notes == ()


def test_what_two_points_share_is_sent_once(store: Locked) -> None:
    bucket = store.fresh()
    shared, own = os.urandom(CHUNK_BYTES), [os.urandom(1000), os.urandom(2000)]
    for number, tail in enumerate(own, 1):
        vault = store.vault(bucket)
        vault.publish(point(vault.put("dump", [shared, tail]), number=number))
        assert vault.counters.taken == CHUNK_BYTES + len(tail)
        assert vault.counters.sent == (CHUNK_BYTES if number == 1 else 0) + len(tail)
        assert (vault.counters.new, vault.counters.known) == ((2, 0) if number == 1 else (1, 1))
    assert len(store.keys("chunks/", bucket)) == 3
    assert [listed.state for listed in vault.points()] == ["unverified", "unverified"]
    assert [b"".join(vault.read(vault.point(p.id).parts[0].files[0])) for p in vault.points()] == [
        shared + tail for tail in own
    ]


def test_a_writer_alone_learns_what_is_there_after_it_was_sent(store: Locked) -> None:
    bucket = store.fresh()
    target = store.target(bucket).model_copy(update={"reader": None})
    for sent, new, known in ((3, 1, 1), (3, 0, 2)):
        vault = Vault.open(target, write=True)
        assert vault.put("a", [b"one"]) == vault.put("a", [b"one"])
        assert (vault.counters.sent, vault.counters.new, vault.counters.known) == (sent, new, known)
    assert len(list(store.bucket(bucket).versions("chunks/"))) == 1
    with pytest.raises(RecoveryError, match="no account `reader`"):
        vault.points()
    with pytest.raises(RecoveryError, match="no account `reader`"):
        b"".join(vault.read(vault.put("a", [b"one"])))


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (None, "is missing"),
        (b"", "has 0 bytes instead of 3"),
        (b"on", "has 2 bytes instead of 3"),
        (b"two", "has another content"),
        (b"one more", "is longer than 3 bytes"),
    ],
    ids=["missing", "zero bytes", "truncated", "altered", "longer"],
)
def test_a_chunk_that_is_not_what_was_stored_is_damage(store: Locked, spoiled: bytes | None, message: str) -> None:
    bucket = store.fresh()
    file = store.vault(bucket).put("dump", [b"one"])
    store.replace(chunk_key(file.chunks[0].sha256), spoiled, bucket)
    with pytest.raises(DamagedError, match=message) as caught:
        read(store, bucket, file)
    assert "dump" in str(caught.value)
    assert file.chunks[0].sha256 in str(caught.value)


def test_a_writer_that_lays_something_over_a_chunk_takes_nothing_away(store: Locked) -> None:
    file = store.vault(LOCKED).put("dump", [b"laid over"])
    key = chunk_key(file.chunks[0].sha256)
    store.bucket(LOCKED, "writer").put(key, b"something else", absent=False)
    vault = store.vault(LOCKED)
    assert b"".join(vault.read(file)) == b"laid over"
    assert "another content lies over it" in vault.notes[0]
    with pytest.raises(RecoveryError, match=r"s3:DeleteObject"):
        store.bucket(LOCKED, "writer").delete(key)
    store.bucket(LOCKED, "pruner").delete(key)
    vault = store.vault(LOCKED)
    assert b"".join(vault.read(file)) == b"laid over"
    assert "is hidden and can be read" in vault.notes[0]


@pytest.mark.parametrize("spoiled", [b"", b"on", b"two"], ids=["zero bytes", "truncated", "altered"])
def test_what_lies_wrongly_in_its_place_is_stored_again(store: Locked, spoiled: bytes) -> None:
    bucket = store.fresh()
    file = store.vault(bucket).put("dump", [b"one"])
    store.replace(chunk_key(file.chunks[0].sha256), spoiled, bucket)
    vault = store.vault(bucket)
    assert vault.put("dump", [b"one"]) == file
    assert (vault.counters.healed, vault.counters.new, vault.counters.known) == (1, 1, 0)
    assert "another content lay in its place" in vault.notes[0]
    assert read(store, bucket, file) == b"one"


def test_every_chunk_is_sent_again_on_request(store: Locked) -> None:
    bucket = store.fresh()
    file = store.vault(bucket).put("dump", [b"one"])
    vault = Vault.open(store.target(bucket), write=True, resend=True)
    assert vault.put("dump", [b"one"]) == file
    assert (vault.counters.sent, vault.counters.new) == (3, 1)
    assert len(list(store.bucket(bucket).versions(chunk_key(file.chunks[0].sha256)))) == 2


def test_a_point_is_never_published_twice(store: Locked) -> None:
    vault = store.vault(store.fresh())
    first, second = point(vault.put("a", [b"1"])), point(vault.put("a", [b"2"]))
    assert first.id == second.id
    vault.publish(first)
    with pytest.raises(RecoveryError, match=r"there is one in .*manifest\.json already.*not changed"):
        vault.publish(second)
    assert vault.point(first.id) == first
    now = -timedelta(minutes=1)
    vault.record(verification(first, after=now))
    with pytest.raises(RecoveryError, match="there is one in"):
        vault.record(verification(first, "rows differ", after=now))
    assert vault.verifications(first.id) == (verification(first, after=now),)


class Lossy(Bucket):
    """A target whose answer to the first attempt is lost each time."""

    def put(self, key: str, content: bytes, *, absent: bool = True) -> Put:
        super().put(key, content, absent=absent)
        return replace(super().put(key, content, absent=absent), repeated=True)


def test_an_answer_that_is_lost_makes_no_point_that_is_another(store: Locked) -> None:
    bucket = store.fresh()
    target = store.target(bucket)
    lossy, reader = Lossy(target, target.writer, "writer"), Bucket(target, target.reader, "reader")
    vault = Vault(target.signing_key(), lossy, reader)
    first, second = point(vault.put("a", [b"1"])), point(vault.put("a", [b"2"]))
    vault.publish(first)
    with pytest.raises(RecoveryError, match="an attempt of this run whose answer was lost, or before it"):
        vault.publish(second)
    assert vault.point(first.id) == first
    with pytest.raises(RecoveryError, match="whose answer was lost"):
        Vault(target.signing_key(), lossy).publish(point(number=3))


def test_a_run_that_took_too_long_publishes_nothing(store: Locked) -> None:
    vault = store.vault(store.fresh())
    file = vault.put("a", [b"1"])
    with pytest.raises(RecoveryError, match=r"took .*accepted are 2 days.*nothing was published"):
        vault.publish(point(file, age=timedelta(days=2, minutes=1)))
    with pytest.raises(RecoveryError, match="its id must begin with that"):
        vault.publish(point(file).model_copy(update={"started": NOW - timedelta(hours=1)}))
    assert vault.points() == ()


def altered(content: bytes) -> bytes:
    envelope = json.loads(content)
    return json.dumps({**envelope, "manifest": envelope["manifest"].replace('"online"', '"quiesced"', 1)}).encode()


def unsigned(content: bytes) -> bytes:
    return json.dumps({"manifest": json.loads(content)["manifest"]}).encode()


def foreign(content: bytes) -> bytes:
    del content
    return seal("manifest", point(), b"another key" * 4)


SPOILT = {
    "altered": (altered, "its signature is not that"),
    "truncated": (lambda content: content[:-20], "it is cut off"),
    "empty": (lambda content: content[:0], "it is empty"),
    "unsigned": (unsigned, "it is not signed"),
    "another key": (foreign, "its signature is not that"),
    "no object": (lambda content: b"[" + content + b"]", "no object"),
    "nested": (lambda content: b"[" * 200_000 + content[:0], "it is cut off"),
    "of another point": (
        lambda content: content[:0] + seal("manifest", point(number=2), SIGNING_KEY.encode()),
        "of another point",
    ),
    "another shape": (
        lambda content: content[:0] + seal("manifest", verification(point()), SIGNING_KEY.encode()),
        "with the version of this program",
    ),
    "another record": (
        lambda content: content[:0] + seal("verification", verification(point()), SIGNING_KEY.encode()),
        "it holds no manifest",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_damaged_manifest_is_named_and_hides_no_other(store: Locked, name: str) -> None:
    bucket = store.fresh()
    spoil, message = SPOILT[name]
    good = lay(store, bucket, point(age=timedelta(days=1)))
    bad, key = point(), manifest_key(point().id)
    content = seal("manifest", bad, SIGNING_KEY.encode())
    store.bucket(bucket).put(key, spoil(content))
    vault = store.vault(bucket)
    with pytest.raises(DamagedError, match=message) as caught:
        vault.point(bad.id)
    assert key in str(caught.value)
    assert [(listed.id, listed.state) for listed in vault.points()] == [(good.id, "unverified"), (bad.id, "damaged")]
    latest = vault.latest()
    assert latest.point is not None
    assert (latest.point.id, [listed.id for listed in latest.damaged]) == (good.id, [bad.id])
    assert message in latest.damaged[0].damage
    assert SIGNING_KEY not in str(caught.value)


def test_a_manifest_that_something_lies_over_is_still_the_point(store: Locked) -> None:
    made = point(store.vault(LOCKED).put("a", [b"manifest laid over"]), number=7)
    store.vault(LOCKED).publish(made)
    store.bucket(LOCKED, "writer").put(manifest_key(made.id), b"{}", absent=False)
    vault = store.vault(LOCKED)
    assert vault.point(made.id) == made
    assert "what lies over it is not genuine" in vault.notes[0]
    store.bucket(LOCKED, "pruner").delete(manifest_key(made.id))
    vault = store.vault(LOCKED)
    assert made.id in [listed.id for listed in vault.points() if listed.state == "unverified"]


def test_the_newest_verification_decides_and_one_that_is_altered_does_not_count(store: Locked) -> None:
    bucket = store.fresh()
    first, second = point(age=timedelta(days=2), number=1), point(age=timedelta(days=1), number=2)
    lay(store, bucket, first, verification(first, "rows differ"), verification(first, after=timedelta(hours=3)))
    lay(store, bucket, second, verification(second), verification(second, "rows differ", after=timedelta(hours=3)))
    vault = store.vault(bucket)
    assert [listed.state for listed in vault.points()] == ["verified", "failed"]
    latest = vault.latest_verified()
    assert latest.point is not None
    assert latest.point.id == first.id
    assert [found.good for found in vault.verifications(second.id)] == [True, False]
    # The genuine outcome of another point, and one with the difference taken out.
    good, bad = verification(second, after=timedelta(hours=5)), verified_key(second.id, "20300101T000000Z")
    store.bucket(bucket, "writer").put(bad, seal("verification", good, SIGNING_KEY.encode()))
    forged = verification(second, after=timedelta(hours=6))
    key = verified_key(second.id, forged.started.strftime("%Y%m%dT%H%M%SZ"))
    store.bucket(bucket, "writer").put(key, seal("verification", forged, b"another key" * 4))
    vault = store.vault(bucket)
    assert [listed.state for listed in vault.points()] == ["verified", "failed"]
    assert {("signature" in note, "of another point" in note) for note in vault.notes} == {(True, False), (False, True)}


def test_without_the_right_to_list_there_is_an_error_and_no_empty_list(store: Locked) -> None:
    bucket = store.fresh()
    made = lay(store, bucket, point())
    vault = Vault.open(store.target(bucket, reader="reader-without-list"), write=False)
    for ask in (vault.points, vault.latest_verified, lambda: vault.point(made.id)):
        with pytest.raises(RecoveryError, match=r"s3:ListBucketVersions") as caught:
            ask()
        assert not isinstance(caught.value, DamagedError)


def test_without_the_right_to_get_nothing_is_called_damaged(store: Locked) -> None:
    bucket = store.fresh()
    file = store.vault(bucket).put("a", [b"1"])
    made = lay(store, bucket, point(file))
    vault = Vault.open(store.target(bucket, reader="reader-without-get"), write=False)
    for ask in (vault.points, lambda: vault.point(made.id), lambda: b"".join(vault.read(file))):
        with pytest.raises(RecoveryError, match=r"s3:GetObject") as caught:
            ask()
        assert not isinstance(caught.value, DamagedError)


def test_a_point_that_is_not_there_is_no_damage(store: Locked) -> None:
    vault = store.vault(store.fresh())
    for asked, message in ((point().id, "there is no point"), ("../x", "is no id of a point"), ("", "is no id")):
        with pytest.raises(RecoveryError, match=message) as caught:
            vault.point(asked)
        assert not isinstance(caught.value, DamagedError)
    assert (vault.points(), vault.latest().point, vault.latest_verified().point) == ((), None, None)


def test_strange_objects_between_points_are_noted(store: Locked) -> None:
    bucket = store.fresh()
    made = lay(store, bucket, point())
    for key in (
        "points/99999999T999999Z-00000001/manifest.json",
        "points/readme",
        f"points/{point(number=9).id}/other",
    ):
        store.bucket(bucket).put(key, b"{}")
    vault = store.vault(bucket)
    assert [listed.id for listed in vault.points()] == [made.id]
    assert any("belong to no point" in note for note in vault.notes)


def test_a_stream_that_breaks_ends_the_put(store: Locked) -> None:
    def breaks() -> Iterator[bytes]:
        yield b"some"
        raise ConnectionError("the server went away")

    with pytest.raises(ConnectionError, match="went away"):
        store.vault(store.fresh()).put("dump", breaks())


def test_chunks_lie_under_their_hash(store: Locked) -> None:
    bucket = store.fresh()
    store.vault(bucket).put("a", [b"one"])
    sha = hashlib.sha256(b"one").hexdigest()
    assert store.keys("", bucket) == [f"chunks/76/{sha}"]
    assert sha.startswith("76")
