"""What smoke creates is removed even if it is interrupted between the creation and its answer, wherever it creates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from smoke.proofs.handover import Handover
from smoke.proofs.nonce_line import NonceLine
from smoke.proofs.page import PageProof
from smoke.proofs.roundtrip_pod import Pod

Json = dict[str, Any]


class Cluster:
    """An API server and a Pushgateway that make what is asked for and are interrupted before they answer."""

    def __init__(self) -> None:
        self.there: list[str] = []

    def create(self, path: str, body: Json) -> Json:
        """Make it; the answer never arrives."""
        self.there.append(f"{path}/{body['metadata']['name']}")
        raise KeyboardInterrupt

    def create_pod(self, namespace: str, pod: Json) -> Json:
        """As above."""
        return self.create(f"/api/v1/namespaces/{namespace}/pods", pod)

    def delete(self, path: str, uid: str) -> None:
        """By its name, as nobody knows the uid."""
        assert uid == ""
        self.there.remove(path)

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        """As above."""
        self.delete(f"/api/v1/namespaces/{namespace}/pods/{name}", uid)

    def push(self, job: str, instance: str, _: str) -> None:
        """As `create`."""
        self.there.append(f"{job}/{instance}")
        raise KeyboardInterrupt

    def remove(self, job: str, instance: str) -> None:
        """A group."""
        self.there.remove(f"{job}/{instance}")

    def items(self, path: str, **_: str) -> list[Json]:
        """One node with a free GPU, and nothing else."""
        resources = {"nvidia.com/gpu": "1"}
        node = {"metadata": {"name": "n"}, "spec": {}, "status": {"allocatable": resources, "capacity": resources}}
        return [node] if path.endswith("/nodes") else []

    def all_pods(self) -> list[Json]:
        """None."""
        return []

    def pods(self, _: str) -> list[Json]:
        """None."""
        return []


def _stack(cluster: Cluster) -> Any:  # noqa: ANN401  # stands in for a Stack
    running = {"spec": {"containers": [{"name": "own", "image": "image"}]}}
    contract = SimpleNamespace(
        namespace="plumbline",
        components={"prometheus": SimpleNamespace(workloads=["own"])},
        rules=SimpleNamespace(pod_labels={}),
    )
    login = SimpleNamespace(namespace="swanlab", name="key", key="key")
    return SimpleNamespace(
        kube=cluster,
        contract=contract,
        pods_of=lambda _: [(running, "own")],
        pushgateway=SimpleNamespace(groups=list, push=cluster.push, delete=cluster.remove),
        telemetry=SimpleNamespace(pods=lambda _: [running]),
        experiments=SimpleNamespace(sdk_image="image", host="http://swanlab", login=login),
    )


Ways = tuple[Callable[[], object], Callable[[], object]]


def _ways(proof: Handover | NonceLine | PageProof) -> Ways:
    return proof.begin, proof.end


def _of_pod(pod: Pod) -> Ways:
    return partial(pod.start, {}), pod.stop


MAKERS: dict[str, Callable[[Any], Ways]] = {
    "a pod with a GPU": lambda stack: _ways(Handover(stack)),
    "a pod that prints": lambda stack: _ways(NonceLine(stack)),
    "a pod with the SDK": lambda stack: _of_pod(Pod(stack)),
    "a group of the Pushgateway": lambda stack: _ways(PageProof(stack)),
}
"""What is made → how it is begun, and ended."""


@pytest.mark.parametrize("maker", MAKERS)
def test_what_was_made_before_an_interrupt_is_removed(maker: str) -> None:
    cluster = Cluster()
    begin, end = MAKERS[maker](_stack(cluster))
    with pytest.raises(KeyboardInterrupt):
        begin()
    assert cluster.there
    end()
    assert cluster.there == []
