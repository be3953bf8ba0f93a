"""`make bench`: what is measured by which choice, and that Ctrl-C leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cli import bench
from cli.engine import ROOT
from sandbox.errors import SandboxError
from sandbox.programs.build import binary
from tests.offline.sandbox.fakes import PATIENCE, program, silent, wait_for_file, wait_until_ended

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home
    from tests.offline.cli.fakes import FakeEngine

# Takes its time to end what it started, and is not to be cut off by a second signal.
SLOW_TO_END = """
trap 'sleep 0.5; echo done > "$NOTE.ended"; exit 0' TERM
echo $$ > "$NOTE.new" && mv "$NOTE.new" "$NOTE"
while true; do sleep 0.05; done
"""
COMMAND = """
import signal, sys
from pathlib import Path
from cli import bench
from sandbox.home import Home
from sandbox.progress import Progress
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.default_int_handler)
sys.executable = sys.argv[2]
try:
    bench.signals(Home(Path(sys.argv[1])), Progress())
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was measured, in order; the signals end with 3."""
    found: list[str] = []
    monkeypatch.delenv("ONLY", raising=False)
    monkeypatch.setattr(bench, "stages", lambda *_, cold: found.append(f"stages, cold {cold}"))

    def signals(*_: object) -> int:
        found.append("signals")
        return 3

    monkeypatch.setattr(bench, "signals", signals)
    return found


def test_stages_are_the_default_and_say_what_else_there_is(
    home: Home, measured: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.bench(home, silent()[0], cold=False) == 0
    assert measured == ["stages, cold False"]
    assert "make bench ONLY=signals" in capsys.readouterr().out


@pytest.mark.parametrize(("only", "expected"), [("signals", ["signals"]), ("all", ["stages, cold True", "signals"])])
def test_choice_comes_from_the_environment(
    home: Home, measured: list[str], monkeypatch: pytest.MonkeyPatch, only: str, expected: list[str]
) -> None:
    monkeypatch.setenv("ONLY", only)
    assert bench.bench(home, silent()[0], cold=True) == 3
    assert measured == expected


def test_unknown_choice_is_refused_before_anything_is_stopped(
    home: Home, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONLY", "signal")
    with pytest.raises(SandboxError, match=r"'signal'.*\n?.*stages, signals, all"):
        bench.bench(home, silent()[0], cold=False)
    assert measured == []


def test_make_hands_the_choice_over() -> None:
    recipe = "bench:\n\t@printenv ONLY\n"
    done = subprocess.run(
        ["make", "--no-print-directory", "-f", "-", "bench", "ONLY=signals"],
        input=recipe,
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "signals\n"


def test_program_is_told_where_prometheus_is_and_its_code_is_ours(
    home: Home, pulumi: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del pulumi  # its home has every program
    python = program(tmp_path / "bin", "python", f'echo "$@" > {tmp_path}/called; exit 5')
    monkeypatch.setattr(sys, "executable", str(python))
    assert bench.signals(home, silent()[0]) == 5
    report = ROOT / ".out" / "bench" / "signals.json"
    expected = f"-m tests.bench.signals --prometheus {binary(home, 'prometheus')} --out {report}"
    assert (tmp_path / "called").read_text().strip() == expected


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_bench_waits_for_its_program(
    home: Home, pulumi: FakeEngine, tmp_path: Path, sent: signal.Signals
) -> None:
    del pulumi  # its home has every program
    python = program(tmp_path / "bin", "python", SLOW_TO_END)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NOTE": str(tmp_path / "note")}
    argv = [sys.executable, "-c", COMMAND, str(home.root), str(python)]
    with subprocess.Popen(argv, env=environment) as process:
        child = int(wait_for_file(tmp_path / "note"))
        process.send_signal(sent)
        wait_for_file(tmp_path / "note.ended")
        assert process.wait(PATIENCE) == 130
    assert wait_until_ended(child)
