"""Traces whose root comes last and late, as that of every slow request does: a span is sent when it ends."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from smoke import limits
from smoke.access.otlp import Span
from smoke.judge import telemetry
from smoke.model import Problem

if TYPE_CHECKING:
    from smoke.stack import Stack
    from stacks.contract import Sampling

LATE = "slow late-root"


class LateRoots:
    """Slow traces whose root alone shows it. It comes so late that a gateway has decided that does not wait for it.

    Clock: monotonic. If the root cannot be sent within the promised wait, the proof is begun anew with other traces.
    """

    def __init__(self, stack: Stack, service: str, promised: Sampling) -> None:
        self._stack, self._resource, self._promised = stack, {"service.name": service}, promised
        self._roots: list[Span] = []
        self._begun = 0.0
        self._sent: dict[str, int] = {}

    @property
    def told(self) -> str:
        """What was seen, once all are found."""
        if not self._possible:
            return "no slow trace with a late root was tried: decision_wait leaves no time for it"
        return f"{len(self._sent)} slow traces whose root came {self._due:g} s late are all kept, each whole"

    def send(self) -> None:
        """Send what is due: first the children, and their roots when they are late enough."""
        if self._sent or not self._possible:
            return
        if not self._roots or time.monotonic() - self._begun > self._last:
            self._begin()
        if time.monotonic() - self._begun < self._due:
            return
        self._stack.telemetry.gateway.spans(self._resource, self._roots)
        if time.monotonic() - self._begun <= self._last:
            self._sent = {root.trace_id: 2 for root in self._roots}
        else:
            self._roots = []

    def found(self) -> list[Problem]:
        """All of them are there, whole."""
        if not self._possible:
            return []
        if not self._sent:
            return [Problem(f"{LATE} traces", "their roots are not sent yet", f"sent after {self._due:g} s")]
        limit = len(self._sent) + limits.TRACES_BEYOND
        traces = self._stack.telemetry.traces.search(self._resource["service.name"], limit)
        return telemetry.complete(traces, self._sent, LATE)

    @property
    def _due(self) -> float:
        """Seconds after the children: who takes the first span for the root has decided by then."""
        return self._promised.decision_wait_after_root_seconds + limits.DECISION_TICK

    @property
    def _last(self) -> float:
        """Seconds after the children until which the root is waited for, less those on its way."""
        return self._promised.decision_wait_seconds - limits.DECISION_TICK / 2

    @property
    def _possible(self) -> bool:
        return self._due + limits.DECISION_TICK <= self._last

    def _begin(self) -> None:
        seconds, now = self._promised.slow_ms / 1000 + 1, time.time()
        families = [_family(now - seconds, now) for _ in range(limits.TRACES_THAT_MATTER)]
        self._roots = []
        self._begun = time.monotonic()
        self._stack.telemetry.gateway.spans(self._resource, [child for _, child in families])
        self._roots = [root for root, _ in families]


def _family(start: float, end: float) -> tuple[Span, Span]:
    """A root that is slow, and its child that is not."""
    trace_id, root = secrets.token_hex(16), secrets.token_hex(8)
    child = secrets.token_hex(8)
    return (
        Span(trace_id=trace_id, span_id=root, name="late root", start=start, end=end),
        Span(trace_id=trace_id, span_id=child, parent=root, name="early child", start=start, end=start + 0.01),
    )
