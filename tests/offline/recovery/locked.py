"""The real object store with a locked bucket and an account for each duty, and what a thief does with their keys."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from minio import Minio
from minio.commonconfig import COMPLIANCE, GOVERNANCE
from minio.objectlockconfig import DAYS, ObjectLockConfig

from recovery.vault.s3 import Bucket
from recovery.vault.settings import Account, Target
from recovery.vault.vault import Vault
from tests.offline.programs import free_port, running

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence

LOCKED: Final = "locked"
"""A bucket whose objects are locked for RETENTION_DAYS."""
LOOSE: Final = "loose"
"""A bucket with object lock and no default retention: versions are kept and can be deleted."""
PLAIN: Final = "plain"
"""A bucket without versions."""
GOVERNED: Final = "governed"
"""A bucket whose lock has the weaker mode."""
BRIEF: Final = "brief"
"""A bucket whose lock is shorter than the settings promise."""
RETENTION_DAYS: Final = 7
SIGNING_KEY: Final = "5" * 64
_WEED: Final = Path(sys.executable).with_name("weed")
_PORTS: Final = (
    *("master.port", "master.port.grpc", "volume.port", "volume.port.grpc"),
    *("filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc"),
)
_READ: Final = ("s3:GetObject", "s3:GetObjectVersion", "s3:GetObjectRetention")
_LIST: Final = (
    "s3:ListBucket",
    "s3:ListBucketVersions",
    "s3:GetBucketVersioning",
    "s3:GetBucketObjectLockConfiguration",
)
_DELETE: Final = ("s3:DeleteObject", "s3:DeleteObjectVersion")
ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "writer": ("s3:PutObject",),
    "reader": (*_READ, *_LIST),
    "pruner": (*_READ, *_LIST, *_DELETE, "s3:PutObjectRetention"),
    # Accounts that were given too much or too little.
    "nobody": ("s3:GetBucketLocation",),
    "writer-deletes": ("s3:PutObject", "s3:DeleteObject"),
    "writer-deletes-versions": ("s3:PutObject", "s3:DeleteObjectVersion"),
    "writer-reads": ("s3:PutObject", "s3:GetObject"),
    "writer-reads-versions": ("s3:PutObject", "s3:GetObjectVersion"),
    "writer-lists": ("s3:PutObject", "s3:ListBucket"),
    "writer-lists-versions": ("s3:PutObject", "s3:ListBucketVersions"),
    "writer-locks": ("s3:PutObject", "s3:PutObjectRetention"),
    "writer-expires": ("s3:PutObject", "s3:PutLifecycleConfiguration"),
    "writer-configures": ("s3:PutObject", "s3:PutBucketObjectLockConfiguration"),
    "writer-permits": ("s3:PutObject", "s3:PutBucketPolicy"),
    "reader-without-list": _READ,
    "reader-without-get": (*_LIST, "s3:GetObjectRetention"),
    "reader-writes": (*_READ, *_LIST, "s3:PutObject"),
    "reader-deletes": (*_READ, *_LIST, "s3:DeleteObjectVersion"),
    "pruner-without-extension": (*_READ, *_LIST, *_DELETE),
    "pruner-without-delete": (*_READ, *_LIST),
    "pruner-without-versions": (*_READ, *_LIST, "s3:DeleteObject"),
}


def secret(name: str) -> str:
    """The secret key of an account."""
    return f"secret-of-{name}".ljust(40, "x")


class Locked:
    """One store in a directory, running."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ports = {name: free_port() for name in _PORTS}
        self._made = 0
        self.endpoint = f"http://127.0.0.1:{self.ports['s3.port']}"

    def target(self, bucket: str = LOOSE, **roles: str) -> Target:
        """The bucket as the program is told of it. roles: role → account, where it is not the one of that name."""
        return Target(
            endpoint=self.endpoint,
            bucket=bucket,
            writer=self.account(roles.get("writer", "writer")),
            reader=self.account(roles.get("reader", "reader")),
            pruner=self.account(roles.get("pruner", "pruner")),
            retention_days=RETENTION_DAYS,
            signing_key_file=self._file("signing-key", SIGNING_KEY),
        )

    def account(self, name: str) -> Account:
        """Key files of an account."""
        return Account(
            access_key_file=self._file(f"{name}.access", name),
            secret_key_file=self._file(f"{name}.secret", secret(name)),
        )

    def vault(self, bucket: str = LOOSE) -> Vault:
        """With the accounts of writer and reader."""
        return Vault.open(self.target(bucket), write=True)

    def bucket(self, bucket: str = LOOSE, account: str = "admin") -> Bucket:
        """A bucket with the key of an account."""
        return Bucket(self.target(bucket), self.account(account), account)

    def keys(self, prefix: str, bucket: str = LOOSE) -> list[str]:
        """Keys with at least one version, whatever hides them."""
        found = self.bucket(bucket).versions(prefix)
        return list(dict.fromkeys(version.key for version in found if not version.marker))

    def replace(self, key: str, content: bytes | None, bucket: str = LOOSE) -> None:
        """What bit rot and a thief of every key do: the object's versions go, `content` comes in their place."""
        admin = self.bucket(bucket)
        for version in list(admin.versions(key)):
            admin.delete(key, version.id)
        if content is not None:
            admin.put(key, content)

    def fresh(self) -> str:
        """Another bucket like LOOSE, for one test alone."""
        self._made += 1
        self._admin().make_bucket(f"{LOOSE}-{self._made}", object_lock=True)
        return f"{LOOSE}-{self._made}"

    @contextmanager
    def running(self) -> Iterator[None]:
        """The process. Killed at the end: a polite end takes seconds, and what it took must be there without one."""
        process: subprocess.Popen[bytes]
        with running(self.command(), f"{self.endpoint}/healthz", self.directory / "log") as process:
            try:
                yield
            finally:
                process.kill()
                process.wait(60)

    def make_buckets(self) -> None:
        """The buckets, as an administrator makes them."""
        admin = self._admin()
        for name in (LOCKED, GOVERNED, BRIEF, LOOSE):
            admin.make_bucket(name, object_lock=True)
        admin.make_bucket(PLAIN)
        admin.set_object_lock_config(LOCKED, ObjectLockConfig(COMPLIANCE, RETENTION_DAYS, DAYS))
        admin.set_object_lock_config(GOVERNED, ObjectLockConfig(GOVERNANCE, RETENTION_DAYS, DAYS))
        admin.set_object_lock_config(BRIEF, ObjectLockConfig(COMPLIANCE, 1, DAYS))

    def command(self) -> list[str]:
        """The flags of the object store's pod, with its paths and ports moved."""
        flags = {
            "dir": str(self.directory / "data"),
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "master.telemetry": "false",
            "master.electionTimeout": "1s",
            "master.volumeSizeLimitMB": "64",
            "volume.max": "600",
            "volume.preStopSeconds": "1",
            "filer": "true",
            "filer.localSocket": str(self.directory / "filer.sock"),
            "s3": "true",
            "s3.config": str(self.directory / "s3.json"),
            "s3.iam": "false",
            "s3.port.iceberg": "0",
            "s3.port.lance": "0",
            "s3.autoCreateBucket": "false",
            "s3.allowDeleteBucketNotEmpty": "false",
            "s3.localSocket": str(self.directory / "s3.sock"),
            **{name: str(port) for name, port in self.ports.items()},
        }
        return [str(_WEED), "-logtostderr=true", "server", *(f"-{name}={value}" for name, value in flags.items())]

    def _admin(self) -> Minio:
        host = self.endpoint.removeprefix("http://")
        return Minio(host, "admin", secret("admin"), secure=False, region="us-east-1")

    def _file(self, name: str, content: str) -> Path:
        path = self.directory / name
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(content + "\n", encoding="utf-8")
        return path


def identities() -> str:
    """`s3.json`. An identity with `actions` may delete what it may write, so all but one have a policy."""
    admin = {"name": "admin", "credentials": [_credentials("admin")], "actions": ["Admin"]}
    others = [{"name": name, "credentials": [_credentials(name)], "policyNames": [name]} for name in ACTIONS]
    policies = [{"name": name, "content": _policy(actions)} for name, actions in ACTIONS.items()]
    return json.dumps({"identities": [admin, *others], "policies": policies})


def _credentials(name: str) -> dict[str, str]:
    return {"accessKey": name, "secretKey": secret(name)}


def _policy(actions: Sequence[str]) -> str:
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": list(actions), "Resource": ["arn:aws:s3:::*"]}],
        }
    )


def prepared(directory: Path) -> Locked:
    """A store that does not run yet and has no bucket."""
    store = Locked(directory)
    (directory / "data").mkdir()
    (directory / "s3.json").write_text(identities(), encoding="utf-8")
    return store


@contextmanager
def locked(directory: Path) -> Iterator[Locked]:
    """The store with its buckets."""
    store = prepared(directory)
    with store.running():
        store.make_buckets()
        yield store
