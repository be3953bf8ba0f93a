"""The command that slows one GPU of a run down: both simulators play it, in that step and on that GPU alone."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Final

import pytest

from sandbox.workloads.gpu import control as gpu_control
from sandbox.workloads.gpu import incidents
from sandbox.workloads.gpu.collector import Shape
from sandbox.workloads.gpu.counters import parse as parse_counters
from sandbox.workloads.gpu.identity import gpu_uuid
from sandbox.workloads.gpu.kubelet import Pod
from sandbox.workloads.gpu.node import Node
from sandbox.workloads.gpu.web import Request
from sandbox.workloads.training import control
from sandbox.workloads.training.journal import Journal
from sandbox.workloads.training.run import RealClock, Told, train
from sandbox.workloads.training.script import Script
from sandbox.workloads.training.settings import Settings
from sandbox.workloads.training.throttle import main
from tests.offline.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COUNTERS: Final = "DCGM_FI_DEV_THERMAL_VIOLATION, counter, Throttling duration due to thermal constraints (in ns)."
UUIDS: Final = tuple(gpu_uuid("n1", index) for index in range(2))
HELD: Final = {uuid: Pod("train-0", "team-a", "training") for uuid in UUIDS}


def exporter() -> tuple[Node, Callable[..., dict[str, object]]]:
    """A node with two GPUs that a pod holds, and what asks its control interface."""
    node = Node(Shape("n1", None, parse_counters(COUNTERS, "counters.csv")), time.time())
    node.devices(UUIDS, time.time())
    node.tick(time.time(), HELD)

    def ask(method: str, url: str, body: object = None) -> dict[str, object]:
        request = Request(method, url.removeprefix("http://exporter"), json.dumps(body).encode())
        answer = gpu_control.answer(node, request, lambda: node.tick(time.time(), HELD))
        assert answer.status < 400, answer.body
        return dict(json.loads(answer.body))

    return node, ask


def test_gpu_is_throttled_for_the_step_and_the_step_takes_longer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    node, ask = exporter()
    monkeypatch.setattr(incidents, "_ask", ask)
    script, clock = Script(range(2)), RealClock()
    settings = Settings(identity={"run_id": "r"}, steps=8, step_seconds=0.2, ranks=2)
    with (tmp_path / "lines").open("w") as out, serving(control.serve(("127.0.0.1", 0), script)) as base:
        journal = Journal(settings.identity, clock.now, out)
        script.hold(5)  # so that the command is there in time, whatever else runs on the machine
        run = threading.Thread(target=train, args=(settings, script, clock, Told(journal)))
        run.start()
        where = ["--exporter", "http://exporter", "--run", base, "--gpu", "1", "--rank", "1"]
        assert main([*where, "--step", "5", "--factor", "5"]) == 0
        run.join(60)
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    taken = {(line["step"], line["rank"]): line["step_time"] for line in lines}
    # 86 % of 0.2 s on the GPU, which takes five times as long.
    assert taken[5, 1] == pytest.approx(0.2 + 4 * 0.86 * 0.2, rel=0.05)
    assert taken[6, 1] == pytest.approx(0.2, rel=0.03)
    assert node.summary()["incidents"] == []
    page = node.page(HELD, time.time()).body
    throttled = {uuid: next(float(line.split()[-1]) for line in page.splitlines() if uuid in line) for uuid in UUIDS}
    assert throttled[UUIDS[0]] == 0
    assert throttled[UUIDS[1]] / 1e9 >= taken[5, 1]


def test_run_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--exporter", "http://127.0.0.1:1", "--run", "http://127.0.0.1:1", "--gpu", "1", "--rank", "1"]
    assert main([*where, "--step", "5"]) == 1
    assert "error: POST http://127.0.0.1:1/hold" in capsys.readouterr().err
