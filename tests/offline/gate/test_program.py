"""The whole program: pages, metrics, staleness, and how it ends."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gate.board import Board
from gate.licence import Shown
from gate.metrics import registry
from gate.model import Licence, Outcome, Part
from gate.server import words
from tests.offline.gate.servers import web
from tests.offline.programs import free_port, running

ROOT = Path(__file__).parents[3]
PARTS = (Part(name="server", kind="tcp", address="a:1"), Part(name="redis", kind="tcp", address="b:1"))


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    families = text_string_to_metric_families(text)
    return {(s.name, tuple(s.labels.values())): s.value for family in families for s in family.samples}


def page(board: Board, licence: Licence | None) -> dict[tuple[str, tuple[str, ...]], float]:
    shown = Shown() if licence else None
    if shown and licence:
        shown.put(licence)
    return samples(generate_latest(registry(board, shown)).decode())


def test_part_that_was_never_asked_is_missing() -> None:
    board = Board(PARTS, oldest=10, clock=lambda: 5.0)
    board.put("server", Outcome(up=True, words="answers", seconds=0.5, at=1.0))
    assert board.missing() == {"redis": "not asked yet"}
    found = page(board, None)
    assert found == {
        ("plumbline_swanlab_up", ("server",)): 1.0,
        ("plumbline_swanlab_up", ("redis",)): 0.0,
        ("plumbline_swanlab_probe_duration_seconds", ("server",)): 0.5,
    }


def test_outcome_that_is_too_old_does_not_count() -> None:
    now = [1.0]
    board = Board(PARTS[:1], oldest=10, clock=lambda: now[0])
    board.put("server", Outcome(up=True, words="answers", seconds=0.5, at=1.0))
    assert board.missing() == {}
    now[0] = 12.0
    assert board.missing() == {"server": "no answer for 11 s"}


def test_page_in_words_names_what_is_missing() -> None:
    assert words({}) == "SwanLab answers: every part\n"
    assert words({"redis": "redis:6379: connection refused"}).endswith("- redis: redis:6379: connection refused\n")


@pytest.mark.parametrize("state", ["unknown", "inactive", "active", "expired"])
def test_licence_is_in_one_state_and_unknown_numbers_are_absent(state: str) -> None:
    found = page(Board((), oldest=10), Licence(state=state))  # type: ignore[arg-type]  # one of the four
    assert found == {
        ("plumbline_swanlab_licence_state", (name,)): float(name == state)
        for name in ("unknown", "inactive", "active", "expired")
    }


def test_licence_with_numbers() -> None:
    found = page(Board((), oldest=10), Licence(state="active", days_left=9.5, seats=5))
    assert found["plumbline_swanlab_licence_days_left", ()] == 9.5
    assert found["plumbline_swanlab_seats", ()] == 5


def command(port: int, *words_: str) -> list[str]:
    return [sys.executable, "-P", "-m", "gate", f"--port={port}", "--interval=0.1", "--timeout=5", *words_]


def test_ready_follows_the_parts_and_sigterm_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with web(api=(200, "OK")) as server:
        parts = [f"--part=server=body,{server.url}/api,OK", f"--part=gateway=http,{server.url}/none"]
        with running(command(port, *parts), f"{url}/healthz", tmp_path / "log") as process:
            assert settled(url, 503).text.startswith("SwanLab is not ready:\n- gateway: ")
            server.answers["GET /none"] = (200, "")
            assert settled(url, 200).text == "SwanLab answers: every part\n"
            assert samples(requests.get(f"{url}/metrics", timeout=60).text)["plumbline_swanlab_up", ("gateway",)] == 1
            assert requests.get(f"{url}/other", timeout=60).status_code == 404
            server.answers["GET /api"] = (502, "")
            assert "server: " in settled(url, 503).text
        assert process.returncode == 0


def settled(url: str, status: int) -> requests.Response:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = requests.get(f"{url}/ready", timeout=60)
        if found.status_code == status and "not asked yet" not in found.text:
            return found
        time.sleep(0.05)
    pytest.fail(f"/ready never answered {status}")


def test_port_that_is_taken_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with web() as server:
        port = int(server.url.rpartition(":")[2])
        done = subprocess.run(
            command(port, "--part=a=tcp,127.0.0.1:1"), capture_output=True, text=True, timeout=60, check=False
        )
    assert (done.returncode, f"cannot listen on port {port}" in done.stderr) == (1, True)
