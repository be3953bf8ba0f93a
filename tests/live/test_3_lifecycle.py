"""Data survives what happens to machines: killed pods, stops, SIGKILL of everything, another clone, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from sandbox.cluster import daemons, remains, snapshot
from sandbox.cluster.layout import LOCK
from tests.live import plumbline, swanlab
from tests.live.plumbline import OUT, ROOT, smoke, until, words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.hosttools import HostTools


def remember() -> tuple[float, dict[str, str]]:
    """A moment, and the value of a counter at it."""
    moment = time.time() - 5
    return moment, value_at(moment)


def value_at(moment: float) -> dict[str, str]:
    """Instance → samples ingested by then, as the store tells it now. Pods replaced shortly before still count."""
    found = plumbline.query("prometheus_tsdb_head_samples_appended_total{type='float'}", moment)
    assert found
    return {series["metric"]["instance"]: str(series["value"][1]) for series in found}


def test_prove_kills_the_pod_and_finds_its_data() -> None:
    done = words("prove")
    assert done.returncode == 0, done.stdout
    report = json.loads((OUT / "report.json").read_text())
    statuses = {c["id"]: c["status"] for c in report["checks"]}
    assert statuses["prometheus.data_survives_kill"] == "pass"
    assert statuses["swanlab.survives_kill"] == "pass"


def test_down_leaves_the_machine_as_it_was_and_up_resumes_however_often_it_is_interrupted(
    machine_before: dict[str, list[str]], tools: HostTools
) -> None:
    moment, value = remember()
    assert words("down").returncode == 0
    assert snapshot.differences(machine_before, snapshot.take(tools)) == []
    code, checks, output = smoke()
    assert code == 1, output
    assert checks["cluster.identity"]["status"] == "fail"
    assert snapshot.differences(machine_before, snapshot.take(tools)) == []
    for seconds in (1.0, 4.0):
        assert "Traceback" not in interrupted_up(partial(time.sleep, seconds))
    assert "Traceback" not in interrupted_up(second_up_is_refused)
    done = words("up")
    assert done.returncode == 0, done.stdout
    assert value_at(moment) == value


def interrupted_up(meanwhile: Callable[[], None]) -> str:
    """What `make up` printed until it ended by Ctrl-C, which comes when `meanwhile` is done."""
    with subprocess.Popen(
        ["make", "-C", str(ROOT), "up"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Started in the background, we have SIGINT ignored, and so would they.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no threads here
    ) as process:
        try:
            meanwhile()
        finally:
            os.killpg(process.pid, signal.SIGINT)
        return process.communicate(timeout=180)[0]


def second_up_is_refused() -> None:
    until("the first holds the lock", lambda: LOCK.read_text().startswith("make up"), 60)
    time.sleep(12)
    second = words("up")
    assert second.returncode != 0
    assert "in use by another command: make up" in second.stdout
    assert "Traceback" not in second.stdout


def test_everything_killed_then_up_from_another_clone(tmp_path: Path) -> None:
    moment, value = remember()
    pods = [p for group in remains.pod_cgroups() for p in daemons.in_cgroup(group)]
    for process in (*daemons.marked(), *pods):
        with suppress(ProcessLookupError):  # it may die with one that was killed just before
            if daemons.alive(process):
                os.kill(process.pid, signal.SIGKILL)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True, timeout=120)
    done = words("up", root=clone)
    assert done.returncode == 0, done.stdout
    assert value_at(moment) == value


def test_destroy_keeps_the_data_and_up_takes_it_over_again(tmp_path: Path) -> None:
    moment, value = remember()
    kept = swanlab.remember(tmp_path)
    claim = plumbline.get("pvc/prometheus-data", "-n", plumbline.NAMESPACE)["metadata"]["uid"]
    done = plumbline.pulumi("destroy", "-s", "local", "--yes", "--skip-preview", "--non-interactive")
    assert done.returncode == 0, done.stdout
    assert plumbline.get("pods", "-n", plumbline.NAMESPACE)["items"] == []
    done = words("up")
    assert done.returncode == 0, done.stdout
    assert plumbline.get("pvc/prometheus-data", "-n", plumbline.NAMESPACE)["metadata"]["uid"] == claim
    assert value_at(moment) == value
    assert kept.lost() == []
