"""A run that is killed between any two steps: the next thing to run starts what it left stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recovery.quiet import Quiesce, resume
from tests.offline.recovery.quiet_cluster import FakeCluster, cluster
from tests.offline.recovery.quiet_site import Site, served

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
RUNNING = {"gateway": 2, "server": 3, "auth": 0, "house": 2}
"""auth was stopped by its user."""


@pytest.fixture(scope="module")
def driver() -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-P", "-m", "tests.offline.recovery.quiet_driver"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT, env=environment
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def run(driver: subprocess.Popen[str], site: Site, found: FakeCluster) -> int:
    """Make the stack quiet in a process that `found` may kill by the id that it is told. Its exit status."""
    assert driver.stdin is not None
    assert driver.stdout is not None
    driver.stdin.write(f"quiesce {site.config} {site.settings().model_dump_json()}\n")
    found.asker = int(driver.stdout.readline())
    driver.stdin.write("go\n")
    status = int(driver.stdout.readline())
    found.refuse, found.served = lambda *_: None, lambda *_: None
    return status


def test_killed_before_each_request_then_resume(driver: subprocess.Popen[str], tmp_path: Path) -> None:
    at, left = 0, set[tuple[int, ...]]()
    while True:
        at += 1
        found = cluster(auth=0)

        def refuse(number: int, _method: str, _named: str, found: FakeCluster = found, at: int = at) -> int | None:
            if number != at:
                return None
            os.kill(found.asker, signal.SIGKILL)
            return 500

        found.refuse = refuse
        with served(found, tmp_path) as site:
            status = run(driver, site, found)
            if status == 0:
                break
            assert status == -signal.SIGKILL
            left.add(tuple(found.replicas().values()))
            resume(site.api(), site.settings(), lambda _line: None, pace=0.001)
        assert found.replicas() == RUNNING, f"killed at request {at}"
        assert found.annotated() == {}, f"killed at request {at}"
    assert left == {(2, 3, 0, 2), (0, 3, 0, 2), (0, 0, 0, 2), (0, 0, 0, 0)}, "killed in every state that there is"
    assert at > 40, "at every one of its requests"


def test_killed_behind_each_change_then_another_run(driver: subprocess.Popen[str], tmp_path: Path) -> None:
    at = 0
    while True:
        at += 1
        found = cluster(auth=0)

        def kill(_number: int, _method: str, _named: str, found: FakeCluster = found, at: int = at) -> None:
            if len(found.events) == at:
                os.kill(found.asker, signal.SIGKILL)

        found.served = kill
        with served(found, tmp_path) as site:
            if run(driver, site, found) == 0:
                break
            with Quiesce(site.settings(), site.api(), pace=0.001)(lambda _line: None):
                assert not any(found.replicas().values())
        assert found.replicas() == RUNNING, f"killed behind change {at}"
        assert found.annotated() == {}, f"killed behind change {at}"
    assert at == 1 + 4 * 3, "three Deployments: marked, stopped, started, no longer marked"


def test_a_request_that_arrives_after_its_sender_gave_up(tmp_path: Path) -> None:
    """Stopping server comes in when it has been started again: it is refused, for it names an older version."""
    found = cluster()
    late: list[tuple[str, str, dict[str, object]]] = []
    original = found.answer

    def answer(method: str, path: str, body: dict[str, object]) -> tuple[int, dict[str, object] | str]:
        if method == "PATCH" and path.endswith("deployments/server/scale") and not late:
            late.append((method, path, body))
            return 403, {"message": "the sender thinks that it failed"}
        return original(method, path, body)

    with served(found, tmp_path) as site:
        found.answer = answer  # type: ignore[method-assign]  # a proxy that holds one request back
        with (
            pytest.raises(Exception, match="server/scale is refused"),
            Quiesce(site.settings(), site.api(), pace=0.001)(lambda _line: None),
        ):
            pytest.fail("not quiet")
        assert found.replicas() == {"gateway": 2, "server": 3, "auth": 1, "house": 2}
        status, _ = original(*late[0])
    assert status == 409
    assert found.replicas()["server"] == 3
