"""The store inside the release, run on this machine with the pod's identities and flags, and its Job."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import minio
import pytest
import requests

from tests.offline.programs import free_port, running
from tests.offline.sandbox.chart.render import CHART, main_container, pods, render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

WEED = Path(sys.executable).with_name("weed")
KEYS = {"ACCESS_KEY": "a$b`c", "SECRET_KEY": 'quote" back\\slash $HOME'}
_PORTS = ("master.port", "volume.port", "filer.port")


def job() -> ModuleType:
    """The Job's program."""
    spec = importlib.util.spec_from_file_location("init_buckets", CHART / "files/init_buckets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_identities(directory: Path) -> None:
    """Run the pod's init container, its volume moved."""
    (container,) = pods(render())["s3"]["initContainers"]
    script = container["command"][2].replace("/identities/", f"{directory}/")
    environment = {**os.environ, **KEYS, "PUBLIC": "swanlab-public"}
    subprocess.run(["/bin/sh", "-c", script], check=True, env=environment, timeout=30)


@contextmanager
def store(directory: Path) -> Iterator[str]:
    """Address of the running store. Flags that are added only move ports and sockets."""
    (directory / "data").mkdir()
    port = free_port()
    moved = {"=/data": f"={directory}/data", "=/identities/s3.json": f"={directory}/s3.json", "=9000": f"={port}"}
    flags = list(main_container(pods(render())["s3"])["args"])
    for old, new in moved.items():
        flags = [flag.replace(old, new) if flag.endswith(old) else flag for flag in flags]
    flags += [f"-{name}{kind}={free_port()}" for name in _PORTS for kind in ("", ".grpc")]
    flags += [f"-s3.port.grpc={free_port()}"]
    flags += [f"-{part}.localSocket={directory}/{part}.sock" for part in ("filer", "s3")]
    address = f"http://127.0.0.1:{port}"
    with running([str(WEED), *flags], f"{address}/healthz", directory / "log") as process:
        yield address
        process.kill()  # a polite end takes weed a quarter of a minute


def test_buckets_are_made_and_the_public_one_is_open_to_strangers(tmp_path: Path) -> None:
    write_identities(tmp_path)
    with store(tmp_path) as address:
        environment = {
            **{"S3_ENDPOINT": address, "S3_REGION": "local"},
            **{"S3_PRIVATE_BUCKET": "swanlab-private", "S3_PUBLIC_BUCKET": "swanlab-public"},
            **{f"S3_{name}": value for name, value in KEYS.items()},
        }
        assert job().main(environment) == 0
        assert job().main(environment) == 0, "a second run finds the buckets and leaves them"
        answers = {
            (method, bucket): requests.request(method, f"{address}/{bucket}/x", data=b"1", timeout=30).status_code
            for bucket in ("swanlab-public", "swanlab-private")
            for method in ("PUT", "GET")
        }
        with pytest.raises(minio.S3Error, match="SignatureDoesNotMatch"):
            job().main(environment | {"S3_SECRET_KEY": "another"})
    assert answers == {
        **{("PUT", "swanlab-public"): 200, ("GET", "swanlab-public"): 200},
        **{("PUT", "swanlab-private"): 403, ("GET", "swanlab-private"): 403},
    }
