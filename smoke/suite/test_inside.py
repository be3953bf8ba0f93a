"""Pods from within, through testinfra's kubectl backend; by their spec where that is not possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke import limits
from smoke.access import hosts
from smoke.access.errors import NoShellError
from smoke.access.inside import look
from smoke.check import check
from smoke.judge import inside, mounts, security
from smoke.model import CheckFailedError, Problem

if TYPE_CHECKING:
    from smoke.facts import Inside
    from smoke.stack import Stack
    from stacks.contract import Component

Json = dict[str, Any]


@check("pod.security")
def test_security(stack: Stack) -> str:
    told: dict[str, str] = {}

    def probe() -> list[Problem]:
        told.clear()
        components = [(name, found) for name, found in stack.contract.components.items() if found.managed]
        return [problem for name, found in components for problem in _privileges(stack, name, found, told)]

    stack.settle(probe, limits.QUICK)
    return "\n".join(f"{name}: {how}" for name, how in told.items()) or "the contract has no workloads"


@check("pod.volume")
def test_volume(stack: Stack) -> str:
    claims = stack.component("prometheus").claims
    points = [claim.mounted_at for claim in claims]
    if not points:
        return "the contract gives Prometheus no claim"
    seen: dict[str, Inside] = {}

    def probe() -> list[Problem]:
        behind = [
            problem
            for pod, container in stack.pods_of("prometheus")
            for claim in claims
            for problem in mounts.is_claim(pod["spec"], container, claim, _subject(pod, container))
        ]
        seen.update(_look(stack, points))
        return behind + [
            problem for name, facts in seen.items() for point in points for problem in inside.volume(facts, point, name)
        ]

    stack.settle(probe, limits.QUICK)
    return "\n".join(
        f"{name} {point}: {free / inside.MIB:.0f} MiB free"
        for name, facts in seen.items()
        for point, free in facts.space.items()
    )


def _privileges(stack: Stack, name: str, component: Component, told: dict[str, str]) -> list[Problem]:
    """Problems of every pod of a component. told: gets a line per pod, how it was looked at."""
    pods = stack.pods_of(name)
    if component.workloads and not pods:
        return [Problem(name, "no pod to look into", "at least one")]
    problems = []
    for pod, container in pods:
        subject = _subject(pod, container)
        if stack.namespace_of(component) != stack.contract.namespace:
            told[subject] = "by its spec, as an agent of the node"
            problems += security.agent(pod, name, f"pod {pod['metadata']['name']}")
            continue
        try:
            facts = _inside(stack, pod, container, [])
        except NoShellError:
            told[subject] = "by its spec, for it has no shell"
            problems += security.restricted(pod, f"pod {pod['metadata']['name']}")
        else:
            told[subject] = f"from inside: user ids {', '.join(facts.status['Uid'].split())}, root read-only"
            problems += inside.security(facts, subject)
    return problems


def _look(stack: Stack, points: list[str]) -> dict[str, Inside]:
    """Facts about the first contracted container of each live Prometheus pod."""
    pods = stack.pods_of("prometheus")
    if not pods:
        raise CheckFailedError([Problem("prometheus", "no pod to look into", "at least one")])
    return {_subject(pod, container): _inside(stack, pod, container, points) for pod, container in pods}


def _inside(stack: Stack, pod: Json, container: str, points: list[str]) -> Inside:
    metadata = pod["metadata"]
    where = (stack.kubeconfig, stack.contract.cluster.context, metadata["namespace"])
    return look(hosts.container(*where, metadata["name"], container), points)


def _subject(pod: Json, container: str) -> str:
    return f"pod {pod['metadata']['name']} container {container}"
