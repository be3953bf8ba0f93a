"""Asking stores that may not answer: what could not be looked at is kept, and never reads as clean."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from smoke import poll
from smoke.access.errors import AccessError
from smoke.model import CheckFailedError
from smoke.redact import bounded
from smoke.run_evidence.facts import Unseen
from smoke.run_evidence.read_logs import Logs
from smoke.run_evidence.read_metrics import Metrics
from smoke.run_evidence.read_traces import Traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.run_evidence.facts import Span
    from smoke.stack import Stack

Answer = TypeVar("Answer")
PATIENCE = 10.0
"""Seconds for which a store is asked again: a forward may have broken."""


class UnknownError(Exception):
    """There is no such run, step or alert. near: what there is."""

    def __init__(self, message: str, near: list[str]) -> None:
        super().__init__(f"{message}; {_listed(near)}")


class BlindError(Exception):
    """Nothing can be said: why."""


class Looking:
    """The stack's stores, and what of them could not be looked at."""

    def __init__(self, stack: Stack, now: float) -> None:
        self._stack, self.now, self._patience = stack, now, PATIENCE
        self.unseen: list[Unseen] = []
        self.metrics = Metrics(stack.prometheus, stack.contract.cluster.name)

    def ask(self, what: str, question: Callable[[], Answer], *, essential: bool = True) -> Answer | None:
        """The answer; None, with an entry in `unseen`, where there is none."""
        try:
            return poll.fetch(question, self._patience)
        except (AccessError, CheckFailedError) as error:
            self._patience = 0.0  # one wait is enough for a stack that does not answer
            self.miss(what, bounded(str(error)), essential=essential)
            return None

    def miss(self, what: str, why: str, *, essential: bool = True) -> None:
        """Something was not looked at."""
        found = Unseen(what, why, essential)
        if found not in self.unseen:
            self.unseen.append(found)

    @property
    def logs_since(self) -> float:
        """Before this time this stack's store of logs keeps nothing."""
        promised = self._stack.contract.telemetry
        return self.now - promised.logs.retention_seconds if promised and promised.logs else 0.0

    def logs(self, run: str, span: Span) -> Logs | None:
        """None where this stack has no store of logs that can be asked."""
        if self._stack.claims("logs"):
            return Logs(self._stack.telemetry.logs, run, span)
        self.miss("logs", "this stack has no store of logs that can be asked (capability `logs`)", essential=False)
        return None

    def traces(self, run: str, span: Span) -> Traces | None:
        """None where this stack has no store of traces that can be asked."""
        if self._stack.claims("traces"):
            return Traces(self._stack.telemetry.traces, run, span)
        self.miss(
            "traces", "this stack has no store of traces that can be asked (capability `traces`)", essential=False
        )
        return None


def _listed(near: list[str]) -> str:
    return f"there are {', '.join(near)}" if near else "none was seen"
