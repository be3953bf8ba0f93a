"""A cluster is started from a clean machine, found again when it runs, and refused before anything is changed."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sandbox.cluster import (
    commands,
    configs,
    daemons,
    facts,
    layout,
    network,
    ownership,
    preflight,
    remains,
    start,
    stop,
)
from sandbox.cluster.commands import Context
from sandbox.cluster.configs import Paths
from sandbox.cluster.ownership import Owner
from sandbox.errors import SandboxError
from sandbox.images.build import BuiltImage
from tests.offline.sandbox.fakes import host_tools, machine, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.home import Home
    from sandbox.hosttools import HostTools

IMAGES = {
    name: BuiltImage(f"plumbline.local/{name}:1-a", "sha256:a", Path("/a"))
    for name in ("pause", "volume-helper", "alert-sink")
}


@pytest.fixture
def tools(tmp_path: Path) -> HostTools:
    """Unpacked tools."""
    return host_tools(tmp_path / "tools")


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a start did, in order, on a machine where nothing runs and everything holds."""
    done: list[str] = []

    def note(event: str) -> Callable[..., None]:
        return lambda *_, **__: done.append(event)

    owner = tmp_path / "run" / "owner.json"
    owner.parent.mkdir()
    monkeypatch.setattr(ownership, "OWNER", owner)
    monkeypatch.setattr(layout, "KUBELET_ROOT", tmp_path / "kubelet")
    monkeypatch.setattr(layout, "KUBELET_MARK", tmp_path / "kubelet" / ".plumbline")
    monkeypatch.setattr(facts, "gather", lambda _: machine())
    monkeypatch.setattr(commands, "binary", lambda _, name: Path("/programs/v1") / name)
    for check in ("check_machine", "check_strangers", "check_room", "check_network"):
        monkeypatch.setattr(preflight, check, note(check))
    monkeypatch.setattr(remains, "end_everything", note("end everything"))
    monkeypatch.setattr(remains, "remove", note("remove remains"))
    monkeypatch.setattr(start, "_start_control_plane", note("control plane"))
    monkeypatch.setattr(start, "_start_node", note("node"))
    monkeypatch.setattr(start, "_import_images", note("images"))
    monkeypatch.setattr(start, "_apply_workloads", note("workloads"))
    monkeypatch.setattr(start, "_uid", lambda _: "uid-1")
    monkeypatch.setattr(start, "_api_ready", lambda _: True)
    monkeypatch.setattr(start, "_answers", lambda *_, **__: True)
    monkeypatch.setattr(daemons, "running", lambda _=None: {})
    return done


def begin(home: Home, tools: HostTools) -> start.Cluster:
    """Start the cluster `local`."""
    return start.start(home, "local", tools, IMAGES, silent()[0])


def test_start_looks_cleans_and_then_builds_up(home: Home, tools: HostTools, events: list[str]) -> None:
    begin(home, tools)
    looks, cleans = ["check_machine", "check_strangers"], ["end everything", "remove remains"]
    assert events == [*looks, *cleans, "check_room", "check_network", "control plane", "node", "workloads"]


@pytest.mark.usefixtures("events")
def test_started_cluster_is_recorded_and_marked(home: Home, tools: HostTools) -> None:
    cluster = begin(home, tools)
    owner = ownership.read_owner()
    assert owner is not None
    assert owner.state == home.state("local")
    assert layout.KUBELET_MARK.exists()
    assert (cluster.uid, cluster.started_now) == ("uid-1", True)


@pytest.mark.usefixtures("events")
def test_kubeconfig_of_the_administrator_is_readable_by_its_owner_alone(home: Home, tools: HostTools) -> None:
    assert begin(home, tools).kubeconfig.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("check", ["check_machine", "check_strangers", "check_room", "check_network"])
