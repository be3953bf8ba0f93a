"""The real object store with our very flags: who gets in, what survives, what is refused."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import requests
from minio.error import S3Error

from tests.offline.components.object_store.program import Store
from tests.offline.components.object_store.test_manifests import ARGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PUBLIC, PRIVATE = "swanlab-public", "swanlab-private"


def put(store: Store, bucket: str, name: str, content: bytes, generation: int = 1) -> None:
    store.client("swanlab", generation).put_object(bucket, name, io.BytesIO(content), len(content))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store for the tests that only send requests."""
    store = Store(tmp_path_factory.mktemp("store"))
    with store.running(ARGS):
        yield store


def test_nobody_without_a_key_gets_further_than_public_objects(running: Store) -> None:
    put(running, PUBLIC, "avatar.png", b"seen")
    put(running, PRIVATE, "media/1.png", b"hidden")
    answers = {
        (method, path): running.anybody(method, path, b"x" if method in ("PUT", "POST") else None).status_code
        for method, path in (
            ("GET", f"{PUBLIC}/avatar.png"),
            ("GET", f"{PRIVATE}/media/1.png"),
            ("PUT", f"{PUBLIC}/new"),
            ("PUT", f"{PUBLIC}/avatar.png"),
            ("DELETE", f"{PUBLIC}/avatar.png"),
            ("POST", f"{PUBLIC}/new?uploads"),
            ("PUT", f"{PUBLIC}?acl"),
            ("PUT", f"{PUBLIC}?policy"),
            ("PUT", f"{PUBLIC}?cors"),
            ("GET", PUBLIC),
            ("GET", ""),
            ("PUT", "another"),
            ("DELETE", PUBLIC),
        )
    }
    assert answers.pop(("GET", f"{PUBLIC}/avatar.png")) == 200
    assert set(answers.values()) == {403}, answers
    # A deletion of many is answered with one verdict per object, and 200 over all (AWS S3, DeleteObjects).
    many = running.anybody("POST", f"{PUBLIC}?delete", "<Delete><Object><Key>avatar.png</Key></Object></Delete>")
    assert "<Code>AccessDenied</Code>" in many.text
    assert running.anybody("GET", f"{PUBLIC}/avatar.png").content == b"seen"


def test_signed_addresses_work_as_the_sdk_uses_them(running: Store) -> None:
    """It sends whatever Content-Type it guesses and no other header that could be part of a signature."""
    client = running.client("swanlab")
    for kind in ("image/png", "text/plain", "application/octet-stream", "audio/x-wav"):
        signed = client.get_presigned_url("PUT", PRIVATE, f"media/{kind}")
        sent = requests.put(signed, data=kind.encode(), headers={"Content-Type": kind}, timeout=60)
        assert (sent.status_code, bool(sent.headers["ETag"])) == (200, True)
        read = requests.get(client.get_presigned_url("GET", PRIVATE, f"media/{kind}"), timeout=60)
        assert (read.status_code, read.content) == (200, kind.encode())
    forger = running.client("swanlab", secret="x" * 32)
    forged = forger.get_presigned_url("PUT", PRIVATE, "media/forged")
    assert requests.put(forged, data=b"x", timeout=60).status_code == 403
    large = bytes(range(256)) * 40_000
    client.put_object(PRIVATE, "large", io.BytesIO(large), len(large), part_size=5 * 2**20)
    assert running.content("swanlab", PRIVATE, "large") == large
    asked = {"Origin": "http://web", "Access-Control-Request-Method": "PUT"}
    allowed = requests.options(f"{running.url}/{PUBLIC}/avatar.png", headers=asked, timeout=60).headers
    assert allowed["Access-Control-Allow-Origin"] in ("*", "http://web")
    assert {"GET", "POST", "PUT", "HEAD"} <= {m.strip() for m in allowed["Access-Control-Allow-Methods"].split(",")}


def test_objects_survive_a_kill_and_a_rotation_changes_the_keys_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.running(ARGS) as process:
        put(store, PRIVATE, "kept", b"before")
        process.kill()
    with store.running(replace(ARGS, generation=2)):
        assert store.content("swanlab", PRIVATE, "kept", 2) == b"before"
        with pytest.raises(S3Error, match="SignatureDoesNotMatch"):
            store.content("swanlab", PRIVATE, "kept", 1)
        put(store, PRIVATE, "kept", b"after", generation=2)
        assert store.content("swanlab", PRIVATE, "kept", 2) == b"after"
        assert store.make_buckets(ARGS).returncode == 0
        assert {b.name for b in store.client("admin", 2).list_buckets()} == {PUBLIC, PRIVATE}


def test_a_bucket_that_is_added_later_is_made_and_its_owner_sees_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.running(ARGS):
        put(store, PRIVATE, "kept", b"before")
    with store.running(replace(ARGS, buckets=(*ARGS.buckets, replace(ARGS.buckets[0], name="traces", owner="tempo")))):
        store.client("tempo").put_object("traces", "a", io.BytesIO(b"a"), 1)
        with pytest.raises(S3Error, match="AccessDenied"):
            store.content("tempo", PRIVATE, "kept")
        with pytest.raises(S3Error, match="AccessDenied"):
            store.client("swanlab").remove_bucket(PRIVATE)


def test_a_claim_without_room_is_refused_aloud(tmp_path: Path) -> None:
    """With every byte of the disk asked to stay free no volume may be written."""
    store = Store(tmp_path)
    original = store.command
    store.command = lambda args: [  # type: ignore[method-assign]  # a disk that is full
        "-volume.minFreeSpace=99" if word.startswith("-volume.minFreeSpace") else word for word in original(args)
    ]
    with store.running(ARGS):
        signed = store.client("swanlab").get_presigned_url("PUT", PRIVATE, "lost")
        assert requests.put(signed, data=b"x", timeout=120).status_code == 500
        read = requests.get(store.client("swanlab").get_presigned_url("GET", PRIVATE, "lost"), timeout=60)
        assert read.status_code == 404
