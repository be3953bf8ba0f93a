"""The pod bridge, kernel settings, and the removal of what a cluster leaves in the network."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.cluster.layout import BRIDGE, BRIDGE_ADDRESS, POD_CIDR
from sandbox.process import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.hosttools import HostTools

SYSCTL: Final = Path("/proc/sys")
# Written by us, the kubelet or kube-proxy while the cluster runs; put back at stop.
TOUCHED_SYSCTLS: Final = (
    "net/ipv4/ip_forward",
    "net/ipv4/conf/all/route_localnet",
    "net/bridge/bridge-nf-call-iptables",
    "net/bridge/bridge-nf-call-ip6tables",
    "net/netfilter/nf_conntrack_tcp_be_liberal",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
OUR_CHAIN: Final = re.compile(r"(KUBE|CNI|CNI-HOSTPORT)-[\w-]+")
OUR_SETS: Final = re.compile(r"^(inet6:)?(KUBE|kube-router)")
POD_LINK: Final = re.compile(r"^veth[0-9a-f]{8}$")


def read_sysctls() -> dict[str, str]:
    """Current values of the settings that a running cluster changes."""
    found = {}
    for name in TOUCHED_SYSCTLS:
        path = SYSCTL / name
        if path.exists():
            found[name] = path.read_text().strip()
    return found


def write_sysctls(values: Mapping[str, str]) -> None:
    """Set kernel settings that exist here and differ."""
    for name, value in values.items():
        path = SYSCTL / name
        if path.exists() and path.read_text().strip() != value:
            path.write_text(value)


def create_bridge() -> None:
    """Create the bridge with its address before the kubelet needs it, and let packets through."""
    if BRIDGE not in links():
        run(["ip", "link", "add", BRIDGE, "type", "bridge"], timeout=10)
        run(["ip", "address", "add", f"{BRIDGE_ADDRESS}/{POD_CIDR.rsplit('/', 1)[1]}", "dev", BRIDGE], timeout=10)
    run(["ip", "link", "set", BRIDGE, "up"], timeout=10)
    write_sysctls({"net/ipv4/ip_forward": "1", "net/bridge/bridge-nf-call-iptables": "1"})


def links() -> dict[str, str]:
    """Network interface → name of the bridge it belongs to, or ''."""
    raw = json.loads(run(["ip", "-json", "link", "show"], timeout=10).stdout or "[]")
    return {link["ifname"]: link.get("master", "") for link in raw}


def remove_links() -> None:
    """Delete the bridge and the pods' ends of virtual cables that hang on it."""
    found = links()
    for name, master in found.items():
        if master == BRIDGE and POD_LINK.match(name):
            run(["ip", "link", "delete", name], timeout=10, check=False)
    for name in (BRIDGE, "kube-ipvs0", "kube-dummy-if"):
        if name in found:
            run(["ip", "link", "delete", name], timeout=10)


def remove_rules(tools: HostTools) -> None:
    """Take the cluster's chains and the rules that lead to them out of every table; all else stays, counters too."""
    for family in ("iptables", "ip6tables"):
        saved = run([str(tools.bin / f"{family}-save"), "-c"], timeout=30, check=False)
        kept = without_cluster_rules(saved.stdout)
        if saved.code == 0 and kept != saved.stdout:
            run([str(tools.bin / f"{family}-restore"), "-c"], timeout=30, stdin=kept)
    _remove_sets(tools)


def without_cluster_rules(saved: str) -> str:
    """`iptables-save` text less chains and rules of Kubernetes, CNI and kube-router."""
    kept = []
    for line in saved.splitlines():
        declares = line.startswith(":") and OUR_CHAIN.fullmatch(line[1:].split(" ", 1)[0])
        refers = re.match(r"^\[\d+:\d+\] -A ", line) and (
            OUR_CHAIN.search(line) or "kube-router" in line or "kubernetes" in line
        )
        if not declares and not refers:
            kept.append(line)
    return "\n".join(kept) + "\n" if kept else ""


def _remove_sets(tools: HostTools) -> None:
    ipset = str(tools.bin / "ipset")
    listed = run([ipset, "list", "-name"], timeout=30, check=False)
    ours = [name for name in listed.stdout.split() if OUR_SETS.match(name)]
    for name in ours:
        run([ipset, "flush", name], timeout=30, check=False)
    for name in ours:
        run([ipset, "destroy", name], timeout=30, check=False)
