"""The copy beside is compared, takes its place, gives it back; and a run that was killed anywhere goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery.errors import RecoveryError
from recovery.stores.objects import beside, place
from recovery.stores.objects.beside import name_of
from recovery.stores.objects.bucket import Bucket
from tests.offline.recovery.buckets import LIVE, NO_WRITE, SCRATCH, buckets, silent
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recovery.model import Part
    from recovery.stores.objects import Objects
    from tests.offline.recovery.buckets import Buckets

RESTORED, REPLACED = ".plumbline-restored/", ".plumbline-replaced/"
CONTENTS = {"a": b"one", "b/c": b"two", "empty": b""}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buckets]:
    with buckets(tmp_path_factory.mktemp("objects")) as found:
        yield found


@pytest.fixture
def store(running: Buckets) -> Buckets:
    running.emptied()
    for key, content in CONTENTS.items():
        running.put(key, content, x_amz_meta_own="v1")
    return running


def taken(store: Buckets) -> tuple[Memory, Part]:
    vault = Memory()
    return vault, store.store().take(vault, "quiesced", silent)


def restored(store: Buckets, bucket: str = SCRATCH) -> tuple[Objects, Memory, Part]:
    vault, part = taken(store)
    target = store.store(bucket)
    target.restore(part, vault, silent)
    return target, vault, part


def spoil(store: Buckets, key: str, content: bytes | None) -> None:
    name = RESTORED + name_of(key)
    if content is None:
        store.client.remove_object(SCRATCH, name)
    else:
        store.put(name, content, SCRATCH, x_amz_meta_own="v1")


def test_restored_twice_is_the_same_and_leaves_what_others_have_alone(store: Buckets) -> None:
    store.put("other", b"mine", SCRATCH)
    target, vault, part = restored(store)
    once = store.keys(bucket=SCRATCH)
    store.put(f"{RESTORED}objects/stray", b"x", SCRATCH)
    store.put(f"{RESTORED}stray", b"x", SCRATCH)
    target.restore(part, vault, silent)
    assert store.keys(bucket=SCRATCH) == once
    found = target.compare(part, vault)
    assert (found.differences, dict(found.figures)) == ((), part.figures)
    assert store.own(SCRATCH) == {"other": b"mine"}


@pytest.mark.parametrize(
    ("key", "content", "said"),
    [
        ("a", None, "media: object 'a' is missing"),
        ("a", b"", "media: object 'a' has 0 bytes, the restore point says 3"),
        ("a", b"onf", "media: object 'a' has SHA-256 "),
        ("empty", b"x", "media: object 'empty' has 1 bytes, the restore point says 0"),
        ("empty", None, "media: object 'empty' is missing"),
        ("extra", b"x", "is in the copy and in no restore point"),
    ],
)
def test_every_fault_of_the_copy_is_named(store: Buckets, key: str, content: bytes | None, said: str) -> None:
    target, vault, part = restored(store)
    spoil(store, key, content)
    found = target.compare(part, vault).differences
    assert any(said in line for line in found), found


def test_other_headers_are_a_difference(store: Buckets) -> None:
    target, vault, part = restored(store)
    store.put(RESTORED + name_of("a"), b"one", SCRATCH, x_amz_meta_own="v2")
    found = target.compare(part, vault)
    assert any("'a' is served with other headers" in line for line in found.differences)
    assert any("headers is" in line for line in found.differences)


def test_a_copy_without_its_list_is_not_a_copy(store: Buckets) -> None:
    target, vault, part = restored(store)
    store.client.remove_object(SCRATCH, f"{RESTORED}list.jsonl")
    assert any("no complete copy" in line for line in target.compare(part, vault).differences)
    store.put(f"{RESTORED}list.jsonl", b'{"end": 3}\n', SCRATCH)
    with pytest.raises(RecoveryError, match="has 0 objects and says 3"):
        target.promote(force=True)
    assert store.own(SCRATCH) == {}


def test_figures_of_the_part_are_held_against_the_copy(store: Buckets) -> None:
    target, vault, part = restored(store)
    for name in ("objects", "bytes", "content", "headers"):
        other = part.model_copy(update={"figures": {**part.figures, name: 99}})
        assert any(f"media: {name} is " in line for line in target.compare(other, vault).differences), name


def test_promoted_demoted_and_promoted_again(store: Buckets) -> None:
    target, vault, part = restored(store)
    store.put("other", b"mine", SCRATCH)
    assert "3 objects put in their place" in target.promote(force=False)
    assert store.own(SCRATCH) == {**CONTENTS, "other": b"mine"}
    before = store.keys(bucket=SCRATCH)
    target.promote(force=False)
    assert (store.keys(bucket=SCRATCH), store.own(SCRATCH)) == (before, {**CONTENTS, "other": b"mine"})
    target.demote()
    assert store.own(SCRATCH) == {"other": b"mine"}
    assert "nothing was promoted" in target.demote()
    assert target.compare(part, vault).differences == ()
    target.promote(force=False)
    target.confirm()
    target.discard()
    target.confirm()
    target.discard()
    assert store.keys(bucket=SCRATCH) == [*CONTENTS, "other"]


def test_what_is_there_with_other_content_is_refused_and_with_force_kept(store: Buckets) -> None:
    target, _, _ = restored(store)
    held = {"a": b"mine", "b/c": b"two", "other": b"x"}
    for key, content in held.items():
        store.put(key, content, SCRATCH, type="text/x-mine")
    with pytest.raises(RecoveryError, match=r"1 objects hold something else than the restore point, first \['a'\]"):
        target.promote(force=False)
    assert (store.own(SCRATCH), store.keys(REPLACED, SCRATCH)) == (held, [])
    assert "2 objects put in their place by this promotion, 1 were there already" in target.promote(force=True)
    assert store.own(SCRATCH) == {**CONTENTS, "other": b"x"}
    assert store.get(REPLACED + name_of("a"), SCRATCH) == b"mine"
    with pytest.raises(RecoveryError, match="neither confirmed nor put back"):
        target.discard()
    target.demote()
    assert store.own(SCRATCH) == held
    assert store.client.stat_object(SCRATCH, "a").content_type == "text/x-mine"
    assert store.keys(REPLACED, SCRATCH) == []


def test_without_a_copy_nothing_is_promoted(store: Buckets) -> None:
    target = store.store(SCRATCH)
    with pytest.raises(RecoveryError, match="no complete copy"):
        target.promote(force=True)


def test_the_next_point_holds_neither_the_copy_nor_what_was_replaced(store: Buckets) -> None:
    target, vault, part = restored(store, LIVE)
    store.put("a", b"newer")
    target.promote(force=True)
    assert store.keys(REPLACED) != []
    again = store.store().take(Memory(), "quiesced", silent)
    assert again.figures == part.figures
    with pytest.raises(RecoveryError, match="neither confirmed nor put back"):
        target.restore(part, vault, silent)


def test_what_was_written_after_the_promotion_is_never_lost(store: Buckets) -> None:
    target, _, _ = restored(store)
    store.put("a", b"before", SCRATCH)
    target.promote(force=True)
    store.put("a", b"after", SCRATCH)
    with pytest.raises(RecoveryError, match="'a' was written after an earlier promotion"):
        target.promote(force=True)
    assert "put back, but for 1 objects that were written after the promotion and stay (first: 'a')" in target.demote()
    assert store.own(SCRATCH) == {"a": b"after"}
    assert store.get(REPLACED + name_of("a"), SCRATCH) == b"before"
    target.confirm()
    assert store.keys(REPLACED, SCRATCH) == []


class Killed(BaseException):
    """The program ends here."""


def dying(monkeypatch: pytest.MonkeyPatch, at: int) -> Callable[[], None]:
    """Ends the program before its write number `at`. Returns how to undo that."""
    count = 0
    put, delete = Bucket.put, Bucket.delete

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def called(*values: object) -> object:
            nonlocal count
            count += 1
            if count == at:
                raise Killed
            return real(*values)

        return called

    monkeypatch.setattr(Bucket, "put", counted(put))
    monkeypatch.setattr(Bucket, "delete", counted(delete))

    def back() -> None:
        monkeypatch.setattr(Bucket, "put", put)
        monkeypatch.setattr(Bucket, "delete", delete)

    return back


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread, so that a write has a number."""
    monkeypatch.setattr(beside, "THREADS", 2)
    monkeypatch.setattr(place, "THREADS", 2)


