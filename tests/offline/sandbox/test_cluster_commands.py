"""Command lines of the cluster's processes: each with an address to bind to, none open to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.cluster import commands
from sandbox.cluster.commands import Context
from sandbox.cluster.configs import Paths
from sandbox.cluster.layout import LISTENERS
from sandbox.home import Home
from sandbox.hosttools import HostTools

CONTEXT = Context(
    Home(Path("/h")), Paths(Path("/h/state/local")), HostTools(Path("/h/tools")), "plumbline.local/helper:1-a"
)
COMMANDS = {**commands.BEFORE_API, **commands.CONTROL, "kubelet": commands.kubelet, **commands.AFTER_NODE}
BRIDGE, LOOPBACK = "10.203.0.1", "127.0.0.1"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Process → command line."""
    monkeypatch.setattr(commands, "binary", lambda _, name: Path("/h/bin") / name)
    return {name: command(CONTEXT) for name, command in COMMANDS.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_process_binds_to_all_addresses(lines: dict[str, list[str]], name: str) -> None:
    assert not [word for word in lines[name] if "0.0.0.0" in word or "::" in word]  # noqa: S104  a comparison, no bind


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("etcd", [f"--listen-client-urls=https://{LOOPBACK}:23790", f"--listen-peer-urls=https://{LOOPBACK}:23800"]),
        ("kube-apiserver", [f"--bind-address={BRIDGE}", "--secure-port=6443"]),
        ("kube-controller-manager", [f"--bind-address={LOOPBACK}", "--secure-port=10257"]),
        ("kube-scheduler", [f"--bind-address={LOOPBACK}", "--secure-port=10259"]),
        ("kube-router", ["--metrics-port=0", "--health-port=0"]),
        # Addresses of these are in their configuration files.
        ("containerd", ["/h/state/local/config/containerd.toml"]),
        ("coredns", ["/h/state/local/config/Corefile"]),
        ("kubelet", ["--config=/h/state/local/config/kubelet.yaml"]),
        ("kube-proxy", ["--config=/h/state/local/config/kube-proxy.yaml"]),
    ],
)
def test_every_process_is_told_where_to_listen(lines: dict[str, list[str]], name: str, options: list[str]) -> None:
    assert set(options) <= set(lines[name])


def test_every_listener_belongs_to_a_process_that_is_started() -> None:
    assert {item.process for item in LISTENERS} <= set(commands.ALL)


def test_order_of_start() -> None:
    before_api = ["containerd", "etcd", "kube-apiserver"]
    control = ["kube-controller-manager", "kube-scheduler", "coredns"]
    node = ["kubelet", "kube-proxy", "local-path-provisioner", "kube-router", "gpu-plugin"]
    assert list(commands.ALL) == before_api + control + node


def test_store_takes_clients_with_certificates_alone(lines: dict[str, list[str]]) -> None:
    assert {"--client-cert-auth=true", "--peer-client-cert-auth=true"} <= set(lines["etcd"])
    assert "--peer-trusted-ca-file=/h/state/local/pki/ca.crt" in lines["etcd"]


def test_store_keeps_what_was_written(lines: dict[str, list[str]]) -> None:
    assert not [word for word in lines["etcd"] if "unsafe" in word]


def test_api_answers_nobody_unknown(lines: dict[str, list[str]]) -> None:
    assert {"--anonymous-auth=false", "--authorization-mode=Node,RBAC"} <= set(lines["kube-apiserver"])


def test_api_reaches_the_kubelet_by_address(lines: dict[str, list[str]]) -> None:
    assert "--kubelet-preferred-address-types=InternalIP" in lines["kube-apiserver"]


def test_kubelet_names_its_runtime_to_cadvisor(lines: dict[str, list[str]]) -> None:
    assert "--containerd=/run/plumbline/containerd/containerd.sock" in lines["kubelet"]


def test_policy_engine_does_nothing_but_policies(lines: dict[str, list[str]]) -> None:
    switches = {word for word in lines["kube-router"] if word.startswith("--run-")}
    assert {word for word in switches if word.endswith("=true")} == {"--run-firewall=true"}


def test_provisioner_uses_the_image_that_was_built(lines: dict[str, list[str]]) -> None:
    assert "--helper-image=plumbline.local/helper:1-a" in lines["local-path-provisioner"]


def test_no_command_line_holds_a_secret(lines: dict[str, list[str]]) -> None:
    assert not [word for line in lines.values() for word in line if "password" in word or "token=" in word]
