"""Judgement over GPUs: how many a node has, and who holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from signals.rules.inputs import POD_LABELS
from smoke.judge import gpu
from tests.offline.smoke import objects
from tests.offline.smoke.full_stack import gpu_pod

if TYPE_CHECKING:
    from smoke.model import Problem

Json = dict[str, Any]


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def _node(name: str = "node-a", replicas: str = "", **allocatable: str) -> Json:
    amounts = {key.replace("__", "/").replace("_", "."): value for key, value in allocatable.items()}
    labels = {"nvidia.com/gpu.replicas": replicas} if replicas else {}
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {"allocatable": amounts}}


def _series(uuid: str, node: str = "node-a", **labels: str) -> Json:
    return objects.series(1, node=node, UUID=uuid, **labels)


def _held(uuid: str, pod: str, **labels: str) -> Json:
    return _series(uuid, **{"namespace": "team-a", "pod": pod, "container": "train", **labels})


TWO = [_series("GPU-0"), _series("GPU-1")]


def test_devices_of_a_node_are_counted_as_the_exporter_counts_them() -> None:
    assert gpu.devices(_node(nvidia_com__gpu="8", cpu="64", memory="1Ti")) == 8
    assert gpu.devices(_node()) == 0
    assert gpu.devices(_node(replicas="4", nvidia_com__gpu="8")) == 2
    assert gpu.devices(_node(replicas="4", nvidia_com__gpu_shared="8")) == 2
    mixed = _node(nvidia_com__gpu="1")
    mixed["status"]["allocatable"] |= {"nvidia.com/mig-1g.10gb": "7", "nvidia.com/mig-3g.40gb": "2"}
    assert gpu.devices(mixed) == 10


def test_instances_of_a_split_gpu_count_and_the_gpu_itself_does_not() -> None:
    split = [_series("GPU-0", GPU_I_ID=number) for number in ("7", "8")]
    assert gpu.exposed([_series("GPU-0"), *split, _series("GPU-1"), _series("GPU-2", "node-b")]) == {
        "node-a": 3,
        "node-b": 1,
    }


def test_as_many_as_allocatable_is_fine() -> None:
    assert gpu.count([_node(nvidia_com__gpu="2"), _node("node-b")], TWO, frozenset()) == []
    outside = [*TWO, _series("GPU-9", "slurm-1")]
    assert gpu.count([_node(nvidia_com__gpu="2")], outside, frozenset({"slurm-1"})) == []


def test_lost_gpu_is_named_by_its_node() -> None:
    text = _text(gpu.count([_node(nvidia_com__gpu="2")], TWO[:1], frozenset()))
    assert text == "node node-a: seen 1 GPUs exposed; expected 2, its allocatable"
    assert "0 GPUs exposed; expected 2" in _text(gpu.count([_node(nvidia_com__gpu="2")], [], frozenset()))


def test_node_outside_the_cluster_without_gpus_and_unknown_nodes_are_named() -> None:
    text = _text(gpu.count([_node()], [_series("GPU-0", "?")], frozenset({"slurm-1"})))
    assert "node slurm-1, outside the cluster: seen no GPU exposed" in text
    assert "node ?: seen 1 GPUs exposed; expected a node of the cluster or of the contract" in text


def _attributed(pods: list[Json], series: list[Json]) -> str:
    return _text(gpu.attributed(pods, series, {("plumbline-node", "dcgm-x")}, "plumbline-gpu-proof-"))


def test_pod_with_two_gpus_is_named_by_exactly_two() -> None:
    both = [_held("GPU-0", "a"), _held("GPU-1", "a")]
    assert _attributed([gpu_pod("a", 2)], both) == ""
    assert _attributed([gpu_pod("a", 2)], both[:1]) == (
        "pod team-a/a container train: seen named by the series of 1 GPUs; expected 2, its limit"
    )
    assert "3 GPUs; expected 2" in _attributed([gpu_pod("a", 2)], [*both, _held("GPU-2", "a")])
    assert "0 GPUs; expected 2" in _attributed([gpu_pod("a", 2)], TWO)


def test_name_of_a_pod_that_is_gone_and_of_an_exporter_is_named() -> None:
    assert "series that name pod team-a/gone container train: seen no running pod with GPUs" in _attributed(
        [], [_held("GPU-0", "gone")]
    )
    own = _held("GPU-0", "dcgm-x", namespace="plumbline-node", container="exporter")
    assert "seen an exporter's own pod; expected the pod that holds the GPU" in _attributed([], [own])


def test_pods_of_smoke_finished_pods_and_pods_with_claims_are_nobodys_fault() -> None:
    proof = gpu_pod("plumbline-gpu-proof-1", 1, **{"plumbline.dev/sentinel": "gpu-handover"})
    assert _attributed([proof], [_held("GPU-0", "plumbline-gpu-proof-1")]) == ""
    assert _attributed([gpu_pod("a", 1) | {"status": {"phase": "Succeeded"}}], []) == ""
    claiming = gpu_pod("a", 0)
    claiming["spec"]["resourceClaims"] = [{"name": "gpu"}]
    assert _attributed([claiming], [_held("GPU-0", "a")]) == ""


def _owned(*info: Json, pod: Json | None = None) -> str:
    own = pod or gpu_pod("a", 1, **{"plumbline.dev/team": "vision", "plumbline.dev/run-id": "r1"})
    return _text(gpu.owned([own], list(info), POD_LABELS))


def test_identity_of_a_pod_is_that_of_its_labels() -> None:
    whole = {"namespace": "team-a", "pod": "a", "team": "vision", "run_id": "r1"}
    assert _owned(objects.series(1, **whole)) == ""
    assert _owned(pod=gpu_pod("a", 1)) == ""
    assert _owned() == "identity of pod team-a/a: seen 0 series; expected one"
    assert "seen 2 series; expected one" in _owned(objects.series(1, **whole), objects.series(1, **whole))
    assert _owned(objects.series(1, **(whole | {"team": "other"}))) == (
        "identity of pod team-a/a: seen team other; expected team vision"
    )
    del whole["run_id"]
    assert "seen run_id (none); expected run_id r1" in _owned(objects.series(1, **whole))


def test_free_gpu_is_found_and_not_promised_twice() -> None:
    node = _node(nvidia_com__gpu="2")
    assert gpu.free([node], [gpu_pod("a", 1)]) == "nvidia.com/gpu"
    assert gpu.free([node], [gpu_pod("a", 2)]) is None
    assert gpu.free([node], [gpu_pod("a", 2) | {"status": {"phase": "Failed"}}]) == "nvidia.com/gpu"
    waiting = gpu_pod("b", 1)
    del waiting["spec"]["nodeName"]
    assert gpu.free([node], [gpu_pod("a", 1), waiting]) is None
    assert gpu.free([node | {"spec": {"unschedulable": True}}], []) is None
    assert gpu.free([_node()], []) is None


def test_handed_over_gpu_is_named_once_with_container_and_node() -> None:
    assert gpu.handed_over([_held("GPU-0", "p"), TWO[1]], "p", "train", "node-a") == []
    assert "seen 0; expected one" in _text(gpu.handed_over(TWO, "p", "train", "node-a"))
    twice = [_held("GPU-0", "p"), _held("GPU-1", "p")]
    assert "seen 2; expected one" in _text(gpu.handed_over(twice, "p", "train", "node-a"))
    assert "container train, node node-a; expected container sleep, node node-a" in _text(
        gpu.handed_over(twice[:1], "p", "sleep", "node-a")
    )


@pytest.mark.parametrize(
    ("series", "words"),
    [
        ([_held("GPU-0", "p")], "series that name pod p: seen 1; expected none"),
        ([TWO[1]], "GPU GPU-0: seen no series"),
    ],
)
def test_gpu_that_keeps_a_dead_name_or_vanishes_is_named(series: list[Json], words: str) -> None:
    assert gpu.handed_back(TWO, "p", "GPU-0") == []
    assert words in _text(gpu.handed_back(series, "p", "GPU-0"))


def test_team_is_named_by_the_label_of_the_settings() -> None:
    assert gpu.team_label({"team": "acme/team"}) == "acme/team"
    assert gpu.team_label({}) == "plumbline.dev/team"
