"""The conflict doctor is asked before a change: what it forbids is refused, what it notes is a warning."""

from __future__ import annotations

from typing import Any

import pytest

from components.dcgm_exporter.findings import Existing, Wanted
from components.errors import DeployError
from signals.catalogue.dcgm import COUNTERS
from stacks.cluster import ForbiddenError
from stacks.gpus import check_gpus, wanted
from tests.offline.components.gpu_clusters import GPU_NODES, OPERATOR, OPERATOR_LABELS, node, pods_of
from tests.offline.stacks.examples import settings
from tests.offline.stacks.readers import Silent

Json = dict[str, Any]
DAEMON_SETS, PODS, NODES = "/apis/apps/v1/daemonsets", "/api/v1/pods", "/api/v1/nodes"
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
POD_SOURCE = {"namespace": "gpu-operator", "labels": OPERATOR_LABELS, "port": "metrics"}


class Lists(Silent):
    """Lists by path; `forbidden` is one that the account may not read."""

    def __init__(self, forbidden: str = "", **lists: list[Json]) -> None:
        self.forbidden, self.asked = forbidden, list[str]()
        self.lists = {DAEMON_SETS: lists.get("sets", []), PODS: lists.get("pods", []), NODES: lists.get("nodes", [])}
        self.lists[CLASSES] = lists.get("classes", [])

    def listing(self, path: str) -> list[Json]:
        self.asked.append(path)
        if path == self.forbidden:
            raise ForbiddenError("the account may not read it")
        return self.lists[path]


def check(reader: Lists, stack: str = "staging", **sections: dict[str, Any]) -> list[str]:
    warnings: list[str] = []
    check_gpus(reader, settings(stack, None, **sections), warnings.append)
    return warnings


def test_gpu_nodes_that_nobody_measures_are_no_conflict() -> None:
    assert check(Lists(nodes=GPU_NODES)) == []


def test_second_exporter_is_refused_with_the_settings_to_write_instead() -> None:
    reader = Lists(sets=[OPERATOR], pods=pods_of(OPERATOR, "a"), nodes=GPU_NODES)
    with pytest.raises(DeployError) as caught:
        check(reader)
    message = str(caught.value)
    assert message.startswith("GPUs cannot be measured as the settings ask; nothing was changed:\n")
    assert "DaemonSet/gpu-operator/nvidia-dcgm-exporter: an exporter already runs on a; a second one breaks" in message
    assert "mode: existing" in message


def test_what_is_only_noteworthy_is_a_warning() -> None:
    (warning,) = check(Lists(nodes=[node("a")]))
    assert warning.startswith("nodes: no node offers or holds a GPU, so no exporter will run")


def test_warnings_come_out_before_a_refusal() -> None:
    """Both kinds at once: a class that does not exist, and a node that the selector misses."""
    reader = Lists(nodes=[*GPU_NODES, node("ccc", gpu="8")])
    warnings: list[str] = []
    with pytest.raises(DeployError) as caught:
        check_gpus(reader, settings("staging", dcgm_exporter={"runtime_class": "nvidia"}), warnings.append)
    assert "RuntimeClass nvidia does not exist" in str(caught.value)
    assert "missed: ccc" not in str(caught.value)
    assert [warning for warning in warnings if "missed: ccc" in warning]


@pytest.mark.parametrize("path", [DAEMON_SETS, PODS, NODES, CLASSES])
def test_account_that_may_not_look_around_is_warned_and_not_refused(path: str) -> None:
    reader = Lists(forbidden=path, sets=[OPERATOR], pods=pods_of(OPERATOR, "a"), nodes=GPU_NODES)
    (warning,) = check(reader)
    assert warning == "conflicts around GPUs were not looked for: the account may not read it"


def test_stack_without_gpus_asks_nothing() -> None:
    reader = Lists()
    assert check(reader, "kind") == []
    assert reader.asked == []


def test_simulated_gpus_beside_real_ones_are_refused() -> None:
    with pytest.raises(DeployError, match="Node/a: has real GPUs"):
        check(Lists(nodes=GPU_NODES), "local")
    assert check(Lists(nodes=[node("a")]), "local") == []


def test_existing_pods_are_looked_for() -> None:
    section = {"mode": "existing", "existing": POD_SOURCE}
    there = Lists(sets=[OPERATOR], pods=pods_of(OPERATOR, "a", "bb"), nodes=GPU_NODES)
    assert check(there, dcgm_exporter=section) == []
    with pytest.raises(DeployError, match="no running pod is in this namespace with these labels"):
        check(Lists(nodes=GPU_NODES), dcgm_exporter=section)


def test_doctor_is_asked_with_the_settings_words() -> None:
    found = settings(
        "staging",
        dcgm_exporter={
            "node_selector": {"pool": "gpu"},
            "hostengine": "h:5555",
            "runtime_class": "nvidia",
            "virtual_gpus": True,
            "dra": True,
            "targets": [{"node": "slurm-1", "address": "slurm-1:9400"}],
        },
        sizing={"pods_per_gpu": 4},
    )
    assert wanted(found) == Wanted(
        mode="managed",
        instance="plumbline",
        node_selector={"pool": "gpu"},
        hostengine="h:5555",
        runtime_class="nvidia",
        virtual_gpus=True,
        dra=True,
        fields=tuple(name for name, _, _ in COUNTERS),
        targets=("slurm-1",),
    )


def test_nodes_are_selected_by_a_managed_exporter_alone() -> None:
    found = wanted(settings("staging", dcgm_exporter={"mode": "existing", "existing": POD_SOURCE}))
    assert found.node_selector == {}
    assert found.existing == Existing(namespace="gpu-operator", labels=OPERATOR_LABELS, port="metrics")
