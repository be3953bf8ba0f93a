"""When a step was, how long it took beside others, which rank was slow; and where two sources contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from smoke.run_evidence.facts import Finding, Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smoke.run_evidence.facts import StepRecord

SLOW: Final = 1.5
"""Times the median from which on a step is told as slow."""
FEWEST: Final = 3
"""Other steps that make a median."""
APART_SECONDS: Final = 1.0
APART_SHARE: Final = 0.1
"""By how much logs and traces may differ about one step: clocks, and what a line's way to the log takes."""
TOGETHER: Final = 2.0
"""Ranks that end a step further apart than this many times its length did not take it together."""


@dataclass(frozen=True)
class Taken:
    """A step. records: the last one of each rank. attempts: how often the busiest rank took it."""

    step: int
    span: Span
    records: tuple[StepRecord, ...]
    attempts: int

    @property
    def seconds(self) -> float:
        """Of the slowest rank."""
        return max(record.seconds for record in self.records)

    @property
    def slowest(self) -> StepRecord:
        """The rank that others waited for."""
        return max(self.records, key=lambda record: (record.own, record.rank))


def taken(records: Sequence[StepRecord]) -> Taken | None:
    """The step, as last taken. Logs are believed before traces, of which some are not kept. None without records."""
    found: dict[str, list[StepRecord]] = {}
    for record in sorted(records, key=lambda one: (one.source == "logs", one.end)):
        found.setdefault(record.rank, []).append(record)
    if not found:
        return None
    last = max(many[-1].end for many in found.values())
    now = [many[-1] for many in found.values() if last - many[-1].end <= TOGETHER * max(many[-1].seconds, 1.0)]
    attempts = max(len({one.end for one in many if one.source == many[-1].source}) for many in found.values())
    span = Span(min(one.span.begin for one in now), max(one.end for one in now))
    return Taken(now[0].step, span, tuple(sorted(now, key=lambda one: one.rank)), attempts)


def contradictions(records: Sequence[StepRecord], step: Taken) -> list[str]:
    """Where a trace and a line of one rank tell different times of this attempt."""
    found = []
    by = {(one.source, one.rank): one for one in sorted(records, key=lambda one: one.end)}
    for rank in sorted({one.rank for one in step.records}):
        line, trace = by.get(("logs", rank)), by.get(("traces", rank))
        if line is None or trace is None:
            continue
        allowed = max(APART_SECONDS, APART_SHARE * line.seconds)
        if abs(line.seconds - trace.seconds) > allowed:
            found.append(
                f"rank {rank}: its log says that the step took {line.seconds:.2f} s, its trace {trace.seconds:.2f} s"
            )
        elif abs(line.end - trace.end) > allowed:
            found.append(
                f"rank {rank}: its log has the step's end {line.end - trace.end:+.1f} s from that of its trace"
            )
    return found


@dataclass(frozen=True)
class Beside:
    """Other steps of the run. which: in words."""

    median: float
    count: int
    which: str


def beside(step: int, times: Mapping[int, float]) -> Beside | None:
    """The steps before; those after where too few are before. times: step → seconds. None: too few of both."""
    for which, found in (
        ("before", [seconds for number, seconds in times.items() if number < step]),
        ("after", [seconds for number, seconds in times.items() if number > step]),
    ):
        if len(found) >= FEWEST:
            return Beside(median(found), len(found), which)
    return None


def slowness(step: Taken, other: Beside | None, usual: Mapping[str, float]) -> list[Finding]:
    """Told if the step was slow. usual: part → median of its seconds over other steps."""
    if other is None or other.median <= 0 or step.seconds < SLOW * other.median:
        return []
    factor, slow = step.seconds / other.median, step.slowest
    grown = {name: seconds - usual[name] for name, seconds in slow.parts.items() if name in usual and name != "sync"}
    part = max(grown, key=lambda name: grown[name], default="")
    words = f"; its {part} took {slow.parts[part]:.2f} s, usually {usual[part]:.2f} s" if part else ""
    text = (
        f"step {step.step} took {step.seconds:.2f} s, {factor:.1f} times the median of the {other.count} steps "
        f"{other.which} ({other.median:.2f} s); the slowest was rank {slow.rank}{words}"
    )
    return [Finding("slow_step", text, 50, {"factor": round(factor, 3), "rank": slow.rank, "part": part})]
