"""Disruptive: the data of Prometheus outlives its pod, and that of SwanLab the death of all pods at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smoke import limits, poll
from smoke.access.errors import AccessError, RefusedError
from smoke.access.kube import APPS
from smoke.check import check
from smoke.judge import experiments, gpu, pods, recovery, survival, swanlab
from smoke.judge.workloads import pods_of
from smoke.model import CheckFailedError, Problem

if TYPE_CHECKING:
    from smoke.sdk.model import ReadBack
    from smoke.stack import Stack
    from stacks.contract import Component

Json = dict[str, Any]
WINDOW = f"up[{limits.SURVIVAL_WINDOW}]"
NOT_FOUND, CONFLICT = 404, 409


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


@dataclass(frozen=True)
class Kept:
    """Of SwanLab, what must be the same afterwards. account: name that the key belongs to. claims: path → claim."""

    read: ReadBack
    account: str
    claims: dict[str, Json]


@check("swanlab.survives_kill", begin=lambda stack: stack.roundtrip.begin())
def test_survives_kill(stack: Stack) -> str:
    proof = stack.roundtrip
    poll.fetch(proof.begin)
    stack.settle(proof.advance, limits.SDK_RUN + limits.READ_BACK)
    claims = poll.fetch(lambda: {path: stack.kube.get(path) for path in _claims(stack)})
    before = Kept(poll.fetch(proof.read), poll.fetch(stack.swanlab.user), claims)
    killed = _kill_all(stack)
    poll.settle(lambda: _renewed(stack, killed), limits.SWANLAB_REPLACED)
    poll.settle(lambda: _answering(stack), limits.SWANLAB_REPLACED)
    poll.settle(lambda: _read_again(stack, before), limits.READ_BACK)
    return (
        f"{sum(map(len, killed.values()))} pods were killed at once and replaced; the same key logs {before.account} "
        f"in; {experiments.amount(proof.run)} of run {proof.run.path} are unchanged; {len(claims)} claims are the same"
    )


def _state_of_swanlab(stack: Stack) -> list[tuple[Component, str]]:
    """SwanLab, and the object store if the stack runs one, each with its namespace."""
    names = ("swanlab", *(("object-store",) if stack.claims("object-store") else ()))
    return [(stack.component(name), stack.namespace_of(stack.component(name))) for name in names]


def _claims(stack: Stack) -> list[str]:
    return [
        f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim.name}"
        for component, namespace in _state_of_swanlab(stack)
        for claim in component.claims
    ]


def _living(stack: Stack) -> dict[str, list[Json]]:
    """Pods that hold or serve state of SwanLab, by namespace; what smoke itself has made, and Jobs, are not."""
    namespace, promised = stack.namespace_of(stack.component("swanlab")), stack.contract.recovery
    living = [pod for pod in stack.kube.pods(namespace) if pods.is_live(pod) and not gpu.is_sentinel(pod)]
    found = {namespace: [pod for pod in living if not (promised and recovery.is_run(pod, promised))]}
    if stack.claims("object-store"):
        where = stack.namespace_of(stack.component("object-store"))
        own = [pod for pod, _ in stack.pods_of("object-store")]
        found[where] = [*found.get(where, []), *own]
    return found


def _kill_all(stack: Stack) -> dict[str, list[Json]]:
    killed = poll.fetch(lambda: _living(stack))
    if not all(killed.values()):
        raise CheckFailedError([Problem("SwanLab", "no pod in one of its namespaces", "pods to kill")])
    for namespace, found in killed.items():
        for pod in found:
            _kill(stack, namespace, pod["metadata"]["name"], pod["metadata"]["uid"])
    return killed


def _kill(stack: Stack, namespace: str, name: str, uid: str) -> None:
    def attempt() -> None:
        try:
            stack.kube.delete_pod(namespace, name, uid)
        except RefusedError as error:
            # Gone or replaced since it was listed: as dead as it has to be.
            if error.status not in (NOT_FOUND, CONFLICT):
                raise

    poll.fetch(attempt)


def _renewed(stack: Stack, killed: dict[str, list[Json]]) -> list[Problem]:
    living = _living(stack)
    problems = [p for where, old in killed.items() for p in swanlab.renewed(old, living.get(where, []), where)]
    return problems + [p for where, found in living.items() for p in pods.running(found, f"{where}, SwanLab's pods")]


def _answering(stack: Stack) -> list[Problem]:
    return swanlab.ready({part: stack.swanlab.stranger(route) for part, route in swanlab.ROUTES.items()})


def _read_again(stack: Stack, before: Kept) -> list[Problem]:
    """Everything again, with the key that was there before."""
    account = stack.swanlab.log_in(stack.api_key())["userInfo"]["username"]
    problems = [] if account == before.account else [Problem("account of the key", account, before.account)]
    for path, claim in before.claims.items():
        problems += survival.same_object(f"claim {claim['metadata']['name']}", claim, stack.kube.find(path))
    read = stack.roundtrip.read()
    return [*problems, *stack.roundtrip.differences(read), *experiments.unchanged(before.read, read)]


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
