"""Sampling proven: traces that failed or took long are all kept, and of the rest the promised share."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smoke import limits
from smoke.access.errors import AccessError
from smoke.access.otlp import Span
from smoke.judge import sampling, telemetry
from smoke.judge.sampling import Share
from smoke.judge.telemetry import ERROR, PREFIX
from smoke.model import Problem
from smoke.proofs.late_roots import LateRoots
from smoke.proofs.model import advanced
from smoke.proofs.nonces import word

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.stack import Stack
    from stacks.contract import Sampling

FAILED, SLOW, REST = "failed", "slow", "other"
UNSET = "STATUS_CODE_UNSET"


@dataclass
class _Batch:
    """What was sent. shares: service → what of it is kept. failed, slow: trace id → number of its spans."""

    nonce: str
    shares: dict[str, Share] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    slow: dict[str, int] = field(default_factory=dict)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def service(self) -> str:
        """Of the traces that nothing speaks for."""
        return f"{PREFIX}{self.nonce}"

    @property
    def must(self) -> str:
        """Service of those that must be kept: whatever is kept beside them, a search finds them all."""
        return f"{self.service}-must"


class Sampled:
    """The proof, in stages: all that must be kept is there; decisions are over; counts have settled and are right.

    Every trace has a root, so that it is decided soon.
    """

    subject = "traces of smoke's own"

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._batch: _Batch | None = None
        self._sent = 0.0
        self._counts: dict[str, int] = {}
        self._since = 0.0
        self._stages: list[Callable[[], list[Problem]]] = []
        self._late: LateRoots | None = None

    @property
    def services(self) -> tuple[str, ...]:
        """Names of the services whose spans are counted: all but those of a tenant."""
        return (self._batch.service, self._batch.must) if self._batch else ()

    @property
    def calls(self) -> Counter[tuple[str, str]]:
        """Spans of those services that were sent: (name, status code) → number."""
        return self._batch.calls if self._batch else Counter()

    @property
    def told(self) -> str:
        """What was seen, once every stage is passed."""
        batch = self._batch
        if batch is None:
            return ""
        must = f"{len(batch.failed)} failed and {len(batch.slow)} slow traces are all kept, each whole"
        lines = [_line(share, self._counts[service]) for service, share in batch.shares.items()]
        late = self._late.told if self._late else ""
        return "\n".join([must, late, *lines])

    def begin(self) -> None:
        """Send everything to the gateway. What failed half-way is sent anew under another name."""
        if self._batch is not None:
            return
        promised, now = self._promised(), time.time()
        batch = _Batch(word())
        for tenant, percent in {"": promised.keep_percent, **promised.tenants}.items():
            self._send_share(batch, tenant, percent, now)
        slow = promised.slow_ms / 1000 + 1
        batch.failed = self._send_must(batch, FAILED, now, 0.1)
        batch.slow = self._send_must(batch, SLOW, now, slow)
        self._batch, self._sent = batch, time.monotonic()
        self._late = LateRoots(self._stack, f"{batch.service}-late", promised)
        self._stages = [self._must, self._late.found, self._decided, self._settled, self._right]

    def advance(self) -> list[Problem]:
        """One attempt at the stage that is due, and at those behind it that pass at once."""
        if self._batch is None or self._late is None:
            return [Problem(self.subject, "not sent", "sent")]
        self._late.send()
        return advanced(self._stages)

    def end(self) -> None:
        """Nothing can be removed."""

    def _promised(self) -> Sampling:
        found = self._stack.telemetry.promised.sampling
        if found is None:
            raise AccessError("contract", "promises no sampling, though it claims that traces are kept")
        return found

    def _send_share(self, batch: _Batch, tenant: str, percent: float, now: float) -> None:
        """Traces of one span each for which nothing speaks."""
        most = min(limits.TRACES_AT_MOST, self._promised().traces_in_memory // 4)
        number = sampling.needed(percent, most)
        service = f"{batch.service}-{tenant}" if tenant else batch.service
        resource = {"service.name": service, **({"team": tenant} if tenant else {})}
        for begin in range(0, number, limits.TRACES_PER_REQUEST):
            count = min(limits.TRACES_PER_REQUEST, number - begin)
            spans = [_plain(now) for _ in range(count)]
            self._stack.telemetry.gateway.spans(resource, spans)
        batch.shares[service] = Share(f"{tenant or REST}", number, percent)
        if not tenant:
            batch.calls[REST, UNSET] += number

    def _send_must(self, batch: _Batch, kind: str, now: float, seconds: float) -> dict[str, int]:
        """Traces of three spans. Those of one kind of span travel together: no request holds a whole trace."""
        traces = [_family(kind, now, seconds) for _ in range(limits.TRACES_THAT_MATTER)]
        for spans in zip(*traces, strict=True):
            self._stack.telemetry.gateway.spans({"service.name": batch.must}, spans)
        batch.calls.update((span.name, ERROR if span.error else UNSET) for trace in traces for span in trace)
        return {trace[0].trace_id: len(trace) for trace in traces}

    def _must(self) -> list[Problem]:
        batch = self._given()
        limit = len(batch.failed) + len(batch.slow) + limits.TRACES_BEYOND
        found = self._stack.telemetry.traces.search(batch.must, limit)
        return [*telemetry.complete(found, batch.failed, FAILED), *telemetry.complete(found, batch.slow, SLOW)]

    def _decided(self) -> list[Problem]:
        wait = self._promised().decision_wait_after_root_seconds + limits.PIPELINE_LAG
        waited = time.monotonic() - self._sent
        if waited >= wait:
            return []
        return [Problem(self.subject, f"sent {waited:.0f} s ago", f"decided upon, which takes up to {wait:.0f} s")]

    def _settled(self) -> list[Problem]:
        """A count on its way up would pass through what is right."""
        now, counts = time.monotonic(), self._count()
        if counts != self._counts or not self._since:
            self._counts, self._since = counts, now
        still = now - self._since
        if still >= limits.TRACES_STILL:
            return []
        return [
            Problem(self.subject, f"{counts} kept for {still:.0f} s", f"no more of them for {limits.TRACES_STILL:g} s")
        ]

    def _right(self) -> list[Problem]:
        self._counts = self._count()
        shares = self._given().shares
        return [problem for service, share in shares.items() for problem in sampling.kept(share, self._counts[service])]

    def _count(self) -> dict[str, int]:
        """Service → kept traces, up to more than a right collector keeps: what is beyond is red however much it is."""
        search = self._stack.telemetry.traces.search
        return {
            service: len({trace["traceID"] for trace in search(service, share.bounds[1] + limits.TRACES_BEYOND)})
            for service, share in self._given().shares.items()
        }

    def _given(self) -> _Batch:
        if self._batch is None:
            raise AccessError(self.subject, "were not sent")
        return self._batch


def _plain(now: float) -> Span:
    return Span(trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8), name=REST, start=now - 0.01, end=now)


def _family(kind: str, now: float, seconds: float) -> tuple[Span, ...]:
    """A root that takes `seconds`, and two children; of a failed trace the last one fails, and nobody else."""
    trace_id, root = secrets.token_hex(16), secrets.token_hex(8)
    start = now - seconds
    names = [f"{kind} {name}" for name in ("root", "middle", "leaf")]
    return (
        Span(trace_id=trace_id, span_id=root, name=names[0], start=start, end=now),
        Span(
            trace_id=trace_id, span_id=secrets.token_hex(8), parent=root, name=names[1], start=start, end=start + 0.01
        ),
        Span(
            trace_id=trace_id,
            span_id=secrets.token_hex(8),
            parent=root,
            name=names[2],
            start=start,
            end=start + 0.01,
            error="of smoke's own" if kind == FAILED else "",
        ),
    )


def _line(share: Share, kept: int) -> str:
    low, high = share.bounds
    weak = "" if sampling.tells(share.sent, share.percent) else "; too few to tell it from none or three times as much"
    return f"{share.what}: {kept} of {share.sent} kept; {share.percent:g} % allows {low} to {high}{weak}"
