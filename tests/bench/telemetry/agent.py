"""The agent: lines that containers wrote."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from tests.bench.telemetry import balance, content
from tests.bench.telemetry.figures import LINES, Latency, Measured, Throughput, latency
from tests.bench.telemetry.phases import between, settled, spent, ticking
from tests.bench.telemetry.sides import AGENT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.telemetry.phases import Bench

_ACCEPTED: Final = "otelcol_receiver_accepted_log_records"


def agent(bench: Bench) -> tuple[Measured, ...]:
    """Files that are there at once, then lines at a fixed rate."""
    bench.say(f"    {bench.plan.lines} lines in {content.FILES} files")
    fast = _throughput(bench)
    bench.say(f"    {bench.plan.seconds:.0f} s at a fixed rate")
    slow = _latency(bench)
    return (Measured(collector=AGENT, signal=LINES, side=bench.side, throughput=fast, latency=slow),)


def _throughput(bench: Bench) -> Throughput:
    phase, count = next(bench.phases), bench.plan.lines
    ready = bench.collector.directory / "ready"
    for number in range(content.FILES):
        path = ready / content.log_file(number)
        path.parent.mkdir(parents=True)
        with path.open("w", encoding="utf-8") as file:
            file.writelines(content.line(phase, one) for one in range(number, count, content.FILES))
    before = bench.collector.total(_ACCEPTED)
    with spent(bench.collector) as cost:
        for directory in sorted(ready.iterdir()):
            directory.rename(_pods(bench) / directory.name)
        bench.await_items(phase, lambda: count)
    # What is counted here is counted when the queue has it, which may be a moment after the sink has it.
    accepted = settled(lambda: bench.collector.total(_ACCEPTED) - before, count)
    arrived = bench.sink.phase(phase)
    seconds = max(1, arrived["last"] - cost.begun) / 1e9
    problems = [
        *balance.accepted(accepted, count, "lines"),
        *balance.lost(bench.sink.counts(phase), count, "lines"),
    ]
    return Throughput(
        count=count,
        seconds=seconds,
        delivered=seconds,
        cpu=cost.cpu,
        peak=cost.peak,
        refused=0,
        kept=arrived["distinct"],
        again=arrived["again"],
        problems=tuple(problems),
    )


def _latency(bench: Bench) -> Latency:
    plan, phase = bench.plan, next(bench.phases)
    sent = dict[int, int]()
    with ExitStack() as stack:
        paths = [_pods(bench) / content.log_file(number) for number in range(content.FILES)]
        files = [stack.enter_context(path.open("a", encoding="utf-8")) for path in paths]
        for tick in ticking(plan.ticks, plan.seconds):
            file = files[tick % len(files)]
            for number in range(tick * plan.tick_records, (tick + 1) * plan.tick_records):
                sent[number] = time.monotonic_ns()
                file.write(content.line(phase, number))
            file.flush()
    bench.await_items(phase, lambda: len(sent))
    problems = balance.lost(bench.sink.counts(phase), len(sent), "lines")
    return latency(between(sent, bench.sink.times(phase)), tuple(problems))


def _pods(bench: Bench) -> Path:
    return bench.collector.directory / "pods"
