"""The Prometheus pod from within, through testinfra's kubectl backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke import limits
from smoke.access import hosts
from smoke.access.inside import look
from smoke.check import check
from smoke.judge import inside, mounts
from smoke.model import CheckFailedError, Problem

if TYPE_CHECKING:
    from smoke.facts import Inside
    from smoke.stack import Stack

Json = dict[str, Any]


@check("pod.security")
def test_security(stack: Stack) -> str:
    seen: dict[str, Inside] = {}

    def probe() -> list[Problem]:
        seen.update(_look(stack, []))
        return [problem for name, facts in seen.items() for problem in inside.security(facts, name)]

    stack.settle(probe, limits.QUICK)
    return "\n".join(
        f"{name}: user ids {', '.join(facts.status['Uid'].split())}, root read-only" for name, facts in seen.items()
    )


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


def _look(stack: Stack, points: list[str]) -> dict[str, Inside]:
    """Facts about the first contracted container of each live Prometheus pod."""
    found = {}
    for pod, container in stack.pods_of("prometheus"):
        name = pod["metadata"]["name"]
        host = hosts.container(
            stack.kubeconfig, stack.contract.cluster.context, stack.contract.namespace, name, container
        )
        found[_subject(pod, container)] = look(host, points)
    if not found:
        raise CheckFailedError([Problem("prometheus", "no pod to look into", "at least one")])
    return found


def _subject(pod: Json, container: str) -> str:
    return f"pod {pod['metadata']['name']} container {container}"
