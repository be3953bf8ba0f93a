"""Judgement over the node's machine and over a container seen from within, and the gathering of their facts."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from smoke.access import hosts, machine
from smoke.access import inside as look_inside
from smoke.access.errors import CommandError, UnreachableError
from smoke.facts import Cgroups, Inside, Kernel, Process, Space
from smoke.judge import inside
from smoke.judge import machine as judge
from tests.offline.smoke import kubectl, objects
from tests.offline.smoke.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

    from testinfra.host import Host

    from smoke.model import Problem

Json = dict[str, Any]
KERNEL = Kernel(release="6.1.0-18-amd64", filesystems=frozenset({"overlay"}), ip_forward="1")
CONTAINERD = Process(11, ("containerd",), "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+b1")
KUBELET = Process(10, ("kubelet",))
LEASE = {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}}
RENEWED = 1767225600.0
GIB = judge.GIB
SPACE = Space(path="/k", bytes_total=100 * GIB, bytes_free=50 * GIB, inodes=1000, inodes_free=900)


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def _host(**answers: str) -> Host:
    made = Machine()
    made.answers = made.answers | answers
    return cast("Host", made)


def test_machine_is_found_among_the_nodes_by_its_boot() -> None:
    node, problems = judge.own_node([objects.node("other"), objects.node("mine")], "mine")
    assert node is not None
    assert problems == []
    none, problems = judge.own_node([objects.node("other")], "mine")
    assert none is None
    assert "0 nodes with boot id mine" in _text(problems)


def test_kernel() -> None:
    assert judge.kernel(KERNEL, objects.node()) == []
    old = judge.kernel(replace(KERNEL, release="5.9.1"), objects.node())
    assert "kernel: seen 5.9.1; expected 5.10 or newer" in _text(old)
    assert "6.1.0-18-amd64, as the node reports" in _text(old)
    assert "no overlay" in _text(judge.kernel(replace(KERNEL, filesystems=frozenset()), objects.node()))
    assert "ip_forward: seen 0; expected 1" in _text(judge.kernel(replace(KERNEL, ip_forward="0"), objects.node()))
    assert judge.kernel(replace(KERNEL, release="unknown"), objects.node())


@pytest.mark.parametrize(("root", "version"), [("cgroup2fs", "v2"), ("tmpfs", "v1")])
def test_cgroups_of_the_mounted_version(root: str, version: str) -> None:
    both = frozenset({"memory", "pids", "cpu"})
    assert judge.cgroups(Cgroups(root_type=root, pods={version: both})) == []
    assert "no kubepods" in _text(judge.cgroups(Cgroups(root_type=root, pods={"other": both})))
    assert "without pids" in _text(judge.cgroups(Cgroups(root_type=root, pods={version: frozenset({"memory"})})))


def test_unknown_cgroup_root_is_named() -> None:
    assert "seen ext4" in _text(judge.cgroups(Cgroups(root_type="ext4", pods={})))


def test_runtime() -> None:
    node, socket = objects.node(), "/run/c.sock"
    assert judge.runtime(node, [CONTAINERD], socket, socket_exists=True) == []
    other = replace(CONTAINERD, version="containerd x 1.7.0 y")
    # The machine may run a containerd of its own beside the cluster's.
    assert judge.runtime(node, [other, CONTAINERD], socket, socket_exists=True) == []
    assert "version 1.6.20, as the node reports" in _text(judge.runtime(node, [other], socket, socket_exists=True))
    assert "not running" in _text(judge.runtime(node, [], socket, socket_exists=True))
    assert "does not exist" in _text(judge.runtime(node, [CONTAINERD], socket, socket_exists=False))
    assert "names no runtime socket" in _text(judge.runtime(node, [CONTAINERD], "", socket_exists=False))


def test_kubelet() -> None:
    node = objects.node()
    assert judge.kubelet(node, "v1.34.9", [KUBELET], LEASE, RENEWED + 39) == []
    assert "renewed 41 s ago; expected within 40 s" in _text(
        judge.kubelet(node, "v1.34.4", [KUBELET], LEASE, RENEWED + 41)
    )
    assert "v1.34.4; expected minor version of the API server, v1.35.0" in _text(
        judge.kubelet(node, "v1.35.0", [KUBELET], LEASE, RENEWED)
    )
    assert "not running" in _text(judge.kubelet(node, "v1.34.4", [], LEASE, RENEWED))
    assert "lease of node node-a: seen none" in _text(judge.kubelet(node, "v1.34.4", [KUBELET], None, RENEWED))


def test_disk() -> None:
    assert judge.disk(SPACE) == []
    assert "4.0 GiB free; expected at least 5.0 GiB" in _text(judge.disk(replace(SPACE, bytes_free=4 * GIB)))
    small = replace(SPACE, bytes_total=10 * GIB, bytes_free=1 * GIB)
    assert "expected at least 2.0 GiB" in _text(judge.disk(small))
    assert "10 inodes free; expected at least 50" in _text(judge.disk(replace(SPACE, inodes_free=10)))
    assert judge.disk(replace(SPACE, inodes=0, inodes_free=0)) == []


def test_clock() -> None:
    assert judge.clock(100.0, {"a": 104.9, "b": 95.1}) == []
    assert "clock against a: seen -5.0 s apart" in _text(judge.clock(100.0, {"a": 105.0}))
    assert "clock of a: seen not told" in _text(judge.clock(100.0, {"a": None}))


def test_facts_are_gathered_from_a_machine() -> None:
    host = _host()
    assert machine.boot_id(host) == "boot-1"
    assert machine.kernel(host).release == "6.1.0-18-amd64"
    assert {"memory", "pids"} <= machine.cgroups(host).pods["v2"]
    assert machine.processes(host, "containerd", with_version=True)[0].version.startswith("containerd ")
    assert machine.space(host, "/var/lib/kubelet").inodes_free == 5000000


def test_version_1_controllers_are_gathered_one_by_one() -> None:
    assert machine.cgroups(_host(kubepods="v1 memory\nv1 pids\n")).pods == {"v1": frozenset({"memory", "pids"})}


def test_facts_of_this_machine_are_gathered_by_testinfra() -> None:
    host = hosts.machine()
    assert machine.boot_id(host)
    assert "proc" in machine.kernel(host).filesystems
    assert machine.cgroups(host).root_type
    assert machine.space(host, "/").bytes_total > 0
    assert not machine.is_socket(host, "/")


def test_running_program_is_found_and_asked_for_its_version(tmp_path: Path) -> None:
    program = tmp_path / "plumb-sleeper"
    shutil.copy(shutil.which("sleep") or "", program)
    running = subprocess.Popen([program, "60"])
    try:
        found = machine.processes(hosts.machine(), program.name, with_version=True)
    finally:
        running.kill()
        running.wait()
    assert [(process.pid, process.argv) for process in found] == [(running.pid, (str(program), "60"))]
    assert "sleep" in found[0].version


@pytest.mark.parametrize(
    ("argv", "socket"),
    [
        (("kubelet", "--containerd=/run/a.sock"), "/run/a.sock"),
        (("kubelet", "--container-runtime-endpoint", "unix:///run/b.sock"), "/run/b.sock"),
        (("kubelet", "--config=/etc/kubelet.yaml"), "/run/containerd/containerd.sock"),
        (("kubelet",), ""),
    ],
)
def test_socket_is_the_one_that_the_kubelet_uses(argv: tuple[str, ...], socket: str) -> None:
    assert machine.runtime_socket(_host(), Process(1, argv)) == socket


def test_root_of_the_kubelet_follows_its_flag() -> None:
    assert machine.kubelet_root(Process(1, ("kubelet", "--root-dir=/k"))) == "/k"
    assert machine.kubelet_root(KUBELET) == "/var/lib/kubelet"


def test_failing_command_is_an_error() -> None:
    broken = cast("Host", Machine({}))
    with pytest.raises(CommandError, match="exit code 1"):
        machine.kernel(broken)


INSIDE = Inside(
    status={"Uid": "65534\t65534\t65534\t65534", "CapEff": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"},
    mounts={"/": frozenset({"ro", "relatime"}), "/prometheus": frozenset({"rw"})},
    token_mode="640",  # noqa: S106  # a file mode  # a file mode
    writable=frozenset({"/prometheus"}),
    space={"/prometheus": 8 * GIB},
    roots={"/": "/", "/prometheus": "/var/lib/volumes/pvc-1"},
    log_ages={"/prometheus": 3},
)


def test_confined_container_is_fine() -> None:
    assert inside.security(INSIDE, "pod p") == []
    assert inside.security(replace(INSIDE, token_mode=""), "pod p") == []


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("Uid", "0\t0\t0\t0", "user ids 0 0 0 0; expected none of them 0"),
        ("Uid", "65534\t0\t65534\t65534", "none of them 0"),
        ("CapEff", "00000000a80425fb", "effective capabilities 00000000a80425fb"),
        ("NoNewPrivs", "0", "NoNewPrivs 0"),
        ("Seccomp", "0", "seccomp mode 0"),
    ],
)
def test_privilege_is_named(field: str, value: str, words: str) -> None:
    assert words in _text(inside.security(replace(INSIDE, status=INSIDE.status | {field: value}), "pod p"))


def test_unknown_privileges_writable_root_and_open_token_are_named() -> None:
    assert len(inside.security(replace(INSIDE, status={}), "pod p")) == 4
    writable = replace(INSIDE, mounts={"/": frozenset({"rw"})})
    assert "root file system mounted writable" in _text(inside.security(writable, "pod p"))
    assert "mode 644" in _text(inside.security(replace(INSIDE, token_mode="644"), "pod p"))  # noqa: S106  # a file mode


def test_mounted_writable_roomy_volume_is_fine() -> None:
    assert inside.volume(INSIDE, "/prometheus", "pod p") == []


def test_volume_that_is_not_mounted_writable_or_roomy_is_named() -> None:
    assert "not a mount of its own" in _text(inside.volume(replace(INSIDE, mounts={}), "/prometheus", "p"))
    assert "not writable" in _text(inside.volume(replace(INSIDE, writable=frozenset()), "/prometheus", "p"))
    read_only = replace(INSIDE, mounts={"/prometheus": frozenset({"ro"})})
    assert "not writable" in _text(inside.volume(read_only, "/prometheus", "p"))
    full = replace(INSIDE, space={"/prometheus": 1024**2})
    assert "1 MiB free; expected at least 256 MiB" in _text(inside.volume(full, "/prometheus", "p"))


def test_deleted_directory_and_resting_log_are_named() -> None:
    gone = replace(INSIDE, roots={"/prometheus": "/var/lib/volumes/pvc-1//deleted"}, log_ages={})
    text = _text(inside.volume(gone, "/prometheus", "p"))
    assert "p at /prometheus: seen directory /var/lib/volumes/pvc-1//deleted of its file system" in text
    assert "seen no segment in wal/; expected the write-ahead log of Prometheus" in text
    assert "directory unknown" in _text(inside.volume(replace(INSIDE, roots={}), "/prometheus", "p"))
    assert inside.volume(replace(INSIDE, log_ages={"/prometheus": 120}), "/prometheus", "p") == []
    for age in (121, -11):
        resting = inside.volume(replace(INSIDE, log_ages={"/prometheus": age}), "/prometheus", "p")
        assert f"newest segment of wal/ written {age} s ago; expected less than 120 s ago" in _text(resting)


def test_container_is_looked_into_through_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    host = hosts.container(tmp_path / "a kubeconfig", "ctx", "ns", "prometheus-0", "prometheus")
    facts = look_inside.look(host, ["/prometheus"])
    assert facts.space == {"/prometheus": 8 * GIB}
    assert inside.security(facts, "p") == inside.volume(facts, "/prometheus", "p") == []
    call = (tmp_path / "bin" / "calls").read_text()
    assert (
        f"--kubeconfig {tmp_path}/a kubeconfig --context ctx -n ns exec prometheus-0 -c prometheus -- /bin/sh" in call
    )


def test_facts_script_runs_in_a_plain_shell() -> None:
    facts = look_inside.look(hosts.machine(), ["/proc", "/nowhere at all"][:1])
    assert facts.mounts["/proc"]
    assert facts.status["Uid"]
    assert facts.roots["/proc"] == "/"
    assert facts.log_ages == {}


def test_age_of_the_log_is_that_of_its_newest_segment(tmp_path: Path) -> None:
    log = tmp_path / "a b" / "wal"
    log.mkdir(parents=True)
    point = str(log.parent)
    assert look_inside.look(hosts.machine(), [point]).log_ages == {}
    now = time.time()
    for name, age in (("00000001", 500), ("checkpoint.00000000", 900), ("00000002", 300), ("other", 0)):
        (log / name).touch()
        os.utime(log / name, (now - age, now - age))
    age = look_inside.look(hosts.machine(), [point]).log_ages[point]
    assert 299 <= age <= 301 + time.time() - now


def test_broken_exec_is_worth_another_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl.install(tmp_path / "bin")
    (tmp_path / "bin" / "exec").write_text("status Name:\tprometheus\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    with pytest.raises(UnreachableError):
        look_inside.look(hosts.container(tmp_path / "k", "ctx", "ns", "p", "c"), [])
