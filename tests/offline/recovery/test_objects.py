"""A bucket is taken whole, or the run fails: nothing is missing in silence."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from recovery.errors import DamagedError, RecoveryError
from recovery.stores.objects.bucket import Bucket
from tests.offline.recovery.buckets import LIVE, NO_LIST, SCRATCH, buckets, index, silent
from tests.offline.recovery.vaults import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.recovery.buckets import Buckets

ODD = (
    "a b/c d.png",
    " lead",
    "trail ",
    "ü/日本/😀",
    "a+b",
    "100%",
    "p%20q",
    "q?x=1&y#z",
    "a..b/...",
    "new\nline\ttab",
    "star*'\"<>",
    "dir/",
    "dir/inner",
    "a-b",
    "a/b",
    ".hidden/x",
    "/".join(["k" * 255, "l" * 255, "m" * 255, "n" * 255, "o"])[:1024],
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buckets]:
    with buckets(tmp_path_factory.mktemp("objects")) as found:
        yield found


@pytest.fixture
def store(running: Buckets) -> Buckets:
    return running.emptied()


def refusing(running: Buckets, account: str = "swanlab", bucket: str = LIVE) -> str:
    with pytest.raises(RecoveryError) as found:
        running.store(bucket, account).take(Memory(), "quiesced", silent)
    return str(found.value)


def test_every_odd_key_and_the_empty_object_are_taken_and_restored_alike(store: Buckets) -> None:
    contents = {key: b"" if key.endswith("/") else key.encode() for key in ODD} | {"empty": b""}
    for key, content in contents.items():
        store.put(key, content)
    assert max(len(key.encode()) for key in contents) == 1024
    vault = Memory()
    part = store.store().take(vault, "quiesced", silent)
    lines = index(vault, part)
    assert {key: line["sha256"] for key, line in lines.items()} == {
        key: hashlib.sha256(content).hexdigest() for key, content in contents.items()
    }
    assert (lines["empty"]["chunks"], lines["empty"]["size"]) == ([], 0)
    assert (part.figures["objects"], part.figures["bytes"]) == (len(contents), sum(map(len, contents.values())))
    assert "SeaweedFS" in part.version
    target = store.store(SCRATCH)
    target.restore(part, vault, silent)
    assert target.compare(part, vault).differences == ()
    target.promote(force=False)
    assert store.own(SCRATCH) == contents


def test_what_is_known_of_two_objects_gives_the_figures_by_hand(store: Buckets) -> None:
    store.put("b", b"two")
    store.put("a", b"one")
    vault = Memory()
    part = store.store().take(vault, "quiesced", silent)
    text = "".join(
        json.dumps([key, 3, hashlib.sha256(content).hexdigest()]) + "\n"
        for key, content in (("a", b"one"), ("b", b"two"))
    )
    assert part.figures["content"] == hashlib.sha256(text.encode()).hexdigest()
    assert (part.store, part.kind, part.figures["objects"], part.figures["bytes"]) == ("media", "objects", 2, 6)
    assert list(index(vault, part)) == ["a", "b"]


def test_unchanged_objects_are_not_sent_again_and_a_large_one_is_cut(store: Buckets) -> None:
    large = bytes(range(256)) * (17 * 2**20 // 256)
    store.put("large", large)
    vault = Memory()
    first = store.store().take(vault, "quiesced", silent)
    sent = vault.sent
    second = store.store().take(vault, "quiesced", silent)
    assert (vault.sent, second) == (sent, first)
    assert [chunk["size"] for chunk in index(vault, first)["large"]["chunks"]] == [16 * 2**20, 2**20]
    target = store.store(SCRATCH)
    target.restore(first, vault, silent)
    assert target.compare(first, vault).differences == ()
    target.promote(force=False)
    assert store.get("large", SCRATCH) == large


def test_headers_are_kept_and_content_that_claims_an_encoding_is_not_decoded(store: Buckets) -> None:
    store.put(
        "x.css", b"not gzip", type="text/css", Content_Encoding="gzip", Cache_Control="no-store", x_amz_meta_own="v1"
    )
    vault = Memory()
    part = store.store().take(vault, "quiesced", silent)
    target = store.store(SCRATCH)
    target.restore(part, vault, silent)
    assert target.compare(part, vault).differences == ()
    target.promote(force=False)
    found = store.client.stat_object(SCRATCH, "x.css")
    headers = {name.lower(): value for name, value in (found.metadata or {}).items()}
    served = {name: headers[name] for name in ("content-encoding", "cache-control", "x-amz-meta-own")}
    assert served == {"content-encoding": "gzip", "cache-control": "no-store", "x-amz-meta-own": "v1"}
    assert (found.content_type, store.get("x.css", SCRATCH)) == ("text/css", b"not gzip")


def test_an_empty_bucket_is_a_part_of_no_objects(store: Buckets) -> None:
    vault = Memory()
    part = store.store().take(vault, "quiesced", silent)
    assert (part.figures["objects"], index(vault, part)) == (0, {})
    target = store.store(SCRATCH)
    target.restore(part, vault, silent)
    assert target.compare(part, vault).differences == ()


def test_more_than_two_pages_are_complete(store: Buckets) -> None:
    expected = [f"many/{number % 7}/{number:05}" for number in range(2100)]
    for key in expected:
        store.put(key, b"x")
    vault = Memory()
    part = store.store().take(vault, "quiesced", silent)
    assert list(index(vault, part)) == sorted(expected)


def test_who_may_not_list_gets_an_error_and_not_an_empty_part(store: Buckets) -> None:
    store.put("a", b"one")
    said = refusing(store, account=NO_LIST)
    assert "cannot be listed: AccessDenied" in said
    assert "ListBucket" in said


def test_a_bucket_that_is_not_there_is_an_error(store: Buckets) -> None:
    assert "cannot be listed" in refusing(store, bucket="typo-in-name")


def test_a_store_that_does_not_answer_is_an_error_without_keys_in_it(store: Buckets) -> None:
    (store.work / "bad").write_text("WRONGSECRETCANARY", encoding="utf-8")
    settings = store.settings().model_copy(update={"secret_key_file": str(store.work / "bad")})
    with pytest.raises(RecoveryError, match="SignatureDoesNotMatch") as found:
        list(Bucket(settings).listed())
    assert "CANARY" not in f"{found.value!r} {found.value.__cause__!r}"
    empty = store.work / "empty"
    empty.write_text("\n", encoding="utf-8")
    with pytest.raises(RecoveryError, match=r"is empty; accepted .* the secret key of bucket"):
        Bucket(settings.model_copy(update={"secret_key_file": str(empty)}))


def test_a_point_that_lacks_a_chunk_or_its_list_cannot_be_restored(store: Buckets) -> None:
    store.put("a", b"one")
    vault = Memory()
    part = store.store().take(vault, "quiesced", silent)
    target = store.store(SCRATCH)
    with pytest.raises(DamagedError, match="no list of objects"):
        target.restore(part.model_copy(update={"index": None}), vault, silent)
    assert part.index is not None
    with pytest.raises(DamagedError, match="cannot be read"):
        target.restore(
            part.model_copy(
                update={
                    "index": part.index.model_copy(
                        update={"chunks": (), "size": 0, "sha256": hashlib.sha256(b"").hexdigest()}
                    )
                }
            ),
            vault,
            silent,
        )
    vault.kept[hashlib.sha256(b"one").hexdigest()] = b"two"
    with pytest.raises(DamagedError, match="is not what was stored"):
        target.restore(part, vault, silent)
    with pytest.raises(RecoveryError, match="no complete copy"):
        target.promote(force=True)
    assert store.own(SCRATCH) == {}
