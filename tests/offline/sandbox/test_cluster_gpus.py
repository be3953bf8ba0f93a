"""The cluster offers simulated GPUs: the plugin is awaited, started anew when its code changes, and leaves nothing."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from sandbox.cluster import commands, gpus, layout, network, remains, start
from sandbox.cluster.commands import Context
from sandbox.cluster.configs import Paths
from sandbox.home import Home
from sandbox.hosttools import HostTools
from tests.offline.sandbox.workloads.gpu.fakes import Kubelet

CONTEXT = Context(Home(Path("/h")), Paths(Path("/h/state/local")), HostTools(Path("/h/tools")), "helper")


def node(offered: str | None) -> SimpleNamespace:
    """The API server's answer about a node that offers so many GPUs."""
    allocatable = {"cpu": "2"} if offered is None else {"cpu": "2", "nvidia.com/gpu": offered}
    return SimpleNamespace(ok=True, text=json.dumps({"status": {"allocatable": allocatable}}))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (node("8"), True),
        (node("7"), False),
        (node("0"), False),
        (node(None), False),
        (SimpleNamespace(ok=False, text=""), False),
        (None, False),
    ],
    ids=["all", "one lost", "none yet", "no plugin", "refused", "no answer"],
)
def test_node_is_awaited_until_it_offers_every_gpu(
    monkeypatch: pytest.MonkeyPatch, answer: object, *, expected: bool
) -> None:
    monkeypatch.setattr(start, "_get", lambda *_: answer)
    monkeypatch.setattr(gpus, "healthy", lambda _: 8)
    assert start._gpus_offered(CONTEXT) is expected


def test_node_object_of_the_previous_life_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "_get", lambda *_: node("8"))
    monkeypatch.setattr(gpus, "healthy", lambda _: 0)
    assert start._gpus_offered(CONTEXT) is False


def test_kubelet_is_asked_for_its_devices(tmp_path: Path) -> None:
    kubelet = Kubelet(tmp_path)
    assert gpus.healthy(kubelet.resources) == 0  # it does not run yet
    kubelet.devices = [("nvidia.com/gpu", "a"), ("nvidia.com/gpu", "b"), ("example.com/fpga", "c")]
    kubelet.start()
    assert gpus.healthy(kubelet.resources) == 2
    kubelet.stop()


def test_plugin_runs_from_the_state_as_the_node_that_there_is() -> None:
    line = commands.gpu_plugin(CONTEXT)
    assert "PYTHONPATH=/h/state/local/config/python" in line
    assert {"--node=plumbline", "--count=8", "--directory=/var/lib/kubelet/device-plugins"} <= set(line)
    assert f"--process-name={list(commands.AFTER_NODE)[-1]}" in line  # by which it is found again


def test_changed_plugin_changes_what_a_cluster_is_started_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "binary", lambda _, name: Path("/h/bin") / name)
    before = start._digest(CONTEXT, gpus.sources())
    changed = {**gpus.sources(), "python/sandbox/workloads/gpu/device_plugin.py": "pass\n"}
    assert start._digest(CONTEXT, gpus.sources()) == before
    assert start._digest(CONTEXT, changed) != before


def test_lost_gpus_are_forgotten_by_a_stop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lost = tmp_path / "lost-gpus"
    lost.write_text("3\n")
    monkeypatch.setattr(layout, "LOST_GPUS", lost)
    monkeypatch.setattr(layout, "CONTAINERD_RUN", tmp_path / "containerd")
    for name in ("unmount", "_remove_namespaces", "_remove_cgroups", "_remove_fixed_paths"):
        monkeypatch.setattr(remains, name, lambda *_: None)
    for name in ("remove_links", "remove_rules"):
        monkeypatch.setattr(network, name, lambda *_: None)
    remains.remove(None, CONTEXT.tools)
    assert not lost.exists()
