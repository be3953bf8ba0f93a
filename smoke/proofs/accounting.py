"""Accounting proven: a batch goes through agents, gateways and stores, whose counters account for all that came in."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from smoke import limits
from smoke.access.otlp import Record, Span
from smoke.judge import balance
from smoke.judge.balance import LOGS, SPANS, Reading, Stage
from smoke.judge.telemetry import PREFIX
from smoke.model import Problem
from smoke.proofs.nonces import word

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.access.exposition import Sample
    from smoke.stack import Stack

AGENT_LOGS, AGENT_SPANS = "agents, logs", "agents, spans"
GATEWAY_LOGS, DECISIONS, KEPT = "gateways, logs", "gateways, decisions", "gateways, kept traces"
STORED_LOGS, STORED_SPANS = "VictoriaLogs", "Jaeger"
AGENTS, GATEWAYS, ROWS, BADGER = "agents", "gateways", "rows", "badger"


class Accounting:
    """The proof: counters before a batch, the batch, and counters after it until they balance."""

    subject = "items of smoke's own"

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._readings: list[Reading] = []
        self._own: dict[str, int] = {}
        self._passed = False

    @property
    def told(self) -> str:
        """What was seen, once it is passed."""
        unread = (
            "" if self._few_agents() else f"\nmore than {limits.PODS_READ} agents, whose counters are left to the rules"
        )
        return f"{balance.told(self._readings)}{unread}"

    def begin(self) -> None:
        """Read every counter, then send. What failed half-way begins anew."""
        if self._own:
            return
        self._readings = [self._read(first=True)]
        self._own = self._send()

    def advance(self) -> list[Problem]:
        """Read again, and judge what has come in some seconds ago."""
        if not self._own:
            return [Problem(self.subject, "not sent", "sent")]
        if self._passed:
            return []
        self._readings.append(self._read())
        problems = balance.balanced(self._readings, self._lags(), self._own)
        self._passed = not problems
        return problems

    def end(self) -> None:
        """Nothing can be removed."""

    def _send(self) -> dict[str, int]:
        """Through an agent where there is one, as workloads send. Gives stage → items that must have come to it."""
        promised, number, now = self._stack.telemetry.promised, limits.COUNTED_ITEMS, time.time()
        to = self._stack.telemetry.agent if promised.agent else self._stack.telemetry.gateway
        service, stages = {"service.name": f"{PREFIX}{word()}"}, self._readings[0].stages
        own: dict[str, int] = {}
        if "logs" in promised.signals:
            to.records(service, [Record(body=f"counted {item}", at=now) for item in range(number)])
            own |= dict.fromkeys((AGENT_LOGS, GATEWAY_LOGS, STORED_LOGS), number)
        if "traces" in promised.signals:
            to.spans(service, [_span(now) for _ in range(number)])
            own |= dict.fromkeys((AGENT_SPANS, DECISIONS), number)
        return {stage: count for stage, count in own.items() if stage in stages}

    def _read(self, *, first: bool = False) -> Reading:
        """Sources before sinks: what moves on in between is counted where it has gone, and not as missing.

        first: the other way round, for what a sink already counts at the start must not be missing at the end.
        """
        at, sources = time.monotonic(), self._sources()
        names = list(reversed(sources)) if first else list(sources)
        pages = {name: sources[name]() for name in names}
        signals, stages = self._stack.telemetry.promised.signals, dict[str, Stage]()
        agents, gateways = pages.get(AGENTS, []), pages[GATEWAYS]
        if "logs" in signals:
            stages |= {AGENT_LOGS: balance.relay(agents, LOGS)} if AGENTS in pages else {}
            stages |= {GATEWAY_LOGS: balance.relay(gateways, LOGS)}
            stages |= {STORED_LOGS: balance.stored_logs(gateways, pages[ROWS])} if ROWS in pages else {}
        if "traces" in signals:
            stages |= {AGENT_SPANS: balance.relay(agents, SPANS)} if AGENTS in pages else {}
            stages |= {DECISIONS: balance.sampler(gateways), KEPT: balance.after_sampler(gateways)}
            stages |= {STORED_SPANS: balance.stored_spans(gateways, pages[BADGER])} if BADGER in pages else {}
        return Reading(at, stages)

    def _sources(self) -> dict[str, Callable[[], list[Sample]]]:
        """Who has counters, in the order in which items come by."""
        stack, telemetry = self._stack, self._stack.telemetry
        found: dict[str, Callable[[], list[Sample]]] = {}
        if telemetry.promised.agent and self._few_agents():
            found[AGENTS] = lambda: _together(telemetry.own_metrics("agent"))
        found[GATEWAYS] = lambda: _together(telemetry.own_metrics("gateway"))
        found |= {ROWS: telemetry.logs.own_metrics} if stack.claims("logs") else {}
        found |= {BADGER: lambda: _together(telemetry.store_metrics())} if stack.claims("traces") else {}
        return found

    def _lags(self) -> dict[str, float]:
        """Traces of others may have no root, and are decided last."""
        wait = self._stack.telemetry.longest_wait
        return {stage: limits.PIPELINE_LAG + (wait if stage == DECISIONS else 0) for stage in self._readings[-1].stages}

    def _few_agents(self) -> bool:
        return (
            len(self._stack.telemetry.pods("agent")) <= limits.PODS_READ
            if self._stack.telemetry.promised.agent
            else True
        )


def _together(pages: dict[str, list[Sample]]) -> list[Sample]:
    return [sample for page in pages.values() for sample in page]


def _span(now: float) -> Span:
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
    return Span(trace_id=trace_id, span_id=span_id, name="counted", start=now - 0.01, end=now)
