"""The pod bridge, kernel settings, and the removal of what a cluster leaves in the network."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.cluster.layout import BRIDGE, BRIDGE_ADDRESS, CNI_NETWORK, POD_CIDR, SERVICE_CIDR
from sandbox.process import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
OUR_CHAIN: Final = re.compile(r"KUBE-[\w-]+|CNI-(HOSTPORT-\w+|DN-[0-9a-f]+|[0-9a-f]{24})")
SHARED_CHAINS: Final = {"CNI-HOSTPORT-DNAT", "CNI-HOSTPORT-MASQ", "CNI-HOSTPORT-SETMARK"}  # by every CNI network
CNI_NAME: Final = re.compile(r'--comment "(?:dnat )?name: \\"([^"\\]+)\\" id: ')
RULE: Final = re.compile(r"\[\d+:\d+\] -A (?P<chain>\S+) .*")
QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
TARGET: Final = re.compile(r" -[jg] (\S+)")
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
    # A packet to a service that has no rule yet must not leave the machine by its default route: whoever answers out
    # there would be taken for the service, for as long as the connection lives.
    run(["ip", "route", "replace", SERVICE_CIDR, "dev", BRIDGE], timeout=10)
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
    """`iptables-save -c` text less chains and rules of the cluster; every other line stays as it is."""
    lines = saved.splitlines(keepends=True)
    ours = _cluster_chains(lines)

    def belongs(line: str) -> bool:
        if line.startswith(":"):
            return line[1:].split(" ", 1)[0] in ours
        rule = RULE.match(line)
        return rule is not None and (rule["chain"] in ours or _target(line) in ours)

    return "".join(line for line in lines if not belongs(line))


def _cluster_chains(lines: Sequence[str]) -> set[str]:
    """Chains of Kubernetes and kube-router, and of CNI as far as no other network (podman, nerdctl) uses them."""
    ours = {name for line in lines if line.startswith(":") and OUR_CHAIN.fullmatch(name := line[1:].split(" ", 1)[0])}
    named = [(rule, found[1]) for line in lines if (rule := RULE.match(line)) and (found := CNI_NAME.search(line))]
    strangers = [rule for rule, network in named if network != CNI_NETWORK]
    foreign = {name for rule in strangers for name in (rule["chain"], _target(rule.string))}
    return ours - foreign - (SHARED_CHAINS if strangers else set())


def _target(line: str) -> str:
    found = TARGET.search(QUOTED.sub("", line))
    return found[1] if found else ""


def has_chain(tools: HostTools, name: str) -> bool:
    """Whether the filter table has this chain."""
    return run([str(tools.bin / "iptables"), "-w", "-S", name], timeout=30, check=False).code == 0


def _remove_sets(tools: HostTools) -> None:
    ipset = str(tools.bin / "ipset")
    listed = run([ipset, "list", "-name"], timeout=30, check=False)
    ours = [name for name in listed.stdout.split() if OUR_SETS.match(name)]
    for name in ours:
        run([ipset, "flush", name], timeout=30, check=False)
    for name in ours:
        run([ipset, "destroy", name], timeout=30, check=False)
