"""`bench`: how long each stage takes on this machine, and what 8192 GPUs cost a running Prometheus.

Nothing is asserted on time: the aims stand beside the figures. Stages run on a cluster state of their own. The cold
figure needs an empty cache and some 30 minutes; it is measured with `make bench COLD=1`, in a home of its own that is
deleted afterwards. ONLY in the environment, where make puts what follows the word, chooses: the default is the stages.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Final

from cli import embedded
from cli.engine import ROOT
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
    "all": ("stages", "signals"),
}
SIGNALS_REPORT: Final = ROOT / ".out" / "bench" / "signals.json"
END_SECONDS: Final = 90.0  # two programs with 30 seconds each to end, and room
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
    """Measure what ONLY chooses and print tables; the exit code is that of the signals. Raises SandboxError."""
    wanted = chosen(os.environ)
    if "stages" in wanted:
        stages(home, progress, cold=cold)
    if "signals" in wanted:
        return signals(home, progress)
    print("\n  rules and queries at 8192 GPUs, 7 minutes, no cluster: make bench ONLY=signals")
    return 0


def chosen(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What is measured: `stages`, `signals`, or both for `all`. Raises SandboxError for anything else."""
    only = environment.get("ONLY", "stages")
    if only not in CHOICES:
        raise SandboxError(f"ONLY is {only!r}, which make bench does not know", f"give one of {', '.join(CHOICES)}")
    return CHOICES[only]


def stages(home: Home, progress: Progress, *, cold: bool) -> None:
    """Measure every stage and print a table. The user's running cluster is stopped first, its data kept."""
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
        measured["make down"] = _timed("down")
        measured["make up from stopped"] = _timed("up")
        _timed("check")  # the first run fills the caches of the linters
        measured["make check"] = _timed("check")
    finally:
        with ownership.machine_lock("ending make bench"):
            embedded.take_down(home, progress)
            embedded.delete_state(home, state, progress)
    print(table(measured, os.cpu_count() or 1))


def signals(home: Home, progress: Progress) -> int:
    """Run the bench of signals to its end; Ctrl-C lets it end what it started. Returns its exit code.

    A program of its own, because it joins this room's sandbox with components and stacks, which no room may.
    """
    programs.ensure(home, ["prometheus"], progress)
    argv = [sys.executable, "-m", "tests.bench.signals"]
    argv += ["--prometheus", str(programs.binary(home, "prometheus")), "--out", str(SIGNALS_REPORT)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # A session of its own: it hears of Ctrl-C from us alone, once, and not from the terminal too.
    with subprocess.Popen(argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, start_new_session=True) as process:
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
