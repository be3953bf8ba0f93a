"""The real object store on this machine: the flags of the pod, with its paths and ports moved."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import requests
from minio import Minio

from components.object_store.identities import key_of, render
from components.object_store.names import CONFIG_FILE, CONFIG_PATH, DATA_PATH, METRICS_PORT, PORT
from components.object_store.options import FILER_PORT, LOOPBACK, MASTER_PORT, arguments, buckets_script
from components.secrets import derive
from tests.offline.programs import free_port, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.object_store.args import ObjectStoreArgs

ROOT_SECRET = "r" * 32
WEED = Path(sys.executable).with_name("weed")
_INNER = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")


def secret_key(identity: str, generation: int) -> str:
    """The secret key that the component derives."""
    source = key_of(identity, generation)
    return derive(ROOT_SECRET, source.role, source.generation)


class Store:
    """One object store in a directory: started and killed any number of times over the same data."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ports = {name: free_port() for name in (*_INNER, "s3.port.grpc", "s3", "metrics")}
        (directory / "data").mkdir()
        self.url = f"http://{LOOPBACK}:{self.ports['s3']}"

    @contextmanager
    def running(self, args: ObjectStoreArgs) -> Iterator[subprocess.Popen[bytes]]:
        """The store with its buckets, as in the pod: the hook has run."""
        keys = {name: secret_key(name, args.generation) for name in ("admin", *args.owners)}
        (self.directory / CONFIG_FILE).write_text(render(args.buckets, keys), encoding="utf-8")
        log = self.directory / "log"
        with running(self.command(args), f"{self.url}/healthz", log) as process:
            done = self.make_buckets(args)
            assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{log.read_text(encoding='utf-8')[-2000:]}"
            yield process
            # What is promised holds without a farewell; a polite end takes weed a quarter of a minute.
            process.kill()
            process.wait(60)

    def command(self, args: ObjectStoreArgs) -> list[str]:
        """The pod's command line. Flags that are added only move ports and sockets."""
        moved = {
            DATA_PATH: str(self.directory / "data"),
            f"{CONFIG_PATH}/{CONFIG_FILE}": str(self.directory / CONFIG_FILE),
            str(PORT): str(self.ports["s3"]),
            str(METRICS_PORT): str(self.ports["metrics"]),
        }
        words = [word.partition("=") for word in arguments(args)]
        own = [f"{flag}{sign}{moved.get(value, value)}" for flag, sign, value in words]
        extra = [f"-{name}={self.ports[name]}" for name in (*_INNER, "s3.port.grpc")]
        sockets = [f"-{part}.localSocket={self.directory}/{part}.sock" for part in ("filer", "s3")]
        return [str(WEED), *own, *extra, *sockets]

    def make_buckets(self, args: ObjectStoreArgs) -> subprocess.CompletedProcess[str]:
        """Run the hook of the container."""
        ports = self.ports
        script = buckets_script(args.buckets, seconds=30)
        for inner, name in ((MASTER_PORT, "master.port"), (FILER_PORT, "filer.port")):
            script = script.replace(f"{LOOPBACK}:{inner}", f"{LOOPBACK}:{ports[name]}.{ports[f'{name}.grpc']}")
        path = {"PATH": f"{WEED.parent}:/usr/bin:/bin"}
        return subprocess.run(
            ["/bin/sh", "-c", script], env=path, capture_output=True, text=True, timeout=120, check=False
        )

    def client(self, identity: str, generation: int = 1, secret: str = "") -> Minio:
        """An S3 client with the key of an identity."""
        key = secret or secret_key(identity, generation)
        return Minio(self.url.removeprefix("http://"), identity, key, secure=False, region="us-east-1")

    def content(self, identity: str, bucket: str, name: str, generation: int = 1) -> bytes:
        """What an object holds, read with the key of an identity."""
        with self.client(identity, generation).get_object(bucket, name) as answer:
            return bytes(answer.data)

    def anybody(self, method: str, path: str, data: bytes | str | None = None) -> requests.Response:
        """A request without a key."""
        return requests.request(method, f"{self.url}/{path}", data=data, timeout=60)
