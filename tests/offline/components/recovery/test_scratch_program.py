"""The scratch Redis by the very command of its container: it starts, says so, and keeps nothing."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import redis

from components.recovery.scratch import sidecars
from sandbox.home import find_home
from sandbox.images import debian, trees
from sandbox.progress import Progress
from tests.offline.components.recovery.examples import local
from tests.offline.programs import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def container(name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in sidecars(local()) if c["name"] == name)
    return found


def moved(words: list[str], directory: Path, port: int) -> list[str]:
    """The same command with another directory and another port."""
    return [word.replace("/data", str(directory)).replace("6379", str(port)) for word in words]


@contextmanager
def scratch_redis(directory: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Its port, and the environment in which the container's commands run."""
    tree = debian.ensure(find_home(), Progress()).tree(debian.REDIS)
    # Programs of this machine do not run on the libraries of that tree, hence not for the shell.
    for name in ("redis-server", "redis-cli"):
        wrapper = directory / name
        wrapper.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={trees.libraries(tree)} exec {tree}/usr/bin/{name} "$@"\n')
        wrapper.chmod(0o755)
    environment = {"PATH": f"{directory}:/usr/bin:/bin"}
    port = free_port()
    with subprocess.Popen(moved(container("redis")["command"], directory, port), env=environment) as process:
        try:
            yield port, environment
        finally:
            process.terminate()
            process.wait(60)


def answers(directory: Path, port: int, environment: dict[str, str]) -> bool:
    asked = moved(container("redis")["startupProbe"]["exec"]["command"], directory, port)
    return subprocess.run(asked, env=environment, check=False, capture_output=True, timeout=20).returncode == 0


def test_scratch_redis_answers_its_probe_and_keeps_nothing(tmp_path: Path) -> None:
    with scratch_redis(tmp_path) as (port, environment):
        for _ in range(100):
            if answers(tmp_path, port, environment):
                break
            time.sleep(0.1)
        assert answers(tmp_path, port, environment)
        client = redis.Redis.from_url(f"redis://127.0.0.1:{port}/0")
        wanted = {"save": "", "appendonly": "no", "bind": "127.0.0.1", "dir": str(tmp_path)}
        assert {name: client.config_get(name)[name] for name in wanted} == wanted
    assert not answers(tmp_path, port, environment), "a probe that answers for a Redis that is gone would say nothing"
