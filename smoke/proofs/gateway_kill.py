"""Load on a gateway that is killed: everything has an id, and the ids are looked for afterwards."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from smoke import limits
from smoke.access.errors import UnreachableError
from smoke.access.logsql import exactly
from smoke.access.otlp import Record, Span
from smoke.judge import outlived, survival
from smoke.judge.telemetry import PREFIX
from smoke.model import CheckFailedError, Problem
from smoke.proofs.nonces import identifier, word

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.judge.outlived import Window
    from smoke.stack import Stack

Json = dict[str, Any]

ID = "smoke.id"
LOGS, TRACES = "log records", "traces"


class GatewayKill:
    """Batches of records and of traces that failed, so that each of them must be kept. Clock: monotonic.

    Each trace is a root, and waits for its decision as long as those do whose root has come.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.service = f"{PREFIX}kill-{word()}"
        self._started = time.monotonic()
        self._killed = 0.0
        self._pods: list[Json] = []
        self.signals = tuple(s for s in stack.telemetry.promised.signals if s != "metrics" and stack.claims(s))
        self.records: dict[str, float] = {}
        self.traces: dict[str, float] = {}

    def send(self) -> None:
        """One batch, through an agent where there is one. Only what was acknowledged counts as sent."""
        promised = self._stack.telemetry.promised
        to = self._stack.telemetry.agent if promised.agent else self._stack.telemetry.gateway
        resource, now = {"service.name": self.service}, time.time()
        if "logs" in self.signals:
            ids = [identifier(16) for _ in range(limits.KILL_BATCH)]
            if _taken(
                lambda: to.records(resource, [Record(body="a line", at=now, attributes={ID: own}) for own in ids])
            ):
                self.records |= dict.fromkeys(ids, time.monotonic())
        if "traces" in self.signals:
            ids = [secrets.token_hex(16) for _ in range(limits.KILL_BATCH)]
            if _taken(lambda: to.spans(resource, [_failed(own, now) for own in ids])):
                self.traces |= dict.fromkeys(ids, time.monotonic())

    def filled(self) -> list[Problem]:
        """Send on until the gateway has held traces for as long as it waits with a decision, and longer."""
        self.send()
        wait = self._stack.telemetry.wait_after_root + limits.KILL_MARGIN
        waited = time.monotonic() - self._started
        return [] if waited >= wait else [Problem(self.service, f"load for {waited:.0f} s", f"load for {wait:.0f} s")]

    def kill(self) -> None:
        """Kill every gateway. Raises CheckFailedError if there is none, AccessError."""
        self._pods = self._stack.telemetry.pods("gateway")
        if not self._pods:
            raise CheckFailedError([Problem("gateway", "no pod", "a pod to kill")])
        self._killed = time.monotonic()
        for pod in self._pods:
            metadata = pod["metadata"]
            self._stack.kube.delete_pod(metadata["namespace"], metadata["name"], metadata["uid"])

    def returned(self) -> list[Problem]:
        """Send on until every gateway is replaced, and some seconds more."""
        self.send()
        problems = []
        for pod in self._pods:
            name, where = pod["metadata"]["name"], pod["metadata"]["namespace"]
            now = self._stack.kube.find(f"/api/v1/namespaces/{where}/pods/{name}")
            problems += survival.replaced(now, pod["metadata"]["uid"], name)
        waited = time.monotonic() - self._killed
        if not problems and waited < limits.KILL_AFTER:
            problems = [
                Problem(self.service, f"load for {waited:.0f} s after", f"load for {limits.KILL_AFTER:g} s after")
            ]
        return problems

    def found(self) -> list[Problem]:
        """Look for everything."""
        problems = []
        if "logs" in self.signals:
            problems += outlived.tried(self.records, self._killed, LOGS)
            problems += outlived.none_lost(self.records, self._stored_records(), LOGS)
        if "traces" in self.signals:
            problems += outlived.tried(self.traces, self._killed, TRACES)
            problems += outlived.bounded_loss(self.traces, self._stored_traces(), self._window(), TRACES)
        return problems

    def told(self) -> str:
        """Figures, of one more look."""
        lines = [f"{len(self._pods)} gateway(s) were killed under load of service {self.service}"]
        if "logs" in self.signals:
            lines.append(outlived.told(self.records, self._stored_records(), None, LOGS))
        if "traces" in self.signals:
            lines.append(outlived.told(self.traces, self._stored_traces(), self._window(), TRACES))
        return "\n".join(lines)

    def _window(self) -> Window:
        return outlived.window(self._killed, self._stack.telemetry.wait_after_root, limits.KILL_MARGIN)

    def _stored_records(self) -> list[str]:
        query = f"{exactly('service.name', self.service)} | fields {ID!r}"
        return [row[ID] for row in self._stack.telemetry.logs.rows(query, 4 * len(self.records) + 1) if ID in row]

    def _stored_traces(self) -> list[str]:
        found = self._stack.telemetry.traces.search(self.service, 2 * len(self.traces) + 1)
        return [span["traceID"] for trace in found for span in trace["spans"]]


def _taken(send: Callable[[], None]) -> bool:
    try:
        send()
    except UnreachableError:
        # Not acknowledged: whoever sends it knows, and may send it again.
        return False
    return True


def _failed(trace_id: str, now: float) -> Span:
    return Span(
        trace_id=trace_id, span_id=trace_id[:16], name="killed", start=now - 0.01, end=now, error="of smoke's own"
    )
