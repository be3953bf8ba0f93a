"""`bench`: how long each stage takes on this machine, what SwanLab does beside its own stores, what 8192 GPUs, a
restore point, and traces and logs cost.

Nothing is asserted on time: the aims stand beside the figures. Stages run on a cluster state of their own. The cold
figure needs an empty cache and some 30 minutes; it is measured with `make bench COLD=1`, in a home of its own that is
deleted afterwards. ONLY in the environment, where make puts what follows the word, chooses: the default is the stages,
with SwanLab measured on the stack that they have deployed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Final

from cli import deploy, embedded, stackfile
from cli.engine import EMBEDDED, ROOT, engine_for
from sandbox.cluster import ownership
from sandbox.errors import SandboxError
from sandbox.programs import build as programs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.home import Home
    from sandbox.progress import Progress

BENCH_STATE: Final = "bench"
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "stages": ("stages",),
    "signals": ("signals",),
    "experiments": ("experiments",),
    "recovery": ("recovery",),
    "telemetry": ("telemetry",),
    "all": ("stages", "signals", "recovery", "telemetry"),
}
SIGNALS_REPORTS: Final = {
    128: ROOT / ".out" / "bench" / "signals-1024.json",
    1024: ROOT / ".out" / "bench" / "signals-8192.json",
}
"""Nodes of eight GPUs each → where the figures are written."""
EXPERIMENTS_REPORT: Final = ROOT / ".out" / "bench" / "experiments.json"
RECOVERY_REPORT: Final = ROOT / ".out" / "bench" / "recovery.json"
TELEMETRY_REPORT: Final = ROOT / ".out" / "bench" / "telemetry.json"
END_SECONDS: Final = 90.0  # two programs with 30 seconds each to end, or what was written to remove, and room
AIMS: Final = {
    "cold: make up, every cache empty": 35 * 60,
    "make up, new state, caches warm": 180,
    "make up from stopped": 180,
    "make up on a running stack": 60,
    "make smoke": 30,
    "make check": 60,
    "make down": 30,
}


def bench(home: Home, progress: Progress, *, cold: bool) -> int:
    """Measure what ONLY chooses and print tables; 0 unless figures stand for nothing. Raises SandboxError."""
    wanted = chosen(os.environ)
    code = 0
    if "stages" in wanted:
        code = stages(home, progress, cold=cold)
    if "experiments" in wanted:
        code = experiments(home)
    if "signals" in wanted:
        code = signals(home, progress) or code
    if "recovery" in wanted:
        code = recovery() or code
    if "telemetry" in wanted:
        code = telemetry(home, progress) or code
    if wanted == CHOICES["stages"]:
        print("\n  rules and queries at 1024 and 8192 GPUs, 14 minutes, no cluster: make bench ONLY=signals")
        print("  restore points beside the raw tools, 10 minutes, no cluster: make bench ONLY=recovery")
        print("  collectors beside the same without processors, 5 minutes, no cluster: make bench ONLY=telemetry")
    return code


def chosen(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What is measured, by the word in ONLY; see CHOICES. Raises SandboxError for anything else."""
    only = environment.get("ONLY", "stages")
    if only not in CHOICES:
        raise SandboxError(f"ONLY is {only!r}, which make bench does not know", f"give one of {', '.join(CHOICES)}")
    return CHOICES[only]


def stages(home: Home, progress: Progress, *, cold: bool) -> int:
    """Measure every stage and print a table. The user's running cluster is stopped first, its data kept.

    The exit code is that of the experiments, which are measured while their stack is there.
    """
    state = home.state(BENCH_STATE)
    with ownership.machine_lock("preparing make bench"):
        embedded.take_down(home, progress)
        embedded.delete_state(home, state, progress)
    measured: dict[str, float] = {}
    try:
        if cold:
            measured["cold: make up, every cache empty"] = _cold(home)
        measured["make up, new state, caches warm"] = _timed("up")
        measured["make up on a running stack"] = _timed("up")
        measured["make smoke"] = _timed("smoke")
        code = _experiments_of_bench()
        measured["make down"] = _timed("down")
        measured["make up from stopped"] = _timed("up")
        _timed("check")  # the first run fills the caches of the linters
        measured["make check"] = _timed("check")
    finally:
        with ownership.machine_lock("ending make bench"):
            embedded.take_down(home, progress)
            embedded.delete_state(home, state, progress)
    print(table(measured, os.cpu_count() or 1))
    return code


