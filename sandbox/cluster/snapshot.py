"""A picture of what a cluster touches on the machine, to prove that `stop` leaves it as `start` found it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from sandbox.cluster import facts, network, remains
from sandbox.cluster.layout import KUBELET_PATHS, RUN
from sandbox.process import run

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.hosttools import HostTools

COUNTERS = re.compile(r"\[\d+:\d+\]")


def take(tools: HostTools) -> dict[str, list[str]]:
    """Kind → sorted things of that kind: processes of clusters, mounts, links, namespaces, rules, sets, cgroups, files.

    A table that is loaded and empty equals one that is not loaded: what counts is chains and rules, and policies that
    differ from ACCEPT.
    """
    return {
        "processes": sorted(f"{p.name} {p.mark}" for p in facts.processes() if p.mark is not None),
        "mounts": sorted(remains.mounts()),
        "links": sorted(network.links()),
        "namespaces": sorted(p.name for p in remains.NETNS.iterdir()) if remains.NETNS.is_dir() else [],
        "iptables": [line for family in ("iptables", "ip6tables") for line in _rules(tools, family)],
        "ipsets": sorted(run([str(tools.bin / "ipset"), "list", "-name"], timeout=30, check=False).stdout.split()),
        "cgroups": sorted(str(p) for p in _cgroups()),
        "sysctls": [f"{name}={value}" for name, value in network.read_sysctls().items()],
        "files": [str(p) for p in (*KUBELET_PATHS, RUN / "owner.json", RUN / "containerd") if p.exists()],
    }


def differences(before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """What was added or lost between two pictures, one line each; things of one name are counted."""
    found = []
    for kind, items in before.items():
        had, has = Counter(items), Counter(after[kind])
        found += [f"{kind}: new {item}" for item in (has - had).elements()]
        found += [f"{kind}: lost {item}" for item in (had - has).elements()]
    return found


def _cgroups() -> set[Path]:
    """Pods' groups and those near the root; deeper ones of other programs come and go by themselves."""
    near = {p for pattern in ("*", "*/*") for p in remains.CGROUP_ROOT.glob(pattern) if p.is_dir()}
    return near | {p for top in remains.pod_cgroups() for p in top.rglob("*") if p.is_dir()}


def _rules(tools: HostTools, family: str) -> list[str]:
    saved = run([str(tools.bin / f"{family}-save")], timeout=30, check=False).stdout
    table, lines = "", []
    for raw in saved.splitlines():
        line = COUNTERS.sub("", raw).strip()
        if line.startswith("*"):
            table = line[1:]
        elif line and not line.startswith("#") and line != "COMMIT" and not re.fullmatch(r":\S+ ACCEPT", line):
            lines.append(f"{family} {table} {line}")
    return lines
