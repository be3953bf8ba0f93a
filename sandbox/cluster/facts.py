"""What this machine is: detected, never assumed."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from sandbox.cluster.layout import MARK_VARIABLE

if TYPE_CHECKING:
    from sandbox.home import Home

CAP_SYS_RESOURCE: Final = 24
FOREIGN_KUBELETS: Final = (
    *("kubelet", "k3s", "k3s-server", "k3s-agent", "k0s", "microk8s", "rke2", "kubelite", "hyperkube"),
)
TCP_LISTEN: Final = "0A"
PROC: Final = Path("/proc")
IPV4_MAPPED: Final = bytes(8) + b"\xff\xff\x00\x00"  # ::ffff:0:0/96 in the kernel's little-endian words


@dataclass(frozen=True)
class Process:
    """A process: its id, the start time that makes it unique, its name, its cluster's mark, the id of its parent."""

    pid: int
    started: int
    name: str
    mark: str | None
    parent: int = 1


@dataclass(frozen=True)
class Machine:
    """Facts that decide how the cluster is started. free_gib and memory_gib in GiB."""

    system: str
    is_root: bool
    cgroup: Literal["v1", "v2"]
    may_raise_oom_score: bool
    free_gib: float
    memory_gib: float


def gather(home: Home) -> Machine:
    """Read-only look at the machine."""
    existing = next(p for p in (home.root, *home.root.parents) if p.exists())
    return Machine(
        system=platform.system(),
        is_root=os.geteuid() == 0,
        cgroup="v2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "v1",
        may_raise_oom_score=_has_capability(CAP_SYS_RESOURCE),
        free_gib=shutil.disk_usage(existing).free / 2**30,
        memory_gib=_memory_gib(),
    )


def processes() -> list[Process]:
    """Every process that can be read; kernel threads have no mark."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            process = read_process(int(path.name))
            if process is not None:
                found.append(process)
    return found


def read_process(pid: int) -> Process | None:
    """The process with this id, or None when it has ended (zombies count as ended)."""
    root = Path("/proc") / str(pid)
    try:
        name, _, rest = (root / "stat").read_text().partition("(")[2].rpartition(")")
        fields = rest.split()
        if fields[0] in ("Z", "X"):
            return None
        environment = (root / "environ").read_bytes().split(b"\0")
    except (OSError, IndexError):
        return None
    prefix = f"{MARK_VARIABLE}=".encode()
    mark = next((e.removeprefix(prefix).decode() for e in environment if e.startswith(prefix)), None)
    return Process(pid, int(fields[19]), name, mark, int(fields[1]))


def foreign_kubelets() -> list[Process]:
    """Kubelets of other clusters on this machine, in containers too (kind, minikube)."""
    return [p for p in processes() if p.mark is None and p.name in FOREIGN_KUBELETS]


def listening() -> dict[int, set[str]]:
    """TCP port → local addresses that something listens on; `0.0.0.0` and `::` stand for all of them."""
    found: dict[int, set[str]] = {}
    for table in ("tcp", "tcp6"):
        path = Path("/proc/net") / table
        if not path.exists():
            continue
        for line in path.read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] != TCP_LISTEN:
                continue
            address, port = columns[1].split(":")
            found.setdefault(int(port, 16), set()).add(_address(address))
    return found


def _address(text: str) -> str:
    raw = bytes.fromhex(text)
    if raw[:12] == IPV4_MAPPED:  # what a dual-stack program (Java) opens for an IPv4 address
        raw = raw[12:]
    if len(raw) == 4:  # noqa: PLR2004  bytes of an IPv4 address
        return ".".join(str(b) for b in reversed(raw))
    return "::" if not any(raw) else raw.hex()


def _has_capability(number: int) -> bool:
    return bool(int(_proc_field("self/status", "CapEff:"), 16) >> number & 1)


def _memory_gib() -> float:
    return int(_proc_field("meminfo", "MemAvailable:")) / 2**20


def _proc_field(file: str, name: str) -> str:
    """First word after `name`; "0" where there is no such file: on another system, which preflight then refuses."""
    path = PROC / file
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split()[1] for line in lines if line.startswith(name)), "0")
