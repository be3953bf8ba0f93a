"""The driver as a process: it is given address and key, is waited for, and does not outlive its proof."""

from __future__ import annotations

import json
import os
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from smoke import limits
from smoke.proofs.roundtrip_process import Process
from smoke.sdk.environments import read_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Says what it was given and how it can be found, writes a stage, then does as the test asks.
PYTHON = """#!{python}
import json, os, pathlib, signal, sys, time
plan = json.loads(pathlib.Path(sys.argv[-1]).read_text())
pathlib.Path(plan["result"]).write_text('{{"stage": "numbers were logged"}}')
given = {{name: value for name, value in os.environ.items() if name.startswith("SWANLAB_")}}
told = {{"pid": os.getpid(), "given": given, "argv": sys.argv[1:], "alarm": signal.alarm(0)}}
print(json.dumps(told), flush=True)
{then}
"""


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Starts a driver that ends with the given line of Python; gives the place that it runs in."""
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path))
    monkeypatch.setenv("SWANLAB_PROJ_NAME", "stray")
    places = []

    def start(then: str, version: str = "0.8.4") -> Process:
        python = tmp_path / "cache" / "sdk" / read_lock("0.8.4").name / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(PYTHON.format(python=sys.executable, then=then))
        python.chmod(0o755)
        swanlab = SimpleNamespace(address="http://127.0.0.1:1", uses_proxies=False)
        stack: Any = SimpleNamespace(
            swanlab=swanlab, api_key=lambda: "hunter2", experiments=SimpleNamespace(sdk=version)
        )
        places.append(Process(stack))
        places[-1].start({"scenario": "roundtrip", "project": "p"})
        return places[-1]

    yield start
    for place in places:
        place.stop()


def _until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def test_driver_is_given_address_and_key_and_nothing_stray(started: Callable[..., Process]) -> None:
    place = started("")
    _until(lambda: not place.running())
    told = json.loads(place.printed())
    assert told["given"] == {"SWANLAB_API_HOST": "http://127.0.0.1:1", "SWANLAB_API_KEY": "hunter2"}
    assert "hunter2" not in " ".join(told["argv"])
    assert 0 < told["alarm"] <= limits.SENTINEL_LIFE


def test_driver_that_hangs_is_told_with_its_stage_and_killed(
    started: Callable[..., Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = started("time.sleep(600)")
    _until(lambda: place.printed().endswith("\n"))
    assert not place.running()[0].terminal
    monkeypatch.setattr(limits, "SDK_RUN", 0.0)
    problem = place.running()[0]
    assert "at stage 'numbers were logged'" in problem.seen
    assert problem.terminal
    pid = json.loads(place.printed())["pid"]
    place.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    place.stop()


def test_driver_that_fails_is_told_at_once(started: Callable[..., Process]) -> None:
    place = started("sys.exit('no such host')")
    _until(lambda: "exit code" in place.running()[0].seen)
    problem = place.running()[0]
    assert "exit code 1" in problem.seen
    assert "no such host" in problem.seen
    assert problem.terminal


def test_version_without_a_lock_is_told(started: Callable[..., Process]) -> None:
    place = started("", "9.9.9")
    _until(lambda: "exit code" in place.running()[0].seen)
    assert "there is no lock of SDK 9.9.9" in place.running()[0].seen


def test_place_that_was_not_started_has_nothing_to_stop() -> None:
    nobody: Any = SimpleNamespace()
    place = Process(nobody)
    place.stop()
    assert place.running()[0].terminal
    assert place.printed() == ""
