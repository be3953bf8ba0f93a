"""The real object store as recovery runs it: what each account may do, and what keeps the lock locked."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from minio.commonconfig import COMPLIANCE
from minio.error import S3Error
from minio.objectlockconfig import DAYS, ObjectLockConfig

from components.object_store.identities import key_of, render
from components.recovery.store import SCRIPT
from components.secrets import derive
from tests.offline.components.object_store import program
from tests.offline.components.object_store.program import ROOT_SECRET, Store
from tests.offline.components.recovery.examples import local

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from minio import Minio

    from components.object_store.args import ObjectStoreArgs

BUCKET = "recovery"
WRITER, READER, PRUNER = "recovery-writer", "recovery-reader", "recovery-pruner"


def own() -> ObjectStoreArgs:
    found = local().target.own
    assert found is not None
    return found


class Recovering(Store):
    """The store of a test, with the keys and the grants of recovery's."""

    def as_(self, identity: str) -> Minio:
        """A client with the key of an identity."""
        return self.client(identity, secret=secret_key(identity))


def secret_key(identity: str, generation: int = 1) -> str:
    """The key that recovery derives: another one than the first store's, whoever it is for."""
    source = key_of(identity, generation, own().name)
    return derive(ROOT_SECRET, source.role, source.generation)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recovering]:
    """One store for all tests of this file: starting it takes seconds."""
    found = Recovering(tmp_path_factory.mktemp("store"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(program, "secret_key", secret_key)
        patched.setattr(program, "render", lambda buckets, keys: render(buckets, keys, own().grants))
        with found.running(own()):
            yield found


@contextlib.contextmanager
def keeper(store: Recovering, directory: Path, days: int, bucket: str = BUCKET) -> Iterator[Path]:
    """The script as the pod runs it. Yields the file that says that the bucket is locked."""
    ready = directory / "ready"
    for name, text in (("access", "admin"), ("secret", secret_key("admin"))):
        (directory / name).write_text(text)
    argv = [sys.executable, "-P", str(SCRIPT), f"--endpoint={store.url.removeprefix('http://')}", f"--bucket={bucket}"]
    argv += [f"--days={days}", f"--access-key-file={directory}/access", f"--secret-key-file={directory}/secret"]
    argv += [f"--ready-file={ready}", "--every=0.2"]
    with subprocess.Popen(argv) as process:
        try:
            yield ready
        finally:
            process.terminate()
            # Told to end, it ends at once and with 0: a pod would wait for half a minute otherwise.
            assert process.wait(60) == 0


def appears(path: Path, *, there: bool = True) -> bool:
    """Whether a file is there, or gone, before patience ends."""
    for _ in range(200):
        if path.exists() == there:
            return True
        time.sleep(0.1)
    return False


def put(client: Minio, name: str, content: bytes = b"x") -> str:
    found = client.put_object(BUCKET, name, io.BytesIO(content), len(content))
    return str(found.version_id)


def refused(call: object, *args: object, **keys: object) -> str:
    assert callable(call)
    with pytest.raises(S3Error) as raised:
        call(*args, **keys)
    return str(raised.value.code)


def test_object_is_locked_once_the_keeper_says_so(store: Recovering, tmp_path: Path) -> None:
    with keeper(store, tmp_path, 3) as ready:
        assert appears(ready)
    version = put(store.as_(WRITER), "locked")
    held = store.as_(READER).get_object_retention(BUCKET, "locked", version)
    assert held is not None
    assert held.mode == "COMPLIANCE"
    for identity in (PRUNER, "admin"):
        client = store.as_(identity)
        assert refused(client.remove_object, BUCKET, "locked", version_id=version) == "AccessDenied"


def test_keeper_puts_back_what_somebody_changed_and_says_when_it_cannot(store: Recovering, tmp_path: Path) -> None:
    admin = store.as_("admin")
    with keeper(store, tmp_path, 5) as ready:
        assert appears(ready)
        assert admin.get_object_lock_config(BUCKET).duration == 5
        admin.set_object_lock_config(BUCKET, _days(2))
        for _ in range(200):
            if admin.get_object_lock_config(BUCKET).duration == 5:
                break
            time.sleep(0.1)
        assert admin.get_object_lock_config(BUCKET).duration == 5
    with keeper(store, tmp_path, 5, bucket="nobody-made-it") as ready:
        assert appears(ready, there=False), "a bucket that cannot be asked is not locked"


def _days(number: int) -> ObjectLockConfig:
    return ObjectLockConfig(COMPLIANCE, number, DAYS)


def test_writer_puts_and_does_nothing_else(store: Recovering) -> None:
    writer = store.as_(WRITER)
    version = put(writer, "point")
    assert refused(writer.get_object, BUCKET, "point") == "AccessDenied"
    assert refused(writer.stat_object, BUCKET, "point") == "AccessDenied"
    assert refused(lambda: list(writer.list_objects(BUCKET))) == "AccessDenied"
    assert refused(writer.remove_object, BUCKET, "point") == "AccessDenied"
    assert refused(writer.remove_object, BUCKET, "point", version_id=version) == "AccessDenied"
    assert refused(writer.set_object_lock_config, BUCKET, _days(1)) == "AccessDenied"
    assert refused(writer.remove_bucket, BUCKET) == "AccessDenied"


def test_reader_reads_and_lists_and_does_nothing_else(store: Recovering) -> None:
    put(store.as_(WRITER), "read", b"content")
    reader = store.as_(READER)
    with reader.get_object(BUCKET, "read") as answer:
        assert answer.data == b"content"
    assert "read" in {item.object_name for item in reader.list_objects(BUCKET)}
    assert "read" in {item.object_name for item in reader.list_objects(BUCKET, include_version=True)}
    assert reader.get_object_lock_config(BUCKET) is not None
    assert refused(put, reader, "mine") == "AccessDenied"
    assert refused(reader.remove_object, BUCKET, "read") == "AccessDenied"


def test_pruner_deletes_and_does_not_write(store: Recovering) -> None:
    put(store.as_(WRITER), "old")
    pruner = store.as_(PRUNER)
    assert refused(put, pruner, "mine") == "AccessDenied"
    pruner.remove_object(BUCKET, "old")
    assert "old" not in {item.object_name for item in pruner.list_objects(BUCKET)}


def test_key_of_the_first_store_opens_nothing_here(store: Recovering) -> None:
    stranger = store.client("admin", secret=derive(ROOT_SECRET, "object-store-admin", 1))
    assert refused(lambda: list(stranger.list_objects(BUCKET))) == "SignatureDoesNotMatch"


def test_nobody_without_a_key_gets_in(store: Recovering) -> None:
    put(store.as_(WRITER), "hidden")
    assert store.anybody("GET", f"{BUCKET}/hidden").status_code == 403
    assert store.anybody("PUT", f"{BUCKET}/new", b"x").status_code == 403
