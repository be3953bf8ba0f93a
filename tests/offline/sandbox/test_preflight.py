"""What cannot work is refused before anything is changed, with its cause and the next step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import facts, layout, preflight
from sandbox.cluster.facts import Process
from sandbox.errors import SandboxError
from tests.offline.sandbox.fakes import machine, program

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home


@pytest.fixture
def kubelet_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kubelet's directory, not there yet, on a machine without another kubelet."""
    root = tmp_path / "kubelet"
    monkeypatch.setattr(layout, "KUBELET_ROOT", root)
    monkeypatch.setattr(layout, "KUBELET_MARK", root / ".plumbline")
    monkeypatch.setattr(facts, "foreign_kubelets", list)
    return root


def routes(fake_bin: Path, *found: dict[str, str]) -> None:
    """Let the machine have these routes."""
    program(fake_bin, "ip", f"echo '{json.dumps(found)}'")


@pytest.fixture
def quiet(fake_bin: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing listens, with a default route. Returns the directory of its programs."""
    monkeypatch.setattr(facts, "listening", dict)
    routes(fake_bin, {"dst": "default", "dev": "eth0"}, {"dst": "192.0.2.0/24", "dev": "eth0"})
    return fake_bin


def test_machine_on_which_everything_holds_is_accepted(home: Home) -> None:
    preflight.check_machine(machine())
    preflight.check_room(home, machine())


def test_other_systems_are_sent_to_a_cluster_they_have() -> None:
    with pytest.raises(SandboxError, match=r"needs Linux; this is Darwin[\s\S]*STACK=kind"):
        preflight.check_machine(machine(system="Darwin"))


def test_users_without_root_are_sent_to_a_cluster_they_have() -> None:
    with pytest.raises(SandboxError, match=r"needs root[\s\S]*STACK=kind"):
        preflight.check_machine(machine(is_root=False))


def test_too_little_disk_is_named_with_the_need(home: Home) -> None:
    with pytest.raises(SandboxError) as caught:
        preflight.check_room(home, machine(free_gib=4.94))
    assert caught.value.what == f"{home.root} has 4.9 GiB free; the embedded cluster needs 5 GiB"


def test_too_little_memory_is_named_with_the_need(home: Home) -> None:
    with pytest.raises(SandboxError) as caught:
        preflight.check_room(home, machine(memory_gib=3.94))
    assert caught.value.what == "3.9 GiB of memory are available; the embedded cluster needs 4 GiB"


@pytest.mark.usefixtures("kubelet_root")
def test_foreign_kubelet_is_named_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "foreign_kubelets", lambda: [Process(4711, 1, "k3s-server", None)])
    with pytest.raises(SandboxError, match=r"another cluster runs on this machine: k3s-server \(process 4711\)"):
        preflight.check_strangers()


def test_kubelet_directory_without_our_mark_is_refused(kubelet_root: Path) -> None:
    (kubelet_root / "pods").mkdir(parents=True)
    with pytest.raises(SandboxError, match=r"belongs to another kubelet \(no \.plumbline in it\)"):
        preflight.check_strangers()
    assert (kubelet_root / "pods").is_dir()


@pytest.mark.parametrize("content", [[], [".plumbline"], [".plumbline", "pods"]], ids=["empty", "mark", "remains"])
def test_kubelet_directory_of_our_own_is_accepted(kubelet_root: Path, content: list[str]) -> None:
    kubelet_root.mkdir()
    for name in content:
        (kubelet_root / name).touch()
    preflight.check_strangers()


@pytest.mark.usefixtures("kubelet_root")
def test_machine_that_never_had_a_kubelet_is_accepted() -> None:
    preflight.check_strangers()


@pytest.mark.usefixtures("quiet")
def test_quiet_network_is_accepted() -> None:
    preflight.check_network()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("address", ["10.203.0.1", "0.0.0.0", "::"])  # noqa: S104  addresses to be refused
def test_port_in_use_is_named_with_the_process_that_needs_it(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(facts, "listening", lambda: {6443: {address}})
    with pytest.raises(SandboxError) as caught:
        preflight.check_network()
    assert caught.value.what == f"port 6443 is in use on {address}; kube-apiserver needs it for API"
    assert "ss -ltnp 'sport = :6443'" in caught.value.remedy


@pytest.mark.usefixtures("quiet")
def test_port_in_use_on_another_address_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "listening", lambda: {6443: {"192.0.2.1"}, 53: {"127.0.0.53"}, 22: {"0.0.0.0"}})  # noqa: S104  a listener to be ignored
    preflight.check_network()


@pytest.mark.parametrize("dst", ["10.203.0.0/16", "10.203.0.128/25", "10.203.17.4", "10.0.0.0/8"])
def test_route_into_the_clusters_networks_is_refused(quiet: Path, dst: str) -> None:
    routes(quiet, {"dst": "default", "dev": "eth0"}, {"dst": dst, "dev": "tun0"})
    with pytest.raises(SandboxError, match=rf"routes {dst}(/32)? to tun0; the cluster needs 10\.203\."):
        preflight.check_network()


def test_route_of_our_own_bridge_is_accepted(quiet: Path) -> None:
    routes(quiet, {"dst": "10.203.0.0/24", "dev": "plumbline0"})
    preflight.check_network()
