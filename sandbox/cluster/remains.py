"""Leaves nothing of a cluster on the machine but its state: used by stop, and by start after a kill."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.cluster import daemons, layout, network, ownership
from sandbox.errors import SandboxError
from sandbox.process import run

if TYPE_CHECKING:
    from sandbox.hosttools import HostTools

CGROUP_ROOT: Final = Path("/sys/fs/cgroup")
NETNS: Final = Path("/run/netns")
MOUNTS: Final = Path("/proc/self/mountinfo")
POD_GRACE: Final = 30.0
ORDER: Final = ("gpu-plugin", "kube-router", "local-path-provisioner", "kube-proxy", "coredns")
CONTROL: Final = ("kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd", "containerd")


def end_everything() -> None:
    """End pods and processes of whatever embedded cluster runs or was killed here, in an order that loses nothing.

    The kubelet first, so that it restarts nothing; then pods with time to write; then control plane, store last.
    """
    running = daemons.running()
    daemons.end([running[n] for n in ("kubelet",) if n in running], grace=5)
    ours = layout.KUBELET_MARK.exists()  # else they are another cluster's pods
    pods = [p for group in pod_cgroups() for p in daemons.in_cgroup(group)] if ours else []
    daemons.end([p for p in pods if p.name != "catatonit"], grace=POD_GRACE)
    daemons.end([p for p in pods if p.name == "catatonit"], grace=2)
    daemons.end([running[n] for n in ORDER if n in running], grace=5)
    for name in CONTROL:
        if name in running:
            daemons.end([running[name]], grace=15)
    daemons.end(daemons.marked(), grace=3)


def remove(state: Path | None, tools: HostTools) -> None:
    """Unmount, delete links, namespaces, rules, sets and control groups. Everything must have been ended before."""
    prefixes = [str(layout.KUBELET_ROOT), str(layout.RUN), str(NETNS / "cni-")]
    if state is not None:
        prefixes.append(str(state))
    unmount(prefixes)
    _remove_namespaces()
    network.remove_links()
    network.remove_rules(tools)
    _remove_cgroups()
    _remove_fixed_paths()
    shutil.rmtree(layout.CONTAINERD_RUN, ignore_errors=True)
    layout.LOST_GPUS.unlink(missing_ok=True)


def _remove_fixed_paths() -> None:
    if layout.KUBELET_MARK.exists():
        for path in layout.KUBELET_ROOT.iterdir():  # the mark last: what a killed removal leaves must be known as ours
            if path.is_dir() and not path.is_symlink():
                remove_tree(path)
            elif path != layout.KUBELET_MARK:
                path.unlink()
        for path in layout.KUBELET_PATHS:
            remove_tree(path)
    shutil.rmtree(layout.CNI_STATE / "networks" / layout.CNI_NETWORK, ignore_errors=True)
    for path in (layout.CNI_STATE / "results").glob(f"{layout.CNI_NETWORK}-*"):
        path.unlink()
    for path in (layout.CNI_STATE / "networks", layout.CNI_STATE / "results", layout.CNI_STATE):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def give_back(tools: HostTools) -> str | None:
    """Leave the machine as it was before the recorded cluster, kernel settings and record included.

    Everything must have been ended before. Returns the name of that cluster's state, None when none is recorded.
    """
    owner = ownership.read_owner()
    remove(owner.state if owner else None, tools)
    if owner is not None:
        network.write_sysctls(owner.sysctls)
    ownership.clear_owner()
    return owner.name if owner else None


def mounts() -> list[str]:
    """Mount points, in the order in which they were mounted."""
    return _column(4)


def bind_sources() -> list[str]:
    """Directories of their file systems that are mounted somewhere: a volume bound into a pod is one."""
    return _column(3)


def _column(number: int) -> list[str]:
    lines = MOUNTS.read_text(errors="surrogateescape").splitlines()
    return [re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), line.split(" ")[number]) for line in lines]


def unmount(prefixes: list[str]) -> None:
    """Unmount all below the prefixes, the last one first. Raises SandboxError when something stays mounted."""
    real = [str(Path(p).resolve()) for p in prefixes]  # the kernel lists mount points without symbolic links

    def below() -> list[str]:
        return [m for m in mounts() if any(m == p or m.startswith(p if p.endswith("-") else p + "/") for p in real)]

    for _ in range(10):
        found = below()
        if not found:
            return
        for point in reversed(found):
            run(["umount", point], timeout=30, check=False)
        time.sleep(0.1)
    for point in reversed(below()):
        run(["umount", "--lazy", point], timeout=30, check=False)
    if below():
        raise SandboxError(
            f"still mounted: {', '.join(below())}", "find who uses them (fuser -m), end it, then run this again"
        )


def remove_tree(path: Path) -> None:
    """Delete a directory, after making sure that nothing is mounted below it: a bind mount leads into user data."""
    if not path.exists():
        return
    real = path.resolve()
    inside = [m for m in mounts() if m == str(real) or m.startswith(f"{real}/")]
    users = [m for m in bind_sources() if m.startswith(f"{real}/")]
    if users:
        raise SandboxError(
            f"{path} is not deleted: {users[0]} is in use by a pod", "stop that cluster first: make down"
        )
    if inside:
        raise SandboxError(
            f"{path} is not deleted: {inside[0]} is mounted in it", "unmount it, then run the same command again"
        )
    shutil.rmtree(path)


def pod_cgroups() -> list[Path]:
    """The `kubepods` control groups: one on version 2, one per controller on version 1."""
    candidates = [CGROUP_ROOT / "kubepods", *(p / "kubepods" for p in CGROUP_ROOT.iterdir() if p.is_dir())]
    return [p for p in candidates if p.is_dir()]


def _remove_cgroups() -> None:
    for top in pod_cgroups():
        for directory, _, _ in sorted(os.walk(top), key=lambda item: -item[0].count("/")):
            for _ in range(20):
                try:
                    Path(directory).rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:  # a process that was just killed is still listed for a moment
                    time.sleep(0.1)


def _remove_namespaces() -> None:
    if NETNS.is_dir():
        for path in NETNS.glob("cni-*"):
            run(["ip", "netns", "delete", path.name], timeout=10, check=False)
            path.unlink(missing_ok=True)