def experiments(home: Home) -> int:
    """Measure SwanLab and its stores on the running stack `local`, 3 minutes at most. Returns the bench's exit code.

    Raises SandboxError when the stack was never deployed or its cluster does not run. A program of its own, as the
    bench of signals is.
    """
    engine = engine_for(home, EMBEDDED)
    with deploy.guard(engine, "make bench"):
        deploy.require_running(engine)
        contract = deploy.write_contract(engine, deploy.out_directory(engine))
        kubeconfig = stackfile.config(engine.config_file)["plumbline:cluster"]["kubeconfig"]
        argv = [sys.executable, "-m", "tests.bench.experiments", "--contract", str(contract)]
        argv += ["--kubeconfig", str(kubeconfig), "--cache", str(home.cache / "sdk"), "--out", str(EXPERIMENTS_REPORT)]
        return _attached(argv, engine.environment())


def _experiments_of_bench() -> int:
    """The same on the state whose stages are measured, by a command of its own: that one takes the machine's lock."""
    environment = {**os.environ, "PLUMBLINE_STATE": BENCH_STATE, "ONLY": "experiments"}
    return _attached([str(ROOT / "bin" / "plumbline"), "bench"], environment)


def signals(home: Home, progress: Progress) -> int:
    """Run the bench of signals to its end; Ctrl-C lets it end what it started. Returns its exit code.

    A program of its own, because it joins this room's sandbox with components and stacks, which no room may.
    """
    programs.ensure(home, ["prometheus"], progress)
    code = 0
    for nodes, report in SIGNALS_REPORTS.items():
        argv = [sys.executable, "-m", "tests.bench.signals", "--nodes", str(nodes)]
        argv += ["--prometheus", str(programs.binary(home, "prometheus")), "--out", str(report)]
        code = _attached(argv, os.environ) or code
    return code


def recovery() -> int:
    """Run the bench of recovery to its end, as the bench of signals. Returns its exit code."""
    return _attached([sys.executable, "-m", "tests.bench.recovery", "--out", str(RECOVERY_REPORT)], os.environ)


def telemetry(home: Home, progress: Progress) -> int:
    """Run the bench of telemetry to its end, as the bench of signals. Returns its exit code."""
    programs.ensure(home, ["otel-collector"], progress)
    argv = [sys.executable, "-m", "tests.bench.telemetry"]
    argv += ["--collector", str(programs.binary(home, "otelcol-contrib")), "--out", str(TELEMETRY_REPORT)]
    return _attached(argv, os.environ)


def _attached(argv: list[str], environment: Mapping[str, str]) -> int:
    """Run a bench that is a program of its own to its end. Returns its exit code."""
    own = {**environment, "PYTHONPATH": str(ROOT)}
    # A session of its own: it hears of Ctrl-C from us alone, once, and not from the terminal too.
    with subprocess.Popen(argv, cwd=ROOT, env=own, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.wait()
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait until it has ended its own programs. Signals that come meanwhile would leave them behind."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        process.terminate()
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def table(measured: dict[str, float], cores: int) -> str:
    """Figures in seconds beside the aims (which are for 2 cores), and their ratio."""
    lines = [f"\n  {cores} cores", f"  {'stage':<36} {'measured':>10} {'aim':>8} {'ratio':>7}"]
    for stage, aim in AIMS.items():
        if stage in measured:
            lines.append(f"  {stage:<36} {measured[stage]:>8.1f} s {aim:>6} s {measured[stage] / aim:>7.2f}")
        else:
            lines.append(f"  {stage:<36} {'not run':>10} {aim:>6} s         (make bench COLD=1)")
    return "\n".join(lines)


def _timed(verb: str, **environment: str) -> float:
    begin = time.monotonic()
    done = subprocess.run(
        [str(ROOT / "bin" / "plumbline"), verb],
        env={**os.environ, "PLUMBLINE_STATE": BENCH_STATE, **environment},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        check=False,
    )
    if done.returncode != 0:
        raise SandboxError(f"make {verb} failed while it was measured", "read its words above")
    return time.monotonic() - begin


def _cold(home: Home) -> float:
    with tempfile.TemporaryDirectory(prefix="plumbline-cold-", dir=home.root, ignore_cleanup_errors=True) as directory:
        seconds = _timed("up", PLUMBLINE_HOME=directory)
        _timed("down", PLUMBLINE_HOME=directory)
        return seconds
