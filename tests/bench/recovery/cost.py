"""What a program costs: time, its memory and processor, and those of the servers that it asks."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.bench.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_FIRST_PAUSE, _PAUSE = 0.005, 0.05
"""Seconds between two looks at the memory of processes that are known, in the first second and later. Peaks only grow,
so little is missed, except of a program that ends at once."""
_FIRST_SECONDS: Final = 1.0
_SCAN: Final = 10
"""Looks after which processes that are new are searched for."""
_END_SECONDS: Final = 20.0
_LOG_LINES: Final = 15
_PARENT, _TIMES = 1, slice(11, 15)
"""Fields of /proc/<pid>/stat behind the name: parent; user and system ticks, its own and of children that ended."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """seconds: of the clock. peak: MiB, largest resident memory of the program with what it started. cpu: processor
    seconds of all of it. servers_peak: MiB, of the largest process of the asked server. servers_cpu: of all servers."""

    seconds: float
    peak: float
    cpu: float
    servers_peak: float
    servers_cpu: float


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A program that has ended. output: what it wrote to its standard output; said: to its standard error, the end."""

    cost: Cost
    code: int
    output: str
    said: str


@dataclass
class Servers:
    """Process ids of servers, by name."""

    pids: dict[str, int] = field(default_factory=dict)

    def cpu(self) -> float:
        """Processor seconds of all of them so far, with processes that they started."""
        return sum(_cpu(pid) for root in self.pids.values() for pid in family(root))

    @contextlib.contextmanager
    def added(self, name: str) -> Iterator[None]:
        """Remember the process that the block starts. Raises BenchError if it starts none, or several."""
        before = set(_children().get(os.getpid(), []))
        yield
        new = [pid for pid in _children().get(os.getpid(), []) if pid not in before]
        if len(new) != 1:
            raise BenchError(f"{name}: {len(new)} processes were started instead of one; nothing can be told of it")
        self.pids[name] = new[0]


def measured(argv: Sequence[str], servers: Servers, asked: str, log: Path, variables: Mapping[str, str]) -> Ended:
    """Run a program to its end. asked: name of the server whose memory counts. log: for what it says.

    A session of its own: Ctrl-C is for the bench, which then ends it. variables: more of its environment.
    """
    root, before = servers.pids[asked], servers.cpu()
    for pid in family(root):
        with contextlib.suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")  # its peak counts anew, see proc(5)
    output = log.with_suffix(".out")
    begun = time.monotonic()
    with log.open("wb") as errors, output.open("wb") as out:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, **variables},
        )
    looking = _Looking(process.pid, root)
    try:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        looking.stop()
        _end(process)
    cost = Cost(
        seconds=time.monotonic() - begun,
        peak=looking.own,
        cpu=usage.ru_utime + usage.ru_stime,
        servers_peak=looking.server,
        servers_cpu=servers.cpu() - before,
    )
    return Ended(cost=cost, code=process.returncode, output=output.read_text("utf-8"), said=_tail(log))


def family(root: int) -> list[int]:
    """A process and all that come from it."""
    children, found = _children(), [root]
    for pid in found:
        found += children.get(pid, [])
    return found


class _Looking:
    """Looks at a program and at a server until it is stopped. own, server: peaks in MiB."""

    def __init__(self, own: int, server: int) -> None:
        self.own = self.server = 0.0
        self._roots, self._ended = (own, server), threading.Event()
        self._see([own], [server])  # at once: a busy machine may let the thread begin when all is over
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        own, server = list[int](), list[int]()
        looks, begun = 0, time.monotonic()
        while not self._ended.is_set():
            if looks % _SCAN == 0:
                own, server = (family(root) for root in self._roots)
            looks += 1
            self._see(own, server)
            self._ended.wait(_FIRST_PAUSE if time.monotonic() - begun < _FIRST_SECONDS else _PAUSE)

    def _see(self, own: list[int], server: list[int]) -> None:
        self.own = max(self.own, sum(_peaks(own)))
        self.server = max([self.server, *_peaks(server)])


def _peaks(pids: Iterable[int]) -> list[float]:
    """Largest resident memory so far of processes that live, MiB."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            found += [int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmHWM")]
    return found


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.setdefault(int(_fields(int(path.name))[_PARENT]), []).append(int(path.name))
    return found


def _cpu(pid: int) -> float:
    try:
        return sum(int(ticks) for ticks in _fields(pid)[_TIMES]) / _TICKS
    except OSError:  # it has ended; its parent counts it
        return 0.0


def _fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:])
