"""The machine that is the node: kernel, cgroups, runtime, kubelet, disk, clock."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from smoke import limits
from smoke.judge.units import timestamp
from smoke.model import Problem

if TYPE_CHECKING:
    from smoke.facts import Cgroups, Kernel, Process, Space

Json = dict[str, Any]

# Name in the node's `containerRuntimeVersion` → name of the process.
RUNTIME_PROCESS = {"containerd": "containerd", "cri-o": "crio", "docker": "cri-dockerd"}
NEEDED_CONTROLLERS = frozenset({"memory", "pids"})
GIB = 1024**3


def own_node(nodes: list[Json], boot_id: str) -> tuple[Json | None, list[Problem]]:
    """The node that this machine is: the one that booted with the machine's boot id."""
    mine = [node for node in nodes if node["status"]["nodeInfo"]["bootID"] == boot_id]
    if len(mine) == 1:
        return mine[0], []
    seen = f"{len(mine)} nodes with boot id {boot_id}"
    return None, [Problem("this machine", seen, "one: capability node-access says that it is a node", terminal=True)]


def kernel(facts: Kernel, node: Json) -> list[Problem]:
    """New enough, with overlay file systems and forwarding, and the very kernel that the node reports."""
    problems = []
    numbers = re.match(r"(\d+)\.(\d+)", facts.release)
    if not numbers or (int(numbers[1]), int(numbers[2])) < limits.KERNEL_MINIMUM:
        least = ".".join(map(str, limits.KERNEL_MINIMUM))
        problems.append(Problem("kernel", facts.release, f"{least} or newer"))
    if "overlay" not in facts.filesystems:
        problems.append(Problem("kernel", "no overlay file system", "overlay in /proc/filesystems"))
    if facts.ip_forward != "1":
        problems.append(Problem("net.ipv4.ip_forward", facts.ip_forward, "1"))
    reported = node["status"]["nodeInfo"]["kernelVersion"]
    if reported != facts.release:
        problems.append(Problem("kernel", facts.release, f"{reported}, as the node reports"))
    return problems


def cgroups(facts: Cgroups) -> list[Problem]:
    """Pods live under the version that the machine mounts, limited in memory and processes."""
    version = {"cgroup2fs": "v2", "tmpfs": "v1"}.get(facts.root_type)
    if version is None:
        return [Problem("/sys/fs/cgroup", facts.root_type, "cgroup2fs (v2) or tmpfs (v1)")]
    controllers = facts.pods.get(version)
    if controllers is None:
        return [Problem(f"cgroup {version}", "no kubepods cgroup", "a kubepods cgroup")]
    missing = ", ".join(sorted(NEEDED_CONTROLLERS - controllers))
    return [Problem(f"kubepods in cgroup {version}", f"without {missing}", "memory and pids")] if missing else []


def runtime_name(node: Json) -> tuple[str, str]:
    """Process name and version of the container runtime that the node reports."""
    name, _, version = node["status"]["nodeInfo"]["containerRuntimeVersion"].partition("://")
    return RUNTIME_PROCESS.get(name, name), version


def runtime(node: Json, processes: list[Process], socket: str, *, socket_exists: bool) -> list[Problem]:
    """A process of the reported version runs, and the kubelet's socket is there."""
    name, version = runtime_name(node)
    problems = []
    versions = [process.version for process in processes]
    if not processes:
        problems.append(Problem(f"process {name}", "not running", "running"))
    elif not any(_number(version) in map(_number, text.split()) for text in versions):
        problems.append(Problem(f"process {name}", "; ".join(versions), f"version {version}, as the node reports"))
    if not socket:
        problems.append(Problem("kubelet", "names no runtime socket", "a flag or setting that names it"))
    elif not socket_exists:
        problems.append(Problem(f"socket {socket}", "does not exist", "a socket"))
    return problems


def kubelet(node: Json, server: str, processes: list[Process], lease: Json | None, now: float) -> list[Problem]:
    """The kubelet runs, speaks the API server's minor version, and renewed the node's lease. `now` is the server's."""
    name = node["metadata"]["name"]
    problems = [] if processes else [Problem("process kubelet", "not running", "running")]
    reported = node["status"]["nodeInfo"]["kubeletVersion"]
    if _minor(reported) != _minor(server):
        problems.append(Problem(f"kubelet of node {name}", reported, f"minor version of the API server, {server}"))
    renewed = ((lease or {}).get("spec") or {}).get("renewTime")
    if not renewed:
        return [*problems, Problem(f"lease of node {name}", "none", "renewed")]
    age = now - timestamp(renewed)
    if age > limits.LEASE_AGE:
        problems.append(Problem(f"lease of node {name}", f"renewed {age:.0f} s ago", f"within {limits.LEASE_AGE:g} s"))
    return problems


def disk(space: Space) -> list[Problem]:
    """Enough bytes and inodes are free where the kubelet keeps its data."""
    problems = []
    least = max(space.bytes_total * limits.DISK_FREE_RATIO, limits.DISK_FREE_BYTES)
    if space.bytes_free < least:
        seen, wanted = f"{space.bytes_free / GIB:.1f} GiB free", f"at least {least / GIB:.1f} GiB"
        problems.append(Problem(f"file system of {space.path}", seen, wanted))
    # Some file systems make inodes as needed and report none.
    if space.inodes and space.inodes_free < space.inodes * limits.INODES_FREE_RATIO:
        wanted = f"at least {space.inodes * limits.INODES_FREE_RATIO:.0f}"
        problems.append(Problem(f"file system of {space.path}", f"{space.inodes_free} inodes free", wanted))
    return problems


def clock(machine: float, others: dict[str, float | None]) -> list[Problem]:
    """The machine's clock agrees with the others'. Unix times; None where a server did not tell its time."""
    problems = []
    for name, told in others.items():
        if told is None:
            problems.append(Problem(f"clock of {name}", "not told", "its time"))
        elif abs(machine - told) >= limits.CLOCK_SKEW:
            seen = f"{machine - told:+.1f} s apart"
            problems.append(Problem(f"clock against {name}", seen, f"less than {limits.CLOCK_SKEW:g} s"))
    return problems


def _number(word: str) -> str:
    """The version's number alone: a distribution's suffix is in what the program prints, not in what the node says."""
    found = re.match(r"v?(\d+(?:\.\d+)+)", word)
    return found[1] if found else word


def _minor(version: str) -> str:
    return ".".join(version.removeprefix("v").split(".")[:2])
