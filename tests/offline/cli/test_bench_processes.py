"""Programs of the bench of signals: awaited, ended by their ids, also when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from cli.engine import ROOT
from tests.bench import client
from tests.bench.client import Client
from tests.bench.errors import BenchError
from tests.bench.processes import free_address, running, served
from tests.offline.programs import require
from tests.offline.sandbox.fakes import PATIENCE, wait_until_ended


def test_program_that_does_not_answer_is_told_by_its_last_words(tmp_path: Path) -> None:
    argv = ["sh", "-c", "echo no such flag; exit 2"]
    with (
        pytest.raises(BenchError, match=r"(?s)did not answer within 5 s.*no such flag"),
        running(argv, f"http://{free_address()}/", tmp_path / "log", 5),
    ):
        pass


def killed_at_work(log: Path) -> None:
    """A program that answers, and is then killed by somebody else."""
    address = free_address()
    argv = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", address.rpartition(":")[2]]
    with running(argv, f"http://{address}/", log, 30) as pid:
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def test_program_that_ended_meanwhile_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="ended by itself"):
        killed_at_work(tmp_path / "log")


def test_page_is_served_as_it_is() -> None:
    address = free_address()
    with served("up 1\n", address):
        assert requests.get(f"http://{address}/metrics", timeout=60).text == "up 1\n"


def test_silent_prometheus_is_an_error() -> None:
    with pytest.raises(BenchError, match="did not answer query up"):
        Client(free_address()).vector("up")


def test_refused_question_is_told_in_prometheus_words(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = requests.Response()
    answer._content = b'{"status": "error", "error": "parse error: unexpected end"}'
    monkeypatch.setattr(requests.Session, "post", lambda *_, **__: answer)
    with pytest.raises(BenchError, match="unexpected end"):
        Client("").ask("query", query="up{")


def test_question_without_an_answer_is_not_zero() -> None:
    class Empty(Client):
        """Has no series at all."""

        def vector(self, expr: str, at: float | None = None) -> list[tuple[dict[str, str], float]]:
            """None."""
            del expr, at
            return []

    with pytest.raises(BenchError, match="0 series instead of one"):
        Empty("").number("up")
    assert Empty("").count("up") == 0


def test_kernel_tells_what_a_process_uses() -> None:
    before = client.cpu_seconds(os.getpid())
    while time.process_time() < before + 0.1:  # until the clock of the kernel, in hundredths, must have moved
        pass
    assert client.cpu_seconds(os.getpid()) > before
    resident, peak = client.memory_mib(os.getpid())
    assert 1 < resident <= peak


def children(pid: int) -> list[int]:
    """Processes that this one started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_bench_ends_its_programs(tmp_path: Path, sent: signal.Signals) -> None:
    room = tmp_path / "room"
    room.mkdir()
    argv = [sys.executable, "-m", "tests.bench.signals", "--prometheus", require("prometheus")]
    argv += ["--out", str(room / "out.json"), "--nodes=3"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(room)}
    with subprocess.Popen(argv, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "waiting until every target is up" in line:
                break
        started = children(process.pid)
        process.send_signal(sent)
        printed = process.stderr.read()
        assert process.wait(PATIENCE) == 130
    assert len(started) == 2
    assert all(wait_until_ended(child) for child in started)
    assert "what the bench had started is ended" in printed
    assert "Traceback" not in printed
    assert list(room.iterdir()) == []
