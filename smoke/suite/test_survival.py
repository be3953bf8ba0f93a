"""Disruptive: the data of Prometheus outlives its pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smoke import limits, poll
from smoke.access.errors import AccessError
from smoke.access.kube import APPS
from smoke.check import check
from smoke.judge import pods, survival
from smoke.judge.workloads import pods_of
from smoke.model import CheckFailedError, Problem

if TYPE_CHECKING:
    from smoke.stack import Stack

Json = dict[str, Any]
WINDOW = f"up[{limits.SURVIVAL_WINDOW}]"


@dataclass(frozen=True)
class Before:
    """What must be the same afterwards. `at`: Unix time up to which samples are compared."""

    pod: Json
    claim: Json
    volume: Json
    at: float
    samples: list[Json]


@check("prometheus.data_survives_kill")
def test_data_survives_kill(stack: Stack) -> str:
    namespace = stack.contract.namespace
    before = _look(stack)
    metadata = before.pod["metadata"]
    name, uid = metadata["name"], metadata["uid"]
    stack.kube.delete_pod(namespace, name, uid)

    def come_back() -> list[Problem]:
        pod = stack.kube.find(f"/api/v1/namespaces/{namespace}/pods/{name}")
        return survival.replaced(pod, uid, name)

    poll.settle(come_back, limits.POD_REPLACED)
    poll.settle(lambda: _compare(stack, before), limits.SETTLE)
    poll.settle(lambda: pods.running(stack.kube.pods(namespace), namespace), limits.SETTLE)
    total = sum(len(series["values"]) for series in before.samples)
    claim, volume = before.claim["metadata"], before.volume["metadata"]
    return (
        f"pod {name} {uid} was killed and replaced; {total} samples in {len(before.samples)} series unchanged; "
        f"claim {claim['name']} {claim['uid']} and volume {volume['name']} {volume['uid']} are the same"
    )


def _look(stack: Stack) -> Before:
    namespace = stack.contract.namespace
    component = stack.component("prometheus")
    if not component.claims or not component.workloads:
        raise AccessError("contract", "gives Prometheus no workload or no claim, so nothing can survive")
    workload = component.workloads[0]
    live = poll.fetch(lambda: stack.kube.get(f"{APPS}/namespaces/{namespace}/statefulsets/{workload.name}"))
    pods_seen = pods_of(live, poll.fetch(lambda: stack.kube.pods(namespace)))
    if not pods_seen:
        raise CheckFailedError([Problem(workload.name, "no pod", "a pod to kill")])
    claim = poll.fetch(lambda: stack.kube.get(_claim(stack)))
    poll.settle(lambda: survival.enough(stack.prometheus.query(WINDOW)), limits.SETTLE)
    at = poll.fetch(lambda: stack.prometheus.scalar("time()"))
    return Before(
        pod=pods_seen[0],
        claim=claim,
        volume=poll.fetch(lambda: stack.kube.get(f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")),
        at=at,
        samples=poll.fetch(lambda: stack.prometheus.query(WINDOW, at)),
    )


def _compare(stack: Stack, before: Before) -> list[Problem]:
    claim = stack.kube.find(_claim(stack))
    name = before.volume["metadata"]["name"]
    volume = stack.kube.find(f"/api/v1/persistentvolumes/{name}")
    return [
        *survival.same_object("claim of Prometheus", before.claim, claim),
        *survival.same_object(f"volume {name}", before.volume, volume),
        *survival.same_samples(before.samples, stack.prometheus.query(WINDOW, before.at)),
    ]


def _claim(stack: Stack) -> str:
    claim = stack.component("prometheus").claims[0]
    return f"/api/v1/namespaces/{stack.contract.namespace}/persistentvolumeclaims/{claim.name}"
