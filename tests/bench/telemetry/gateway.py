"""The gateway: spans and log records over OTLP/HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tests.bench.telemetry import balance, content
from tests.bench.telemetry.figures import RECORDS, SPANS, Latency, Measured, Throughput, latency
from tests.bench.telemetry.phases import between, spent, ticking
from tests.bench.telemetry.plan import SPANS_OF_A_TRACE
from tests.bench.telemetry.sender import Connection, send_all
from tests.bench.telemetry.sides import AS_RENDERED, GATEWAY, arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.telemetry.phases import Bench, Spent
    from tests.bench.telemetry.sender import Sent

_TRACES: Final = "/v1/traces"
_LOGS: Final = "/v1/logs"
_DECIDED: Final = "otelcol_processor_tail_sampling_global_count_traces_sampled"
_ACCEPTED: Final = "otelcol_receiver_accepted_"
_CALLS: Final = "traces_span_metrics_calls"
_PAUSE: Final = 0.5


def gateway(bench: Bench) -> tuple[Measured, ...]:
    """Both signals as fast as they are taken, then both at a fixed rate."""
    bench.say(f"    at most {bench.plan.traces * SPANS_OF_A_TRACE} spans")
    spans = _spans(bench)
    bench.say(f"    at most {bench.plan.records} log records")
    records = _records(bench)
    bench.say(f"    {bench.plan.seconds:.0f} s at a fixed rate")
    traced, logged = _latencies(bench, spans.count)
    found = ((SPANS, spans, traced), (RECORDS, records, logged))
    return tuple(
        Measured(collector=GATEWAY, signal=signal, side=bench.side, throughput=fast, latency=slow)
        for signal, fast, slow in found
    )


class _Traces:
    """Traces of one phase, and whether all came that were to come. kinds: of each."""

    def __init__(self, bench: Bench, kinds: Sequence[str]) -> None:
        self._bench, self.kinds, self.phase = bench, kinds, next(bench.phases)
        self._samples = bench.side == AS_RENDERED
        self._before = self._counts()

    @property
    def spans(self) -> int:
        """Of all traces."""
        return len(self.kinds) * SPANS_OF_A_TRACE

    def await_all(self) -> None:
        """Until every trace is decided about, and what is kept is at the sink."""
        self._bench.await_items(self.phase, self._wanted)

    def problems(self) -> tuple[str, ...]:
        """Why the figures stand for nothing."""
        counts, (taken, decided, kept) = self._bench.sink.counts(self.phase), self._grown()
        found = [*balance.accepted(taken, self.spans, "spans")]
        if self._samples:
            found += balance.decided(decided, len(self.kinds))
            found += balance.sampled(counts, self.kinds, kept)
        else:
            found += balance.lost(counts, self.spans, "spans")
        return tuple(found)

    def _wanted(self) -> int | None:
        if not self._samples:
            return self.spans
        _, decided, kept = self._grown()
        return kept * SPANS_OF_A_TRACE if decided >= len(self.kinds) else None

    def _counts(self) -> tuple[int, int, int]:
        """Spans accepted, traces decided about, traces kept."""
        total = self._bench.collector.total
        return int(total(f"{_ACCEPTED}spans")), int(total(_DECIDED)), int(total(_DECIDED, sampled="true"))

    def _grown(self) -> tuple[int, int, int]:
        now = self._counts()
        accepted, decided, kept = (after - before for after, before in zip(now, self._before, strict=True))
        return accepted, decided, kept


def _spans(bench: Bench) -> Throughput:
    kinds = [content.kind_of(number) for number in range(bench.plan.traces)]
    traces = _Traces(bench, kinds)
    groups = [
        [*content.traces(traces.phase, numbers, [kinds[number] for number in numbers])]
        for numbers in content.batches(len(kinds), content.TRACES_OF_A_REQUEST)
    ]
    with spent(bench.collector) as cost:
        sent = send_all(bench.collector.http, _TRACES, groups, bench.plan)
        traces.kinds = kinds[: sent.groups * content.TRACES_OF_A_REQUEST]
        traces.await_all()
    return _throughput(bench, traces.phase, traces.spans, sent, cost, traces.problems())


def _records(bench: Bench) -> Throughput:
    phase, most = next(bench.phases), bench.plan.records
    groups = [[content.records(phase, numbers)] for numbers in content.batches(most, content.RECORDS_OF_A_REQUEST)]
    name = f"{_ACCEPTED}log_records"
    before = bench.collector.total(name)
    with spent(bench.collector) as cost:
        sent = send_all(bench.collector.http, _LOGS, groups, bench.plan)
        count = min(most, sent.groups * content.RECORDS_OF_A_REQUEST)
        bench.await_items(phase, lambda: count)
    problems = [
        *balance.accepted(bench.collector.total(name) - before, count, "log records"),
        *balance.lost(bench.sink.counts(phase), count, "log records"),
    ]
    return _throughput(bench, phase, count, sent, cost, tuple(problems))


def _throughput(bench: Bench, phase: int, count: int, sent: Sent, cost: Spent, problems: tuple[str, ...]) -> Throughput:
    arrived = bench.sink.phase(phase)
    return Throughput(
        count=count,
        seconds=sent.seconds,
        delivered=max(0, arrived["last"] - cost.begun) / 1e9,
        cpu=cost.cpu,
        peak=cost.peak,
        refused=sent.refused,
        kept=arrived["distinct"],
        again=arrived["again"],
        problems=problems,
    )


def _latencies(bench: Bench, before: int) -> tuple[Latency, Latency]:
    """Of traces, each of which has an error and is kept, and of log records. before: spans that were sent so far."""
    plan, phase = bench.plan, next(bench.phases)
    ticks = max(1, int(plan.ticks * plan.seconds))
    traces = _Traces(bench, [content.ERROR] * ticks)
    traced, logged = dict[int, int](), dict[int, int]()
    connection = Connection(bench.collector.http, plan.patience)
    for tick in ticking(plan.ticks, plan.seconds):
        numbers = range(tick * plan.tick_records, (tick + 1) * plan.tick_records)
        logged |= dict.fromkeys(numbers, time.monotonic_ns())
        connection.send(_LOGS, content.records(phase, numbers))
        traced[tick] = time.monotonic_ns()
        for body in content.traces(traces.phase, [tick], [content.ERROR]):
            connection.send(_TRACES, body)
    connection.close()
    bench.await_items(phase, lambda: len(logged))
    traces.await_all()
    wait = arguments(plan).sampling.decision_wait_after_root_seconds if bench.side == AS_RENDERED else 0
    problems = [*traces.problems(), *_span_metrics(bench, before + traces.spans)]
    lost = tuple(balance.lost(bench.sink.counts(phase), len(logged), "log records"))
    return (
        latency(between(traced, bench.sink.times(traces.phase), wait), tuple(problems)),
        latency(between(logged, bench.sink.times(phase)), lost),
    )


def _span_metrics(bench: Bench, sent: int) -> list[str]:
    """Of everything that this collector was sent."""
    if bench.side != AS_RENDERED:
        return []
    deadline = time.monotonic() + arguments(bench.plan).scrape_interval_seconds + bench.plan.patience
    while (found := bench.collector.total(_CALLS, spans=True)) < sent and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return [*balance.counted(found, sent)]
