"""Processes are found by their mark, awaited with their log at hand, and ended for certain."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import daemons
from sandbox.cluster.facts import Process, read_process
from sandbox.errors import SandboxError
from tests.offline.sandbox.fakes import PATIENCE, program, wait_for_file, wait_until_ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STUBBORN = "trap '' TERM; echo ready; while :; do sleep 1; done"


class Cluster:
    """Processes under a mark that only this test uses."""

    def __init__(self, directory: Path) -> None:
        """No process yet."""
        self.mark, self.logs, self.bin = str(directory / "state"), directory / "logs", directory / "programs"

    def start(self, name: str, body: str) -> int:
        """Start a script and return its id."""
        script = program(self.bin, name, body)
        return daemons.start(name, [str(script)], mark=self.mark, logs=self.logs, path=os.environ["PATH"])

    def process(self, pid: int) -> Process:
        """The process with this id."""
        found = read_process(pid)
        assert found is not None
        return found


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster whose processes are gone after the test."""
    made = Cluster(tmp_path)
    yield made
    for process in daemons.marked(made.mark):
        os.kill(process.pid, signal.SIGKILL)


def test_started_process_is_found_by_name(cluster: Cluster) -> None:
    pid = cluster.start("etcd", STUBBORN)
    assert {name: process.pid for name, process in daemons.running(cluster.mark).items()} == {"etcd": pid}


def test_helpers_of_a_process_are_no_processes_of_the_cluster(cluster: Cluster) -> None:
    pid = cluster.start("kube-controller-manager", "sleep 60 & echo ready; wait")  # the kernel keeps 15 letters
    wait_for_file(cluster.logs / "kube-controller-manager.log")
    assert {name: process.pid for name, process in daemons.running(cluster.mark).items()} == {
        "kube-controller-manager": pid
    }
    assert len(daemons.marked(cluster.mark)) == 2


def test_fork_that_has_not_executed_yet_is_not_the_process(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = Process(40, 7, "containerd", f"{cluster.mark}:containerd")
    for fork in (replace(parent, pid=41, parent=40), replace(parent, pid=39, parent=40, started=8)):
        for order in ([parent, fork], [fork, parent]):
            monkeypatch.setattr(daemons, "processes", lambda found=order: found)
            assert daemons.running(cluster.mark) == {"containerd": parent}


def test_other_clusters_are_not_ours(cluster: Cluster) -> None:
    pid = cluster.start("etcd", "exec sleep 60")
    assert pid not in [process.pid for process in daemons.marked(f"{cluster.mark}-other")]
    assert pid in [process.pid for process in daemons.marked()]


def test_environment_of_the_user_does_not_reach_the_cluster(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "https://proxy.example")
    cluster.start("etcd", "echo proxy=$HTTPS_PROXY; exec sleep 60")
    assert wait_for_file(cluster.logs / "etcd.log") == "proxy="


def test_process_that_ignores_the_request_is_ended(cluster: Cluster) -> None:
    pid = cluster.start("etcd", STUBBORN)
    wait_for_file(cluster.logs / "etcd.log")
    daemons.end([cluster.process(pid)], grace=0.1)
    assert read_process(pid) is None


def test_process_may_end_in_order(cluster: Cluster) -> None:
    pid = cluster.start("etcd", "trap 'echo written; exit' TERM; echo ready; while :; do sleep 0.05; done")
    wait_for_file(cluster.logs / "etcd.log")
    daemons.end([cluster.process(pid)], grace=PATIENCE)
    assert (cluster.logs / "etcd.log").read_text() == "ready\nwritten\n"


def test_process_that_was_given_the_id_of_an_ended_one_is_not_signalled(cluster: Cluster) -> None:
    pid = cluster.start("etcd", "exec sleep 60")
    ended = replace(cluster.process(pid), started=1)
    daemons.end([ended], grace=PATIENCE)
    assert read_process(pid) is not None


def test_ended_process_is_no_error() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    daemons.end([Process(child.pid, 1, "true", None)], grace=PATIENCE)


def test_process_that_hangs_in_the_kernel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemons, "alive", lambda _: True)
    monkeypatch.setattr(daemons, "_signal", lambda *_: None)
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with pytest.raises(SandboxError, match=r"cannot be ended: runc \(4711\)\n  next: .*reboot"):
        daemons.end([Process(4711, 1, "runc", None)], grace=1)


def test_ended_process_is_told_with_the_end_of_its_log(cluster: Cluster) -> None:
    pid = cluster.start("etcd", "echo address in use; exit 1")
    assert wait_until_ended(pid)
    with pytest.raises(SandboxError, match=r"etcd ended while the store was awaited:\n    address in use"):
        daemons.wait_for("the store", lambda: False, seconds=PATIENCE, name="etcd", pid=pid, logs=cluster.logs)


def test_deadline_is_told_with_the_end_of_the_log(cluster: Cluster) -> None:
    pid = cluster.start("etcd", "echo still joining; exec sleep 60")
    wait_for_file(cluster.logs / "etcd.log")
    with pytest.raises(SandboxError, match=r"the store did not come within 0 s:\n    still joining"):
        daemons.wait_for("the store", lambda: False, seconds=0, name="etcd", pid=pid, logs=cluster.logs)


def test_tail_is_the_end_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "etcd.log").write_text("".join(f"line {n}\n" for n in range(5000)))
    assert daemons.tail(tmp_path, "etcd", lines=2) == "    line 4998\n    line 4999"


def test_tail_of_a_process_that_never_wrote(tmp_path: Path) -> None:
    assert daemons.tail(tmp_path, "etcd") == f"(no log at {tmp_path}/etcd.log)"


def test_large_log_is_put_aside(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemons, "LOG_LIMIT", 10)
    cluster.logs.mkdir()
    (cluster.logs / "etcd.log").write_text("of the previous life")
    cluster.start("etcd", "exec sleep 60")
    assert (cluster.logs / "etcd.log.1").read_text() == "of the previous life"


def test_members_of_a_control_group_are_found_below_it_too(tmp_path: Path) -> None:
    (tmp_path / "kubepods" / "pod1").mkdir(parents=True)
    (tmp_path / "kubepods" / "cgroup.procs").write_text("")
    (tmp_path / "kubepods" / "pod1" / "cgroup.procs").write_text(f"{os.getpid()}\n{2**22 + 1}\n")
    assert [process.pid for process in daemons.in_cgroup(tmp_path)] == [os.getpid()]
