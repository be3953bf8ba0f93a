"""`bench`: how long each stage takes on this machine, measured by running it on a cluster state of its own.

Nothing is asserted: the aims stand beside the figures. The cold figure needs an empty cache and some 30 minutes; it is
measured with `make bench COLD=1`, in a home of its own that is deleted afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Final

from cli import embedded
from cli.engine import ROOT
from sandbox.cluster import ownership
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from sandbox.home import Home
    from sandbox.progress import Progress

BENCH_STATE: Final = "bench"
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
    return 0


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
