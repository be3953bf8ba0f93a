"""Redaction proven: canaries in every field go to the gateway; no store has one, and all beside them is there."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smoke import limits
from smoke.access.errors import AccessError
from smoke.access.logsql import anywhere, exactly
from smoke.judge import leaks
from smoke.judge.telemetry import PREFIX
from smoke.proofs import canary_messages as messages
from smoke.proofs.canaries import TOKENS, Flock
from smoke.proofs.nonces import identifier, word

if TYPE_CHECKING:
    from smoke.model import Problem
    from smoke.stack import Stack

LOGS, TRACES, PAGE, PROMETHEUS = "VictoriaLogs", "Jaeger", "the gateway's own page of metrics", "Prometheus"


@dataclass(frozen=True)
class _Sent:
    """What was sent. records: how many. points: whether metrics were."""

    flock: Flock
    service: str
    trace_id: str
    records: int
    points: bool


class Redaction:
    """The proof. Nothing of it can be removed from the stores; its service is named after smoke."""

    subject = "canaries"

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._sent: _Sent | None = None
        self._passed = False
        self._leaks: dict[str, Problem] = {}

    @property
    def told(self) -> str:
        """What was seen, once it is passed."""
        sent = self._given()
        number, stores = len(sent.flock.made), list(self._innocents(sent))
        return (
            f"{number} canaries of service {sent.service} are in none of {', '.join(stores)}; all beside them is there"
        )

    def begin(self) -> None:
        """Send everything. What failed half-way is sent anew under another name."""
        if self._sent is not None:
            return
        signals, at = self._stack.telemetry.promised.signals, time.time()
        flock = Flock(word())
        service = f"{PREFIX}{flock.word}"
        trace_id, span_id, linked = identifier(32), identifier(16), identifier(32)
        gateway = self._stack.telemetry.gateway
        if "traces" in signals:
            gateway.traces([messages.spans(flock, service, (trace_id, span_id, linked), at)])
        records = messages.records(flock, service, trace_id, at)
        if "logs" in signals:
            gateway.logs([records])
        if "metrics" in signals:
            gateway.metrics([messages.metrics(flock, service, (trace_id, span_id), at)])
        number = len(records.scope_logs[0].log_records)
        self._sent = _Sent(flock, service, trace_id, number, "metrics" in signals)

    def advance(self) -> list[Problem]:
        """Search every store. A canary that was seen once is told for ever."""
        if self._passed:
            return []
        sent = self._given()
        stores = self._stores(sent)
        found = leaks.leaks(sent.flock.made, stores)
        self._leaks |= {str(problem): problem for problem in found}
        problems = [*self._leaks.values(), *leaks.arrived(self._innocents(sent), stores)]
        self._passed = not problems
        return problems

    def end(self) -> None:
        """Nothing can be removed."""

    def _given(self) -> _Sent:
        if self._sent is None:
            raise AccessError(self.subject, "were not sent")
        return self._sent

    def _stores(self, sent: _Sent) -> dict[str, str]:
        """All that is there of what was sent, by store."""
        telemetry, found = self._stack.telemetry, dict[str, str]()
        wanted = self._innocents(sent)
        if LOGS in wanted:
            asked = (anywhere(sent.flock.word), anywhere(sent.flock.digits), exactly("service.name", sent.service))
            found[LOGS] = json.dumps(telemetry.logs.rows(" or ".join(asked), limits.ROWS))
        if TRACES in wanted:
            names = [*telemetry.traces.services(), *telemetry.traces.operations(sent.service)]
            mine = [name for name in names if sent.flock.word in name or sent.flock.digits in name]
            found[TRACES] = json.dumps([telemetry.traces.trace(sent.trace_id), mine])
        if PAGE in wanted:
            pages = telemetry.span_pages()
            found[PAGE] = "\n".join(line for page in pages for line in page.splitlines() if _ours(line, sent.flock))
        if PROMETHEUS in wanted:
            ask = (f'{{service_name="{sent.service}"}}', f'{{__name__=~"smoke_.*{sent.flock.word}.*"}}')
            found[PROMETHEUS] = json.dumps([self._stack.prometheus.query(one) for one in ask])
        return found

    def _innocents(self, sent: _Sent) -> dict[str, dict[str, int]]:
        """Store → what must be there of it, and how often at least."""
        stack, word_ = self._stack, sent.flock.word
        signals, found = stack.telemetry.promised.signals, dict[str, dict[str, int]]()
        if stack.claims("logs") and "logs" in signals:
            each = {sent.service: sent.records, f"{word_}resource": sent.records, f"{word_}log": sent.records}
            found[LOGS] = {**each, f"{word_}body": 1, str(TOKENS): 1}
        if stack.claims("traces") and "traces" in signals:
            once = ("operation", "status", "resource", "span", "event", "bare")
            found[TRACES] = {sent.service: 1, **{f"{word_}{name}": 1 for name in once}, str(TOKENS): 1}
        points = {f"smoke_{word_}_{kind}": 1 for kind in ("gauge", "sum", "histogram", "bare")} if sent.points else {}
        calls = {sent.service: 1} if "traces" in signals else {}
        if stack.telemetry.collector("gateway").span_metrics_port is not None:
            found[PAGE] = {**points, **({f"{word_}point": 4} if points else {}), **calls}
            if stack.claims("metrics"):
                found[PROMETHEUS] = {**points, **calls}
        return found


def _ours(line: str, flock: Flock) -> bool:
    """Lines of anything of this run; numbers are told in two ways."""
    return flock.word in line or flock.digits in line or f"{flock.digits[0]}.{flock.digits[1:]}" in line
