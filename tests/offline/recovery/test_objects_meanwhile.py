"""What happens to a bucket while it is read, and a listing that cannot be relied on."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.stores.objects.bucket import Bucket, Listed
from tests.offline.recovery.buckets import LIVE, buckets, index, silent
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recovery.model import File
    from tests.offline.recovery.buckets import Buckets


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buckets]:
    with buckets(tmp_path_factory.mktemp("objects")) as found:
        yield found


@pytest.fixture
def store(running: Buckets) -> Buckets:
    return running.emptied()


def refusing(running: Buckets) -> str:
    with pytest.raises(RecoveryError) as found:
        running.store().take(Memory(), "quiesced", silent)
    return str(found.value)


class Meddling(Memory):
    """Does something to the bucket once, when an object is put."""

    def __init__(self, when: str, what: Callable[[], None], *, before: bool = False) -> None:
        super().__init__()
        self._when, self._what, self._before, self._done = when, what, before, False

    def put(self, path: str, pieces: Iterable[bytes]) -> File:
        now = path == self._when and not self._done
        self._done |= now
        if now and self._before:
            self._what()
        found = super().put(path, pieces)
        if now and not self._before:
            self._what()
        return found


def test_an_object_written_meanwhile_is_read_again_online_and_refused_when_quiesced(store: Buckets) -> None:
    for mode, fails in (("online", False), ("quiesced", True)):
        store.put("a", b"old")
        vault = Meddling("a", lambda: store.put("a", b"newer"))
        if fails:
            with pytest.raises(RecoveryError, match=r"changed while writers should be stopped.*new or written \['a'\]"):
                store.store().take(vault, "quiesced", silent)
        else:
            part = store.store().take(vault, "online", silent)
            assert index(vault, part)["a"]["sha256"] == hashlib.sha256(b"newer").hexdigest(), mode


def test_an_object_that_is_always_written_ends_the_run(store: Buckets) -> None:
    store.put("a", b"0")
    count = 0

    class Restless(Memory):
        def put(self, path: str, pieces: Iterable[bytes]) -> File:
            nonlocal count
            found = super().put(path, pieces)
            if path == "a":
                count += 1
                store.put("a", str(count).encode())
            return found

    with pytest.raises(RecoveryError, match="was written each of the 4 times"):
        store.store().take(Restless(), "online", silent)
    assert count == 5


def test_a_new_object_is_taken_online_and_refused_when_quiesced(store: Buckets) -> None:
    store.put("a", b"one")
    vault = Meddling("a", lambda: store.put("b", b"new"))
    part = store.store().take(vault, "online", silent)
    assert list(index(vault, part)) == ["a", "b"]
    store.client.remove_object(LIVE, "b")
    with pytest.raises(RecoveryError, match=r"new or written \['b'\]"):
        store.store().take(Meddling("a", lambda: store.put("b", b"new")), "quiesced", silent)


def test_an_object_that_vanishes_is_left_out_online_and_refused_when_quiesced(
    store: Buckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a", b"one")
    real = Bucket.listed

    def listed(self: Bucket, prefix: str = "", *, old: bool = False) -> Iterator[Listed]:
        yield from real(self, prefix, old=old)
        if not old:
            yield Listed("gone", 4, "x")

    monkeypatch.setattr(Bucket, "listed", listed)
    vault = Memory()
    part = store.store().take(vault, "online", silent)
    assert list(index(vault, part)) == ["a"]
    assert part.left_out[1:] == ("object 'gone': went away between being listed and being read",)
    assert "object 'gone': went away" in refusing(store)


def test_a_deletion_after_the_reading_is_seen_when_quiesced(store: Buckets) -> None:
    store.put("a", b"one")
    with pytest.raises(RecoveryError, match=r"gone \['a'\]"):
        store.store().take(Meddling("a", lambda: store.client.remove_object(LIVE, "a")), "quiesced", silent)


def test_a_listing_that_drops_or_repeats_a_line_is_found_out(store: Buckets, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("a", "b"):
        store.put(key, b"one")
    real = Bucket.listed

    def dropping(self: Bucket, prefix: str = "", *, old: bool = False) -> Iterator[Listed]:
        return (found for found in real(self, prefix, old=old) if old or found.key != "b")

    def repeating(self: Bucket, prefix: str = "", *, old: bool = False) -> Iterator[Listed]:
        yield from real(self, prefix, old=old)
        yield from real(self, prefix, old=old)

    monkeypatch.setattr(Bucket, "listed", dropping)
    assert "new or written ['b']" in refusing(store)
    vault = Memory()
    assert list(index(vault, store.store().take(vault, "online", silent))) == ["a", "b"]
    monkeypatch.setattr(Bucket, "listed", repeating)
    assert "stands in the listing twice" in refusing(store)


def test_a_size_that_is_not_what_was_listed_is_refused(store: Buckets, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("a", b"one")
    real = Bucket.listed
    monkeypatch.setattr(
        Bucket,
        "listed",
        lambda self, prefix="", *, old=False: (Listed(one.key, 9, one.etag) for one in real(self, prefix, old=old)),
    )
    assert "was listed with 9 bytes and read with 3" in refusing(store)


def test_a_key_that_no_client_can_ask_for_is_never_left_out_in_silence(
    store: Buckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Bucket, "listed", lambda _self, _prefix="", *, old=False: iter([Listed("x/../y", 1, str(old))][: not old])
    )
    assert "`.` or `..` in its path" in refusing(store)
    part = store.store().take(Memory(), "online", silent)
    assert any("x/../y" in sentence for sentence in part.left_out)