@pytest.mark.usefixtures("one_by_one")
def test_killed_before_any_write_of_a_restore_the_next_one_is_whole(
    store: Buckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, part = taken(store)
    store.put("a", b"mine", SCRATCH)
    target = store.store(SCRATCH)
    ended = False
    for at in range(1, 20):
        back = dying(monkeypatch, at)
        try:
            target.restore(part, vault, silent)
            ended = True
        except Killed:
            back()
            assert any("no complete copy" in line for line in target.compare(part, vault).differences), at
        back()
        assert store.own(SCRATCH) == {"a": b"mine"}
        target.restore(part, vault, silent)
        assert target.compare(part, vault).differences == (), at
        if ended:
            break
    assert ended
    assert at > len(CONTENTS) + 2


@pytest.mark.usefixtures("one_by_one")
def test_killed_before_any_write_of_promote_demote_or_confirm_the_next_run_ends_it(
    store: Buckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, _, _ = restored(store)
    held = {"a": b"mine", "other": b"x"}
    for key, content in held.items():
        store.put(key, content, SCRATCH)

    def promote() -> str:
        return target.promote(force=True)

    kills = dict[str, int]()
    steps: dict[str, tuple[Callable[[], str], dict[str, bytes]]] = {
        "promote": (promote, {**CONTENTS, "other": b"x"}),
        "demote": (target.demote, held),
        "promote again": (promote, {**CONTENTS, "other": b"x"}),
        "confirm": (target.confirm, {**CONTENTS, "other": b"x"}),
    }
    for name, (step, expected) in steps.items():
        for at in range(1, 20):
            back = dying(monkeypatch, at)
            try:
                step()
            except Killed:
                back()
                kills[name] = kills.get(name, 0) + 1
                assert set(store.own(SCRATCH).values()) <= {*CONTENTS.values(), *held.values()}
                if at % 2:
                    continue
                step()
            back()
            assert store.own(SCRATCH) == expected, (name, at)
            break
        assert store.own(SCRATCH) == expected, name
    assert kills.keys() == steps.keys()
    assert sum(kills.values()) >= 8
    assert store.keys(REPLACED, SCRATCH) == []


def test_an_account_that_may_not_write_is_refused_and_says_what_it_needs(store: Buckets) -> None:
    vault, part = taken(store)
    with pytest.raises(RecoveryError, match=r"AccessDenied; allow DeleteObject"):
        store.store(SCRATCH, NO_WRITE).restore(part, vault, silent)
    assert store.keys(bucket=SCRATCH) == []