def test_refused_machine_is_left_as_it_was(
    home: Home, tools: HostTools, events: list[str], monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    def refuse(*_: object) -> None:
        raise SandboxError("no", "go elsewhere")

    monkeypatch.setattr(preflight, check, refuse)
    with pytest.raises(SandboxError, match="go elsewhere"):
        begin(home, tools)
    assert not home.root.exists()
    assert not layout.KUBELET_ROOT.exists()
    assert ownership.read_owner() is None
    assert "control plane" not in events


def running_whole(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every process of `local` run."""
    ownership.write_owner(Owner(home.state("local"), {}))
    monkeypatch.setattr(daemons, "running", lambda _=None: dict.fromkeys(commands.ALL))


def test_running_cluster_is_found_and_given_new_images(
    home: Home, tools: HostTools, events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(home, tools)
    monkeypatch.setattr(daemons, "running", lambda _=None: dict.fromkeys(commands.ALL))
    events.clear()
    assert begin(home, tools).started_now is False
    assert events == ["check_machine", "check_strangers", "images", "workloads"]


def test_cluster_of_other_programs_is_started_anew(
    home: Home, tools: HostTools, events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(home, tools)
    monkeypatch.setattr(daemons, "running", lambda _=None: dict.fromkeys(commands.ALL))
    monkeypatch.setattr(commands, "binary", lambda _, name: Path("/programs/v2") / name)
    events.clear()
    assert begin(home, tools).started_now is True
    assert "end everything" in events
    assert events[-3:] == ["control plane", "node", "workloads"]


def test_copied_state_is_refused(home: Home, tools: HostTools, events: list[str]) -> None:
    begin(home, tools)
    (home.state("local") / "location").write_text("/elsewhere/state/local\n")
    events.clear()
    with pytest.raises(SandboxError, match="was made in /elsewhere/state/local, and its volumes point there"):
        begin(home, tools)
    assert "control plane" not in events


@pytest.mark.usefixtures("events")
def test_cluster_of_other_settings_is_started_anew(
    home: Home, tools: HostTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(home, tools)
    monkeypatch.setattr(daemons, "running", lambda _=None: dict.fromkeys(commands.ALL))
    monkeypatch.setattr(configs, "kubelet", lambda *_: "maxPods: 7\n")
    assert begin(home, tools).started_now is True


@pytest.mark.usefixtures("events")
@pytest.mark.parametrize("fault", ["no owner", "another state", "a process ended", "API not ready", "DNS hangs"])
def test_cluster_is_not_whole(home: Home, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    running_whole(home, monkeypatch)
    if fault == "no owner":
        ownership.clear_owner()
    elif fault == "another state":
        ownership.write_owner(Owner(home.state("test"), {}))
    elif fault == "a process ended":
        monkeypatch.setattr(daemons, "running", lambda _=None: dict.fromkeys(commands.ALL[1:]))
    elif fault == "DNS hangs":
        monkeypatch.setattr(start, "_answers", lambda process, *_, **__: process != "coredns")
    else:
        monkeypatch.setattr(start, "_api_ready", lambda _: False)
    assert not start.is_whole(Paths(home.state("local")))


@pytest.mark.usefixtures("events")
def test_cluster_is_whole(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    running_whole(home, monkeypatch)
    assert start.is_whole(Paths(home.state("local")))


def node(ready: str, heartbeat: str, pod_range: str | None = "10.203.0.0/24") -> SimpleNamespace:
    """The API server's answer about the node."""
    condition = {"type": "Ready", "status": ready, "lastHeartbeatTime": heartbeat}
    body = {"status": {"conditions": [condition]}, "spec": {"podCIDR": pod_range} if pod_range else {}}
    return SimpleNamespace(ok=True, text=json.dumps(body))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (node("True", "2026-01-05T10:00:01Z"), True),
        (node("False", "2026-01-05T10:00:01Z"), False),
        (node("True", "2026-01-05T09:59:59Z"), False),  # spoken in its previous life
        (node("True", "2026-01-05T10:00:01Z", pod_range=None), False),
        (SimpleNamespace(ok=False, text="forbidden"), False),
        (None, False),
    ],
    ids=["ready", "not ready", "stale", "no pod range", "refused", "no answer"],
)
def test_node_is_ready_by_its_own_fresh_word(
    home: Home, tools: HostTools, monkeypatch: pytest.MonkeyPatch, answer: object, *, expected: bool
) -> None:
    monkeypatch.setattr(start, "_get", lambda *_: answer)
    context = Context(home, Paths(home.state("local")), tools, "helper")
    assert start._node_ready(context, dt.datetime(2026, 1, 5, 10, tzinfo=dt.UTC)) is expected


def test_stop_puts_the_machines_settings_back(
    home: Home, tools: HostTools, events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, str] = {}
    ownership.write_owner(Owner(home.state("local"), {"net/ipv4/ip_forward": "0"}))
    monkeypatch.setattr(network, "write_sysctls", written.update)
    assert stop.stop(tools, silent()[0]) == "local"
    assert events == ["end everything", "remove remains"]
    assert written == {"net/ipv4/ip_forward": "0"}
    assert ownership.read_owner() is None


def test_stop_ends_stray_processes_without_a_record(tools: HostTools, events: list[str]) -> None:
    assert stop.stop(tools, silent()[0]) == "unknown"
    assert events == ["end everything", "remove remains"]


def test_image_of_several_roles_is_imported_once_and_listed_for_each(
    tmp_path: Path, tools: HostTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, ...]] = []

    def ctr(_: HostTools, *arguments: str) -> str:
        calls.append(arguments)
        return "r/there:1\n"

    monkeypatch.setattr(start, "ctr", ctr)
    shared, there = BuiltImage("r/shared:1", "sha256:a", Path("/s.tar")), BuiltImage("r/there:1", "b", Path("/t.tar"))
    paths = Paths(tmp_path)
    start._import_images(paths, tools, {"one": shared, "two": shared, "three": there})
    assert calls == [("images", "list", "-q"), ("images", "import", "/s.tar")]
    assert set(json.loads((paths.state / "images.json").read_text())) == {"one", "two", "three"}
