"""`make bench`: what is measured by which choice, and that Ctrl-C leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from cli import bench, deploy, embedded, stackfile
from cli.engine import ROOT
from sandbox.cluster import ownership
from sandbox.errors import SandboxError
from sandbox.programs.build import binary
from tests.offline.sandbox.fakes import PATIENCE, program, silent, wait_for_file, wait_until_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    """What was measured, in order; stages end with 0, the experiments with 4, the signals with 3, recovery with 5,
    telemetry with 6."""
    found: list[str] = []
    monkeypatch.delenv("ONLY", raising=False)

    def part(name: str, code: int) -> Callable[..., int]:
        def play(*_: object, **options: object) -> int:
            found.append(", ".join([name, *(f"{key} {value}" for key, value in options.items())]))
            return code

        return play

    for name, code in (("stages", 0), ("experiments", 4), ("signals", 3), ("recovery", 5), ("telemetry", 6)):
        monkeypatch.setattr(bench, name, part(name, code))
    return found


def test_stages_are_the_default_and_say_what_else_there_is(
    home: Home, measured: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.bench(home, silent()[0], cold=False) == 0
    assert measured == ["stages, cold False"]
    printed = capsys.readouterr().out
    assert "make bench ONLY=signals" in printed
    assert "make bench ONLY=recovery" in printed
    assert "make bench ONLY=telemetry" in printed


@pytest.mark.parametrize(
    ("only", "expected", "code"),
    [
        ("signals", ["signals"], 3),
        ("experiments", ["experiments"], 4),
        ("recovery", ["recovery"], 5),
        ("telemetry", ["telemetry"], 6),
        ("all", ["stages, cold True", "signals", "recovery", "telemetry"], 6),
    ],
)
def test_choice_comes_from_the_environment(
    home: Home, measured: list[str], monkeypatch: pytest.MonkeyPatch, only: str, expected: list[str], code: int
) -> None:
    monkeypatch.setenv("ONLY", only)
    assert bench.bench(home, silent()[0], cold=True) == code
    assert measured == expected


def test_stages_measure_the_experiments_of_their_own_stack_while_it_is_there(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []

    def timed(verb: str) -> float:
        done.append(verb)
        return 1.0

    def attached(argv: list[str], environment: dict[str, str]) -> int:
        done.append(f"{' '.join(argv[1:])} {environment['ONLY']} {environment['PLUMBLINE_STATE']}")
        return 1

    monkeypatch.setattr(bench, "_timed", timed)
    monkeypatch.setattr(bench, "_attached", attached)
    monkeypatch.setattr(ownership, "machine_lock", lambda _: nullcontext())
    monkeypatch.setattr(embedded, "take_down", lambda *_: None)
    monkeypatch.setattr(embedded, "delete_state", lambda *_: None)
    assert bench.stages(home, silent()[0], cold=False) == 1
    assert done == ["up", "up", "smoke", "bench experiments bench", "down", "up", "check", "check"]
    assert "make smoke" in capsys.readouterr().out


def test_experiments_are_measured_on_the_running_stack_under_the_lock(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    @contextmanager
    def guard(_: object, purpose: str) -> Iterator[None]:
        done.append(f"lock for {purpose}")
        yield
        done.append("unlock")

    def attached(argv: list[str], environment: dict[str, str]) -> int:
        done.append(" ".join(argv[1:]))
        assert environment == {"KUBECONFIG": "/kc"}
        return 7

    engine = SimpleNamespace(config_file=Path("/stack.yaml"), environment=lambda: {"KUBECONFIG": "/kc"})
    monkeypatch.setattr(bench, "engine_for", lambda *_: engine)
    monkeypatch.setattr(deploy, "guard", guard)
    monkeypatch.setattr(deploy, "require_running", lambda _: done.append("running"))
    monkeypatch.setattr(deploy, "out_directory", lambda _: Path("/out"))
    monkeypatch.setattr(deploy, "write_contract", lambda _, out: out / "contract.json")
    monkeypatch.setattr(stackfile, "config", lambda _: {"plumbline:cluster": {"kubeconfig": "/kubeconfig"}})
    monkeypatch.setattr(bench, "_attached", attached)
    assert bench.experiments(home) == 7
    command = "-m tests.bench.experiments --contract /out/contract.json --kubeconfig /kubeconfig"
    report = ROOT / ".out" / "bench" / "experiments.json"
    program = f"{command} --cache {home.cache / 'sdk'} --out {report}"
    assert done == ["lock for make bench", "running", program, "unlock"]


def test_unknown_choice_is_refused_before_anything_is_stopped(
    home: Home, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONLY", "signal")
    with pytest.raises(SandboxError, match=r"'signal'.*\n?.*stages, signals, experiments, recovery, telemetry, all"):
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
    python = program(tmp_path / "bin", "python", f'echo "$@" >> {tmp_path}/called; test "$4" != 128 || exit 5')
    monkeypatch.setattr(sys, "executable", str(python))
    assert bench.signals(home, silent()[0]) == 5, "a fault in the smaller fleet is not forgotten over the larger one"
    told = f"--prometheus {binary(home, 'prometheus')} --out {ROOT / '.out' / 'bench'}"
    assert (tmp_path / "called").read_text().splitlines() == [
        f"-m tests.bench.signals --nodes 128 {told}/signals-1024.json",
        f"-m tests.bench.signals --nodes 1024 {told}/signals-8192.json",
    ]


def test_bench_of_recovery_needs_no_cluster_and_its_code_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = program(tmp_path / "bin", "python", f'echo "$@" > {tmp_path}/called; exit 6')
    monkeypatch.setattr(sys, "executable", str(python))
    assert bench.recovery() == 6
    expected = f"-m tests.bench.recovery --out {ROOT / '.out' / 'bench' / 'recovery.json'}"
    assert (tmp_path / "called").read_text().strip() == expected


def test_bench_of_telemetry_is_told_where_the_collector_is_and_its_code_is_ours(
    home: Home, pulumi: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del pulumi  # its home has every program
    python = program(tmp_path / "bin", "python", f'echo "$@" > {tmp_path}/called; exit 4')
    monkeypatch.setattr(sys, "executable", str(python))
    assert bench.telemetry(home, silent()[0]) == 4
    report = ROOT / ".out" / "bench" / "telemetry.json"
    expected = f"-m tests.bench.telemetry --collector {binary(home, 'otelcol-contrib')} --out {report}"
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
