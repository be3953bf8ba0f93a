"""Real programs for tests: there, or a failure that says how to get them. A skip would read as success."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import requests

from tests.offline import ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_START_SECONDS = 120.0
_STOP_SECONDS = 60.0
free_port = ports.free_port


def require(name: str) -> str:
    """Path of a program; fails the test if there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is not on PATH; run `make check`, which builds {name}")
    return found


@contextmanager
def running(command: Sequence[str], ready: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that answers 200 at the address `ready`; ended by SIGTERM, as the kubelet does, and awaited."""
    with log.open("ab") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            _await_ready(process, ready, log)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _await_ready(process: subprocess.Popen[bytes], ready: str, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if requests.get(ready, timeout=5).ok:
                return
        except (requests.ConnectionError, requests.Timeout):
            pass
        time.sleep(0.05)
    pytest.fail(f"{ready} never answered:\n{log.read_text(encoding='utf-8')}")
