"""A picture of the machine before and after tells everything that a cluster left or took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import facts, network, remains, snapshot
from sandbox.cluster.facts import Process
from sandbox.cluster.snapshot import differences
from tests.offline.sandbox.fakes import host_tools, program

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.hosttools import HostTools

KINDS = ("processes", "mounts", "links", "namespaces", "iptables", "ipsets", "cgroups", "sysctls", "files")
LOADED = "*nat\\n:PREROUTING ACCEPT [1:2]\\n:OUTPUT ACCEPT [3:4]\\nCOMMIT\\n"
RULES = "*filter\\n:INPUT DROP [5:6]\\n:KUBE-X - [0:0]\\n[7:8] -A INPUT -i lo -j ACCEPT\\nCOMMIT\\n"


def picture(**things: list[str]) -> dict[str, list[str]]:
    """A machine with one thing of each kind, and these."""
    return {kind: [f"a {kind}"] for kind in KINDS} | things


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostTools:
    """Tools on a machine that has nothing of a cluster."""
    monkeypatch.setattr(facts, "processes", list)
    monkeypatch.setattr(remains, "mounts", list)
    monkeypatch.setattr(network, "links", dict)
    monkeypatch.setattr(network, "read_sysctls", dict)
    monkeypatch.setattr(remains, "NETNS", tmp_path / "netns")
    monkeypatch.setattr(remains, "CGROUP_ROOT", tmp_path / "cgroup")
    (tmp_path / "cgroup").mkdir()
    monkeypatch.setattr(snapshot, "KUBELET_PATHS", (tmp_path / "kubelet",))
    monkeypatch.setattr(snapshot, "RUN", tmp_path / "run")
    found = host_tools(tmp_path / "tools")
    for name in ("iptables-save", "ip6tables-save", "ipset"):
        program(found.bin, name, "exit 0")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_added_thing_is_told(kind: str) -> None:
    assert differences(picture(), picture(**{kind: [f"a {kind}", "b"]})) == [f"{kind}: new b"]


@pytest.mark.parametrize("kind", KINDS)
def test_lost_thing_is_told(kind: str) -> None:
    assert differences(picture(), picture(**{kind: []})) == [f"{kind}: lost a {kind}"]


def test_equal_pictures_have_no_difference() -> None:
    assert differences(picture(), picture()) == []


def test_second_thing_of_one_name_is_told() -> None:
    assert differences(picture(mounts=["/h/v"]), picture(mounts=["/h/v", "/h/v"])) == ["mounts: new /h/v"]


def test_picture_has_every_kind(tools: HostTools) -> None:
    assert tuple(snapshot.take(tools)) == KINDS


def test_machine_without_a_cluster_is_an_empty_picture(tools: HostTools) -> None:
    assert [thing for things in snapshot.take(tools).values() for thing in things] == []


def test_table_that_was_only_loaded_is_no_difference(tools: HostTools) -> None:
    before = snapshot.take(tools)
    program(tools.bin, "iptables-save", f'printf "{LOADED}"')
    assert differences(before, snapshot.take(tools)) == []


def test_chains_rules_and_policies_are_seen_without_their_counters(tools: HostTools) -> None:
    program(tools.bin, "iptables-save", f'printf -- "{RULES}"')
    assert snapshot.take(tools)["iptables"] == [
        "iptables filter :INPUT DROP",
        "iptables filter :KUBE-X -",
        "iptables filter -A INPUT -i lo -j ACCEPT",
    ]


def test_processes_of_clusters_are_seen_and_no_others(tools: HostTools, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Process(1, 1, "init", None), Process(9, 1, "etcd", "/s/local:etcd")]
    monkeypatch.setattr(facts, "processes", lambda: found)
    assert snapshot.take(tools)["processes"] == ["etcd /s/local:etcd"]


def test_files_and_namespaces_are_seen(tools: HostTools, tmp_path: Path) -> None:
    for name in ("kubelet", "run/containerd", "netns"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "netns" / "cni-1").touch()
    taken = snapshot.take(tools)
    assert taken["files"] == [f"{tmp_path}/kubelet", f"{tmp_path}/run/containerd"]
    assert taken["namespaces"] == ["cni-1"]


@pytest.mark.parametrize("top", ["kubepods", "memory/kubepods"], ids=["v2", "v1"])
def test_control_groups_of_pods_are_seen_at_any_depth(tools: HostTools, tmp_path: Path, top: str) -> None:
    (tmp_path / "cgroup" / top / "burstable" / "pod1" / "container").mkdir(parents=True)
    taken = snapshot.take(tools)["cgroups"]
    assert f"{tmp_path}/cgroup/{top}/burstable/pod1/container" in taken
    assert len(taken) == len(set(taken))


def test_deep_control_groups_of_other_programs_are_theirs(tools: HostTools, tmp_path: Path) -> None:
    (tmp_path / "cgroup" / "user.slice" / "user-0.slice" / "session-1.scope").mkdir(parents=True)
    assert f"{tmp_path}/cgroup/user.slice/user-0.slice/session-1.scope" not in snapshot.take(tools)["cgroups"]
