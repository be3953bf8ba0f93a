"""What the machine is, as the kernel tells it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import facts
from sandbox.cluster.facts import Process, foreign_kubelets, gather, listening, processes, read_process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.home import Home


@pytest.fixture
def listener(request: pytest.FixtureRequest) -> Iterator[int]:
    """A socket that listens on the given family and address. Returns its port."""
    family, address = request.param
    with socket.socket(family, socket.SOCK_STREAM) as opened:
        opened.bind((address, 0))
        opened.listen()
        yield opened.getsockname()[1]


@pytest.mark.parametrize(
    ("listener", "expected"),
    [
        ((socket.AF_INET, "127.0.0.1"), "127.0.0.1"),
        ((socket.AF_INET, ""), "0.0.0.0"),  # noqa: S104  what the kernel lists
        ((socket.AF_INET6, "::"), "::"),
        ((socket.AF_INET6, "::ffff:127.0.0.1"), "127.0.0.1"),
    ],
    indirect=["listener"],
    ids=["IPv4", "IPv4 any", "IPv6 any", "IPv4 mapped into IPv6"],
)
def test_listening_socket_is_seen(listener: int, expected: str) -> None:
    assert expected in listening()[listener]


@pytest.mark.parametrize("listener", [(socket.AF_INET, "127.0.0.1")], indirect=True)
def test_connection_is_no_listener(listener: int) -> None:
    with socket.create_connection(("127.0.0.1", listener)) as connection:
        assert connection.getsockname()[1] not in listening()


def test_own_process_is_read() -> None:
    found = read_process(os.getpid())
    assert found is not None
    assert found.name == Path("/proc/self/comm").read_text().strip()


def test_mark_is_read_from_the_environment() -> None:
    environment = {"PLUMBLINE_CLUSTER": "/state/x:etcd"}
    with subprocess.Popen(["sleep", "300"], env={**os.environ, **environment}) as child:
        try:
            found = next(p for p in processes() if p.pid == child.pid)
        finally:
            child.kill()
    assert found.mark == "/state/x:etcd"


def test_process_name_may_hold_anything(tmp_path: Path) -> None:
    program = tmp_path / "a) S (b"
    program.symlink_to(sys.executable)
    with subprocess.Popen([program, "-c", "input()"], stdin=subprocess.PIPE) as child:
        try:
            found = read_process(child.pid)
        finally:
            child.kill()
    assert found is not None
    assert found.name == "a) S (b"


def test_ended_process_that_nobody_awaited_counts_as_ended() -> None:
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and still listed
        assert Path(f"/proc/{child.pid}").exists()
        assert read_process(child.pid) is None


def test_unknown_process_is_none() -> None:
    assert read_process(2**22 + 1) is None


@pytest.mark.parametrize("name", ["kubelet", "k3s-server", "k3s-agent", "kubelite", "rke2"])
def test_kubelet_of_another_cluster_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    stranger = Process(4711, 1, name, None)
    ours = Process(4712, 1, "kubelet", "/state/local:kubelet")
    monkeypatch.setattr(facts, "processes", lambda: [Process(1, 1, "init", None), ours, stranger])
    assert foreign_kubelets() == [stranger]


def test_free_space_is_that_of_the_nearest_directory_that_exists(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {tmp_path: 6 * 2**30}
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=sizes[path]))
    assert gather(home).free_gib == 6.0


def test_other_systems_are_described_too(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr(facts, "PROC", Path("/no-such-directory"))
    assert gather(home).system == "Darwin"


def test_memory_is_what_the_kernel_calls_available(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9999999 kB\nMemFree: 1 kB\nMemAvailable: 3145728 kB\n")
    monkeypatch.setattr(facts, "PROC", tmp_path)
    assert gather(home).memory_gib == 3.0


@pytest.mark.parametrize(("mask", "expected"), [("0000000001000000", True), ("0000000000ffffff", False)])
def test_capability_is_read_from_the_effective_set(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: str, *, expected: bool
) -> None:
    # CAP_SYS_RESOURCE is number 24, so bit 24 of the mask.
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "status").write_text(f"CapPrm: ffffffffffffffff\nCapEff: {mask}\n")
    monkeypatch.setattr(facts, "PROC", tmp_path)
    assert gather(home).may_raise_oom_score is expected
