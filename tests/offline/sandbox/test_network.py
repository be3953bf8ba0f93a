"""The bridge, kernel settings, interfaces and sets of addresses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import network
from tests.offline.sandbox.fakes import host_tools, program

if TYPE_CHECKING:
    from pathlib import Path

LINKS = [
    {"ifname": "lo"},
    {"ifname": "docker0"},
    {"ifname": "plumbline0"},
    {"ifname": "veth0a1b2c3d", "master": "plumbline0"},
    {"ifname": "veth9f8e7d6c", "master": "docker0"},
    {"ifname": "my-tap", "master": "plumbline0"},
    {"ifname": "kube-ipvs0"},
]


@pytest.fixture
def calls(fake_bin: Path, tmp_path: Path) -> Path:
    """A fake `ip` that knows LINKS. Returns the file that notes its calls."""
    log = tmp_path / "ip.log"
    log.touch()
    listed = f"[ \"$1\" = -json ] && echo '{json.dumps(LINKS)}'"
    program(fake_bin, "ip", f'echo "$*" >> {log}; {listed}; exit 0')
    return log


@pytest.fixture
def sysctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kernel settings of a machine that has two of them."""
    root = tmp_path / "sys"
    for name, value in {"net/ipv4/ip_forward": "0\n", "kernel/panic": "7\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(value)
    monkeypatch.setattr(network, "SYSCTL", root)
    return root


@pytest.mark.usefixtures("sysctl")
def test_settings_that_the_machine_has_are_read() -> None:
    assert network.read_sysctls() == {"net/ipv4/ip_forward": "0", "kernel/panic": "7"}


def test_settings_are_put_back(sysctl: Path) -> None:
    before = network.read_sysctls()
    (sysctl / "net/ipv4/ip_forward").write_text("1\n")
    network.write_sysctls(before)
    assert network.read_sysctls() == before


def test_setting_that_the_machine_lacks_is_no_error(sysctl: Path) -> None:
    network.write_sysctls({"net/bridge/bridge-nf-call-iptables": "1"})
    assert not (sysctl / "net/bridge").exists()


def test_bridge_and_pods_cables_are_deleted_and_no_other_link(calls: Path) -> None:
    network.remove_links()
    deleted = [line.split()[-1] for line in calls.read_text().splitlines() if line.startswith("link delete")]
    assert deleted == ["veth0a1b2c3d", "plumbline0", "kube-ipvs0"]


@pytest.mark.usefixtures("sysctl")
def test_bridge_that_is_there_is_not_made_again(calls: Path) -> None:
    network.create_bridge()
    assert "link add" not in calls.read_text()
    assert "link set plumbline0 up" in calls.read_text()


def test_bridge_is_made_with_the_gateways_address(calls: Path, sysctl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "links", dict)
    network.create_bridge()
    assert calls.read_text().splitlines() == [
        "link add plumbline0 type bridge",
        "address add 10.203.0.1/24 dev plumbline0",
        "link set plumbline0 up",
        "route replace 10.203.16.0/22 dev plumbline0",
    ]
    assert (sysctl / "net/ipv4/ip_forward").read_text() == "1"


def test_only_the_clusters_sets_of_addresses_are_destroyed(tmp_path: Path) -> None:
    tools, log = host_tools(tmp_path / "tools"), tmp_path / "ipset.log"
    names = "KUBE-SRC-ABC\\ninet6:KUBE-DST-X\\nkube-router-local-ips\\nfail2ban-sshd\\nMY-KUBE\\n"
    program(tools.bin, "ipset", f'echo "$1 $2" >> {log}; [ "$1" = list ] && printf "{names}"; exit 0')
    for applet in ("iptables-save", "ip6tables-save"):
        program(tools.bin, applet, "exit 1")
    network.remove_rules(tools)
    destroyed = [line.split()[1] for line in log.read_text().splitlines() if line.startswith("destroy")]
    assert destroyed == ["KUBE-SRC-ABC", "inet6:KUBE-DST-X", "kube-router-local-ips"]


def test_tables_without_the_cluster_are_not_written(tmp_path: Path) -> None:
    tools = host_tools(tmp_path / "tools")
    for family in ("iptables", "ip6tables"):
        program(tools.bin, f"{family}-save", 'printf "*nat\\n:INPUT ACCEPT [0:0]\\nCOMMIT\\n"')
        program(tools.bin, f"{family}-restore", f"touch {tmp_path}/written")
    program(tools.bin, "ipset", "exit 0")
    network.remove_rules(tools)
    assert not (tmp_path / "written").exists()


def test_tables_are_written_with_their_counters(tmp_path: Path) -> None:
    tools = host_tools(tmp_path / "tools")
    for family in ("iptables", "ip6tables"):
        program(tools.bin, f"{family}-save", 'printf "*nat\\n:INPUT DROP [5:6]\\n:KUBE-X - [0:0]\\nCOMMIT\\n"')
        program(tools.bin, f"{family}-restore", f'[ "$1" = -c ] && cat > {tmp_path}/{family}')
    program(tools.bin, "ipset", "exit 0")
    network.remove_rules(tools)
    assert (tmp_path / "iptables").read_text() == "*nat\n:INPUT DROP [5:6]\nCOMMIT\n"
    assert (tmp_path / "ip6tables").read_text() == "*nat\n:INPUT DROP [5:6]\nCOMMIT\n"
