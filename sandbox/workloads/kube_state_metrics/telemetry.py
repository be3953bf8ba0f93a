"""What the stand-in exposes about itself, in the order and words of upstream's own registry."""

from __future__ import annotations

import os
import platform
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics import VERSION
from sandbox.workloads.kube_state_metrics.text import line

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIST: Final = ("kube_state_metrics_list_total", "Number of total resource list calls in kube-state-metrics")
_WATCH: Final = ("kube_state_metrics_watch_total", "Number of total resource watch calls in kube-state-metrics")
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_AFTER_NAME: Final = 2
"""Field of /proc/<pid>/stat that follows the name in parentheses, counted from 1 minus one."""


@dataclass(frozen=True)
class Process:
    """The program as the kernel sees it. Times in seconds, memory in bytes."""

    cpu: float
    start: float
    resident: int
    virtual: int
    open_files: int
    most_files: int


class Counters:
    """Lists and watches by result and resource. Safe to use from several threads."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._lock = threading.Lock()
        self._lists: Counter[tuple[str, str]] = Counter()
        self._watches: Counter[tuple[str, str]] = Counter()

    def listed(self, resource: str, result: str) -> None:
        """One more list. result: `success` or `error`."""
        with self._lock:
            self._lists[resource, result] += 1

    def watched(self, resource: str, result: str) -> None:
        """One more watch. result: `success` or `error`."""
        with self._lock:
            self._watches[resource, result] += 1

    def read(self) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], int]]:
        """Lists and watches so far: (resource, result) → count."""
        with self._lock:
            return dict(self._lists), dict(self._watches)


def exposition(counters: Counters, process: Process) -> str:
    """The page on the telemetry port."""
    lists, watches = counters.read()
    return "".join(
        [
            _build_info(),
            _calls(*_LIST, lists),
            _family(
                "kube_state_metrics_shard_ordinal",
                "Current sharding ordinal/index of this instance",
                "gauge",
                [((("shard_ordinal", "0"),), 0)],
            ),
            _plain("kube_state_metrics_total_shards", "Number of total shards this instance is aware of", 1),
            _calls(*_WATCH, watches),
            _process(process),
        ]
    )


def _build_info() -> str:
    labels = {
        "branch": "sandbox-stand-in",  # nobody shall take this for upstream's own build
        "client_go_version": "none",
        "goarch": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "goos": platform.system().lower(),
        "goversion": "none",
        "revision": "none",
        "tags": "none",
        "version": VERSION,
    }
    text = (
        "A metric with a constant '1' value labeled by version, revision, branch, goversion from which "
        "kube_state_metrics was built, and the goos and goarch for the build."
    )
    return _family("kube_state_metrics_build_info", text, "gauge", [(tuple(labels.items()), 1)])


def _process(process: Process) -> str:
    return "".join(
        [
            _plain(
                "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", process.cpu, "counter"
            ),
            _plain("process_max_fds", "Maximum number of open file descriptors.", process.most_files),
            _plain("process_open_fds", "Number of open file descriptors.", process.open_files),
            _plain("process_resident_memory_bytes", "Resident memory size in bytes.", process.resident),
            _plain(
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds.",
                process.start,
            ),
            _plain("process_virtual_memory_bytes", "Virtual memory size in bytes.", process.virtual),
        ]
    )


def _calls(name: str, text: str, counts: dict[tuple[str, str], int]) -> str:
    samples = [((("resource", resource), ("result", result)), n) for (resource, result), n in sorted(counts.items())]
    return _family(name, text, "counter", samples) if samples else ""


def _plain(name: str, text: str, value: float, kind: str = "gauge") -> str:
    return _family(name, text, kind, [((), value)])


def _family(name: str, text: str, kind: str, samples: Iterable[tuple[tuple[tuple[str, str], ...], float]]) -> str:
    series = "".join(line(name, labels, value) for labels, value in samples)
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n{series}"


def read_process(proc: Path = Path("/proc")) -> Process:
    """This process, from /proc as proc_pid_stat(5) lays it out."""
    fields = (proc / "self/stat").read_text().rpartition(")")[2].split()
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    boot = next(int(row.split()[1]) for row in (proc / "stat").read_text().splitlines() if row.startswith("btime "))
    limit = next(
        row.split()[3] for row in (proc / "self/limits").read_text().splitlines() if row.startswith("Max open files")
    )
    return Process(
        cpu=(int(_field(fields, 14)) + int(_field(fields, 15))) / ticks,
        start=boot + int(_field(fields, 22)) / ticks,
        virtual=int(_field(fields, 23)),
        resident=int(_field(fields, 24)) * page,
        open_files=len(list((proc / "self/fd").iterdir())),
        most_files=int(limit) if limit.isdigit() else 0,
    )


def _field(fields: list[str], number: int) -> str:
    """Field by its number in the manual page, from the fields behind the name, which is the second."""
    return fields[number - _AFTER_NAME - 1]
