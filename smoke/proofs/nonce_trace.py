"""A trace proven: sent to an agent as a workload sends, it is at its store, whole, with all its keys."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from smoke.access.otlp import Span
from smoke.judge import telemetry
from smoke.judge.telemetry import PREFIX
from smoke.model import Problem
from smoke.proofs.nonces import identifier, uid, word

if TYPE_CHECKING:
    from smoke.stack import Stack

CONTAINER = "smoke"


class NonceTrace:
    """The proof. Nothing of it can be removed from the store; its service is named after smoke."""

    subject = "a trace of smoke's own"

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._sent: list[Span] = []
        self._resource: dict[str, str] = {}
        self._passed = False

    @property
    def told(self) -> str:
        """What was seen, once it is passed."""
        keys = ", ".join([*self._expected(), telemetry.NODE_NAME])
        return f"trace {self._sent[0].trace_id}: {len(self._sent)} spans sent to an agent, found whole, with {keys}"

    def begin(self) -> None:
        """Send a trace that failed, and so is kept, in two requests. What failed half-way is sent anew as another."""
        if self._sent:
            return
        nonce, now = word(), time.time()
        resource = _workload(nonce, self._stack.telemetry.promised.identity)
        spans = _spans(nonce, identifier(32), now)
        agent = self._stack.telemetry.agent
        # The half that failed comes first, so that a decision by halves would lose the other one.
        agent.spans(resource, spans[2:])
        agent.spans(resource, spans[:2])
        self._sent, self._resource = spans, resource

    def advance(self) -> list[Problem]:
        """Look for it."""
        if not self._sent:
            return [Problem(self.subject, "not sent", "sent")]
        if self._passed:
            return []
        found = self._stack.telemetry.traces.trace(self._sent[0].trace_id)
        problems = telemetry.whole(found, self._sent, self._expected())
        problems += telemetry.on_node(found, self._nodes())
        self._passed = not problems
        return problems

    def end(self) -> None:
        """Nothing can be removed."""

    def _expected(self) -> dict[str, str]:
        return {**self._resource, **self._stack.telemetry.promised.resource_attributes}

    def _nodes(self) -> set[str]:
        """Where agents run: each says on which node it took what it sends."""
        return {pod["spec"].get("nodeName", "") for pod in self._stack.telemetry.pods("agent")}


def _workload(nonce: str, identity: tuple[str, ...]) -> dict[str, str]:
    """Resource attributes as the downward API gives them to a pod, and those that say whose it is."""
    return {
        "service.name": f"{PREFIX}{nonce}",
        "service.namespace": "plumbline",
        "service.instance.id": uid(),
        "k8s.namespace.name": f"space-{nonce}",
        "k8s.pod.name": f"pod-{nonce}",
        "k8s.pod.uid": uid(),
        "k8s.container.name": CONTAINER,
        **{key: f"{key}-{nonce}" for key in identity},
    }


def _spans(nonce: str, trace_id: str, now: float) -> list[Span]:
    """A root, two children, and a child of one of them, which fails."""
    ids = [identifier(16) for _ in range(4)]
    parents = ["", ids[0], ids[0], ids[1]]
    names = [f"{name} {nonce}" for name in ("root", "first", "second", "failed")]
    return [
        Span(
            trace_id=trace_id,
            span_id=own,
            parent=parent,
            name=name,
            start=now - 0.1,
            end=now,
            error="of smoke's own" if name.startswith("failed") else "",
            attributes={"smoke.step": name},
        )
        for own, parent, name in zip(ids, parents, names, strict=True)
    ]
