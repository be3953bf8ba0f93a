"""A stack that makes points in a real bucket, and the kit that somebody kept of it elsewhere."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import secrets
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import requests
from minio import Minio
from minio.commonconfig import COMPLIANCE
from minio.objectlockconfig import DAYS, ObjectLockConfig

from cli import recovery_secrets
from cli.engine import ROOT
from components.recovery import names
from components.secrets import derive
from recovery.__main__ import main
from tests.offline.recovery import redises
from tests.offline.recovery.examples import document
from tests.offline.recovery.locked import RETENTION_DAYS, Locked, secret

if TYPE_CHECKING:
    from pathlib import Path

CANARY: Final = "canary-7f3a11"


@dataclass
class Stack:
    """A cluster as far as it makes points: its Secrets, a Redis, a bucket. root: the root secret."""

    home: Path
    target: Locked
    bucket: str
    redis: redises.Redises
    root: str
    public: str

    @property
    def signing(self) -> str:
        """The key that signs its manifests."""
        return derive(self.root, names.SIGNING, 1)

    @property
    def fingerprint(self) -> str:
        """What a person keeps of that key."""
        return hashlib.sha256(self.signing.encode()).hexdigest()

    def config(self, signing: Path | None = None, *, sealing: bool = True) -> Path:
        """Of its pods. signing: another file with a signing key, as after a restore."""
        mounted = self.home / f"mounted-{secrets.token_hex(4)}"
        for name, values in self.secrets().items():
            (mounted / name).mkdir(parents=True)
            for key, value in values.items():
                (mounted / name / key).write_bytes(value)
        target = json.loads(self.target.target(self.bucket).model_dump_json())
        target["signing_key_file"] = str(signing or mounted / names.SIGNING / names.SIGNING_KEY)
        work = mounted / "work"
        work.mkdir()
        own = {
            "kind": "secrets",
            "name": "stack-secrets",
            "directories": [str(mounted / name) for name in self.secrets()],
            "recovery_public_key": self.public,
        }
        store = json.loads(self.redis.store().settings.model_dump_json())
        stores = [store, own] if sealing else [store]
        path = mounted / "config.json"
        path.write_text(json.dumps(document(target=target, work=str(work), stores=stores)), encoding="utf-8")
        return path

    def secrets(self) -> dict[str, dict[str, bytes]]:
        """What is sealed."""
        return {
            names.SIGNING: {names.SIGNING_KEY: self.signing.encode()},
            "swanlab-postgres": {"password": f"{CANARY}-{self.root}".encode(), "odd": b"\xff\x00"},
        }

    def run(self, *words: str, config: Path | None = None, code: int = 0) -> dict[str, Any]:
        """The program in a pod; what it says to machines."""
        done, facts = program("--config", str(config or self.config()), *words)
        assert done == code, facts
        return facts

    def point(self) -> str:
        """A new point that is said to be verified, as a verification writes it down."""
        made = str(self.run("create")["point"])
        self.run("verify", "--point", made, config=self._verifying())
        return made

    def _verifying(self) -> Path:
        path = self.config()
        content = json.loads(path.read_text(encoding="utf-8"))
        scratch = json.loads(self.redis.store(redises.OTHER, redises.OTHER - 1).settings.model_dump_json())
        path.write_text(json.dumps({**content, "stores": [], "scratch": [scratch]}), encoding="utf-8")
        return path


def locked_bucket(target: Locked) -> str:
    """A new one, as an administrator makes it."""
    name = f"points-{secrets.token_hex(4)}"
    admin = Minio(target.endpoint.removeprefix("http://"), "admin", secret("admin"), secure=False, region="us-east-1")
    admin.make_bucket(name, object_lock=True)
    admin.set_object_lock_config(name, ObjectLockConfig(COMPLIANCE, RETENTION_DAYS, DAYS))
    return name


def replace(stack: Stack, point: str, content: bytes | None) -> None:
    """Behind the back of every lock: a manifest goes with all its versions, and another may come."""
    key = f"points/{point}/manifest.json"
    filer = f"http://127.0.0.1:{stack.target.ports['filer.port']}/buckets/{stack.bucket}"
    for path in (key, f"{key}.versions"):
        requests.delete(f"{filer}/{path}", params={"recursive": "true"}, timeout=60).raise_for_status()
    if content is not None:
        stack.target.bucket(stack.bucket).put(key, content)


def kit(stack: Stack) -> Path:
    """What somebody kept: of the cluster nothing but the reader's key."""
    found = stack.home / "kit"
    account = stack.target.account("reader")
    (found / recovery_secrets.ACCESS_KEY).write_bytes(account.access_key_file.read_bytes())
    (found / recovery_secrets.SECRET_KEY).write_bytes(account.secret_key_file.read_bytes())
    where = {"endpoint": stack.target.endpoint, "bucket": stack.bucket}
    (found / recovery_secrets.TARGET).write_text(json.dumps(where), encoding="utf-8")
    return found


def opened(stack: Stack, point: str = recovery_secrets.LATEST, into: str = "out") -> tuple[int, str]:
    """What the word runs: exit code, and all that it says to machines."""
    kept = stack.home / "kit"
    config = stack.home / "opening.json"
    config.write_text(json.dumps({"target": recovery_secrets.target(kept)}), encoding="utf-8")
    code, facts = program(*recovery_secrets.words(config, kept, stack.home / into, point))
    said = json.dumps(facts)
    assert CANARY not in said
    return code, said


def program(*words: str) -> tuple[int, dict[str, Any]]:
    """Its exit code and outcome."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = main(["--json", *words])
    finally:
        signal.signal(signal.SIGTERM, before)
    return code, dict(json.loads(printed.getvalue().splitlines()[-1]))


def typed(stack: Stack, *words: str) -> tuple[int, str]:
    """The word as a person types it, from another directory: exit code, and all that it printed."""
    argv = [str(ROOT / "bin/plumbline"), "recovery-secrets", *words]
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(
        argv, cwd=stack.home, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert CANARY not in said
    return done.returncode, said
