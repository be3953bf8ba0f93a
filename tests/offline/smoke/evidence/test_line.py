"""A line of the simulated run, through the real collectors into the real store, is read as the record of a step."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sandbox.workloads.training.settings import Settings
from smoke.access.logsql import VictoriaLogs
from smoke.run_evidence.facts import Span
from smoke.run_evidence.read_logs import Logs
from tests.offline.sandbox.training.played import Turned, play
from tests.offline.smoke import telemetry_programs as programs
from tests.offline.smoke.evidence.scene import utc
from tests.offline.smoke.telemetry_programs import Ports, Ways

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.smoke.evidence.conftest import Stores

PATIENCE = 60.0


def test_line_arrives_with_the_names_by_which_it_is_asked_for(stores: Stores, tmp_path: Path) -> None:
    now = time.time()
    settings = Settings(identity={"run_id": "through", "team": "vision"}, steps=5, step_seconds=1.5, ranks=2)
    lines = [line for line in play(settings, Turned(now - 30), {}).lines if line["step"] >= 3]
    logs = tmp_path / "pods" / "team-a_through-0_11111111-2222-3333-4444-555555555555" / "training"
    logs.mkdir(parents=True)
    written = "".join(f"{line['time']} stdout F {json.dumps(line)}\n" for line in lines)
    (logs / "0.log").write_text(written)
    told = programs.arguments(1, stores.logs, Ways())
    gateway, agent = Ports(), Ports()
    config, debug = programs.agent_config(tmp_path, agent, told, gateway.grpc)
    config["receivers"]["file_log"]["start_at"] = "beginning"
    above = json.dumps(programs.gateway_config(tmp_path, gateway, told, Ways()))
    store = VictoriaLogs("VictoriaLogs", lambda: f"http://127.0.0.1:{stores.logs}", lambda: None)
    asked = Logs(store, "through", Span(now - 600, now + 600))
    with (
        programs.collector(tmp_path, "gateway", (above,), gateway),
        programs.collector(tmp_path, "agent", (json.dumps(config), debug), agent),
    ):
        deadline = time.monotonic() + PATIENCE
        while len(asked.step(4)) < 2:
            assert time.monotonic() < deadline, "the lines did not arrive"
            time.sleep(0.2)
    found = {one.rank: one for one in asked.step(4)}
    for line in (line for line in lines if line["step"] == 4):
        one = found[str(line["rank"])]
        assert utc(one.end) == line["time"]
        assert one.seconds == pytest.approx(line["step_time"])
        assert one.parts == pytest.approx({part: line[f"{part}_time"] for part in one.parts})
        assert {"data", "forward", "backward", "optimizer", "sync"} == set(one.parts)
    assert asked.pods(Span(now - 600, now + 600)) == {("team-a", "through-0")}
    assert asked.steps() == (3, 4)
    assert asked.beside(4)[0] == pytest.approx({3: lines[0]["step_time"]})
    shown, count = asked.lines(Span(now - 600, now + 600))
    assert (len(shown), count) == (4, 4)
    assert {replace(one, at=0.0, text="") for one in shown} == {replace(shown[0], at=0.0, text="")}
