"""Processes of the cluster: started in sessions of their own, found again by mark, ended in order."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from sandbox.cluster.facts import processes, read_process
from sandbox.cluster.layout import MARK_VARIABLE
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from sandbox.cluster.facts import Process

LOG_LIMIT = 20 * 2**20
COMMAND_LENGTH = 15  # of the name that the kernel keeps


def start(name: str, argv: Sequence[str], *, mark: str, logs: Path, path: str) -> int:
    """Start a process that outlives us; its output goes to `logs/<name>.log`. Returns its id."""
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"{name}.log"
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".log.1"))
    environment = {"PATH": path, "HOME": "/root", MARK_VARIABLE: f"{mark}:{name}"}
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
    return process.pid


def running(mark: str | None = None) -> dict[str, Process]:
    """Name → process of a cluster (of any cluster without `mark`); shims and helpers are left out."""
    named = {p.pid: p for p in marked(mark) if p.name == _marked_name(p)[:COMMAND_LENGTH]}
    forks = {p.pid for p in named.values() if p.parent in named}  # not executed yet: the name is still the parent's
    return {_marked_name(p): p for p in named.values() if p.pid not in forks}


def _marked_name(process: Process) -> str:
    return str(process.mark).rpartition(":")[2]


def marked(mark: str | None = None) -> list[Process]:
    """Every process that carries the mark, helpers and shims included."""
    return [p for p in processes() if p.mark is not None and (mark is None or p.mark.rpartition(":")[0] == mark)]


def alive(process: Process) -> bool:
    """Whether this very process still runs (the id alone may have been given to another)."""
    now = read_process(process.pid)
    return now is not None and now.started == process.started


def end(targets: Iterable[Process], *, grace: float) -> None:
    """SIGTERM, wait up to `grace` seconds, SIGKILL what is left. Raises SandboxError when something survives that."""
    left = list(targets)
    for sig, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
        for process in left:
            if alive(process):
                _signal(process.pid, sig)
        deadline = time.monotonic() + patience
        while (left := [p for p in left if alive(p)]) and time.monotonic() < deadline:
            time.sleep(0.05)
        if not left:
            return
    names = ", ".join(f"{p.name} ({p.pid})" for p in left)
    raise SandboxError(f"these processes cannot be ended: {names}", "they hang in the kernel: reboot the machine")


def _signal(pid: int, sig: signal.Signals) -> None:
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        return


def in_cgroup(directory: Path) -> list[Process]:
    """Processes in a control group and all below it."""
    found = {}
    for file in directory.rglob("cgroup.procs"):
        try:
            pids = file.read_text().split()
        except OSError:
            continue
        for pid in pids:
            process = read_process(int(pid))
            if process is not None:
                found[process.pid] = process
    return list(found.values())


def wait_for(what: str, probe: Callable[[], bool], *, seconds: float, name: str, pid: int, logs: Path) -> None:
    """Poll until `probe` holds. Raises SandboxError at the deadline, or at once when process `pid` has ended."""
    deadline = time.monotonic() + seconds
    while not probe():
        if read_process(pid) is None:
            raise SandboxError(f"{name} ended while {what} was awaited:\n{tail(logs, name)}", "read its log above")
        if time.monotonic() > deadline:
            raise SandboxError(f"{what} did not come within {seconds:.0f} s:\n{tail(logs, name)}", f"read {logs}")
        time.sleep(0.2)


def tail(logs: Path, name: str, lines: int = 12) -> str:
    """Last lines of a process's log."""
    log = logs / f"{name}.log"
    if not log.exists():
        return f"(no log at {log})"
    with log.open("rb") as handle:
        handle.seek(max(0, log.stat().st_size - 16384))
        text = handle.read().decode(errors="replace")
    return "\n".join(f"    {line[:400]}" for line in text.splitlines()[-lines:])
