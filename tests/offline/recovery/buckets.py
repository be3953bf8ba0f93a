"""The real object store with a live and a scratch bucket, and accounts that lack a right."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from components.object_store.args import Bucket, ObjectStoreArgs
from components.object_store.names import CONFIG_FILE
from recovery.stores import objects
from tests.offline.components.object_store.program import Store, secret_key
from tests.offline.components.object_store.test_manifests import ARGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from minio import Minio

    from recovery.model import Part
    from tests.offline.recovery.vaults import Memory

LIVE, SCRATCH = "media", "scratch"
NO_LIST, NO_WRITE = "nolist", "nowrite"
_ARGS = replace(ARGS, buckets=(Bucket(name=LIVE, owner="swanlab"), Bucket(name=SCRATCH, owner="swanlab")))
_RIGHTS = {NO_LIST: ("Read", "Write"), NO_WRITE: ("Read", "List")}
_SECRET = "k" * 32


class _Narrow(Store):
    """Knows two more identities, each without a right."""

    def command(self, args: ObjectStoreArgs) -> list[str]:
        path = self.directory / CONFIG_FILE
        known = json.loads(path.read_text(encoding="utf-8"))
        known["identities"] += [
            {
                "name": name,
                "credentials": [{"accessKey": name, "secretKey": _SECRET}],
                "actions": [f"{action}:{bucket}" for action in actions for bucket in (LIVE, SCRATCH)],
            }
            for name, actions in _RIGHTS.items()
        ]
        path.write_text(json.dumps(known), encoding="utf-8")
        return super().command(args)


@dataclass(frozen=True)
class Buckets:
    """Where the store is. work: directory for a run."""

    url: str
    client: Minio
    work: Path

    def store(self, bucket: str = LIVE, account: str = "swanlab") -> objects.Objects:
        """A bucket as the program sees it."""
        settings = self.settings(bucket, account)
        return objects.open_store(settings, self.work)

    def settings(self, bucket: str = LIVE, account: str = "swanlab") -> objects.Settings:
        """The section of the configuration."""
        keys = {"access": account, "secret": secret_key(account, 1) if account == "swanlab" else _SECRET}
        for part, key in keys.items():
            (self.work / f"{account}.{part}").write_text(f"{key}\n", encoding="utf-8")
        return objects.Settings(
            name="media",
            endpoint=self.url,
            bucket=bucket,
            access_key_file=str(self.work / f"{account}.access"),
            secret_key_file=str(self.work / f"{account}.secret"),
        )

    def put(self, key: str, content: bytes, bucket: str = LIVE, **headers: str) -> None:
        """Write an object."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = named.pop("type", "application/octet-stream")
        self.client.put_object(bucket, key, io.BytesIO(content), len(content), content_type=kind, metadata={**named})

    def get(self, key: str, bucket: str = LIVE) -> bytes:
        """What an object holds."""
        with self.client.get_object(bucket, key) as answer:
            return bytes(answer.read(decode_content=False))

    def keys(self, prefix: str = "", bucket: str = LIVE) -> list[str]:
        """Keys below a prefix, in the order of their bytes."""
        found = self.client.list_objects(bucket, prefix, recursive=True)
        return sorted((one.object_name or "" for one in found), key=str.encode)

    def emptied(self) -> Buckets:
        """The same, with nothing in its buckets."""
        for bucket in (LIVE, SCRATCH):
            for key in self.keys(bucket=bucket):
                self.client.remove_object(bucket, key)
        return self

    def own(self, bucket: str = LIVE) -> dict[str, bytes]:
        """Everything that is not the program's."""
        return {key: self.get(key, bucket) for key in self.keys(bucket=bucket) if not key.startswith(".plumbline-")}


@contextmanager
def buckets(directory: Path) -> Iterator[Buckets]:
    """A store with two empty buckets."""
    (directory / "work").mkdir()
    program = _Narrow(directory)
    with program.running(_ARGS):
        yield Buckets(program.url, program.client("swanlab"), directory / "work")


def silent(line: str) -> None:
    """A Tell that says nothing."""


def index(vault: Memory, part: Part) -> dict[str, dict[str, Any]]:
    """Lines of a part's index by key."""
    assert part.index is not None
    text = b"".join(vault.read(part.index)).decode()
    return {line["path"]: line for line in map(json.loads, text.splitlines())}
