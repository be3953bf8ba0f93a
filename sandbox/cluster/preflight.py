"""What must hold before a cluster is started here: looked at first, reported together, nothing changed."""

from __future__ import annotations

import ipaddress
import json
from typing import TYPE_CHECKING, Final

from sandbox.cluster import facts, layout
from sandbox.errors import SandboxError
from sandbox.process import run

if TYPE_CHECKING:
    from sandbox.cluster.facts import Machine
    from sandbox.home import Home

FREE_GIB: Final = 5.0
MEMORY_GIB: Final = 4.0
ELSEWHERE: Final = "or deploy to a cluster that you already have: make up STACK=kind"


def check_machine(machine: Machine) -> None:
    """Raise SandboxError unless this machine can run the embedded cluster at all."""
    if machine.system != "Linux":
        raise SandboxError(
            f"the embedded cluster needs Linux; this is {machine.system}", f"use a Linux machine, {ELSEWHERE}"
        )
    if not machine.is_root:
        raise SandboxError("the embedded cluster needs root (mounts, network, cgroups)", f"run it as root, {ELSEWHERE}")


def check_room(home: Home, machine: Machine) -> None:
    """Raise SandboxError when disk or memory is too small for the cluster to stay healthy."""
    if machine.free_gib < FREE_GIB:
        raise SandboxError(
            f"{home.root} has {machine.free_gib:.1f} GiB free; the embedded cluster needs {FREE_GIB:.0f} GiB",
            "free space, or set PLUMBLINE_HOME to a larger file system",
        )
    if machine.memory_gib < MEMORY_GIB:
        raise SandboxError(
            f"{machine.memory_gib:.1f} GiB of memory are available; the embedded cluster needs {MEMORY_GIB:.0f} GiB",
            f"end what uses it, {ELSEWHERE}",
        )


def check_strangers() -> None:
    """Raise SandboxError when another cluster's kubelet, or what it left, is on the machine.

    The kubelet's paths and chain names are fixed, so two of them on one machine destroy each other's pods.
    """
    strangers = facts.foreign_kubelets()
    if strangers:
        names = ", ".join(f"{p.name} (process {p.pid})" for p in strangers)
        raise SandboxError(
            f"another cluster runs on this machine: {names}",
            f"stop it first (k3s-killall.sh, kubeadm reset, kind delete cluster), {ELSEWHERE}",
        )
    root = layout.KUBELET_ROOT
    if root.is_dir() and any(root.iterdir()) and not layout.KUBELET_MARK.exists():
        raise SandboxError(
            f"{root} belongs to another kubelet (no {layout.KUBELET_MARK.name} in it)",
            f"remove that cluster with its own tool, {ELSEWHERE}",
        )


def check_network() -> None:
    """Raise SandboxError when a port is taken or an address range of the cluster is in use."""
    listening = facts.listening()
    for item in layout.LISTENERS:
        taken = listening.get(item.port, set()) & {item.address, "0.0.0.0", "::"}  # noqa: S104  a comparison, no bind
        if taken:
            raise SandboxError(
                f"port {item.port} is in use on {', '.join(sorted(taken))}; {item.process} needs it for {item.purpose}",
                f"end what listens there (ss -ltnp 'sport = :{item.port}'), then run the same command again",
            )
    wanted = [ipaddress.ip_network(cidr) for cidr in (layout.POD_CIDR, layout.SERVICE_CIDR)]
    routes = json.loads(run(["ip", "-json", "route", "show", "table", "main"], timeout=10).stdout or "[]")
    for route in routes:
        if route["dst"] == "default" or route.get("dev") == layout.BRIDGE:
            continue
        network = ipaddress.ip_network(route["dst"])
        clash = next((w for w in wanted if w.overlaps(network)), None)
        if clash is not None:
            raise SandboxError(
                f"the machine routes {network} to {route.get('dev')}; the cluster needs {clash} for itself",
                f"remove that route, {ELSEWHERE}",
            )
