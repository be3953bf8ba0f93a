"""What happened to one board in a step: held back, XIDs, and values beside those of before."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from smoke.run_evidence import judge_xids
from smoke.run_evidence.facts import Finding, Span, Unseen
from smoke.run_evidence.judge_throttle import Share, bracket, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.run_evidence.facts import Board, Sample, Series

THERMAL: Final = "DCGM_FI_DEV_THERMAL_VIOLATION"
POWER: Final = "DCGM_FI_DEV_POWER_VIOLATION"
EVENTS: Final = "DCGM_EXP_CLOCK_EVENTS_COUNT"
SCRAPED: Final = "DCGM_FI_DEV_FB_FREE"
"""Every GPU has it: when it was scraped."""
SLOWDOWNS: Final = ("hw_slowdown", "hw_thermal", "hw_power_brake", "sw_thermal")
"""Clock events that are never usual. A power cap is, and is judged by its time."""
WORTH_TELLING: Final = 0.01
"""Share of the step from which on a throttle is a finding."""
MORE_THAN_USUAL: Final = 2.0
"""Times its share before, from which on running into the power limit is one."""
VALUES: Final = {
    "DCGM_FI_DEV_GPU_TEMP": "GPU °C",
    "DCGM_FI_DEV_MEMORY_TEMP": "memory °C",
    "DCGM_FI_DEV_POWER_USAGE": "W",
    "DCGM_FI_DEV_SM_CLOCK": "SM MHz",
    "DCGM_FI_DEV_GPU_UTIL": "utilisation %",
    "DCGM_FI_PROF_SM_ACTIVE": "SM active",
}
METRICS: Final = (THERMAL, POWER, EVENTS, SCRAPED, judge_xids.LAST, judge_xids.COUNTED, *VALUES)


@dataclass(frozen=True)
class Value:
    """A gauge: least and most in the step, and the median before. None: no samples."""

    name: str
    least: float | None
    most: float | None
    before: float | None


@dataclass(frozen=True)
class BoardEvidence:
    """All of one board. scraped: around the step. thermal, power: None where the counter does not reach around it."""

    board: Board
    scraped: bool
    thermal: Share | None
    power: Share | None
    xids: tuple[judge_xids.Event, ...]
    standing: tuple[int, ...]
    events: tuple[str, ...]
    values: tuple[Value, ...]
    findings: tuple[Finding, ...]
    unseen: tuple[Unseen, ...]


def judge(board: Board, series: Sequence[Series], step: Span, window: Span, since: float) -> BoardEvidence:
    """series: of this board alone, of METRICS. window: in which XIDs count. since: when the run took the board."""
    scrapes = sorted({time for time, _ in samples_of(series, SCRAPED)})
    thermal, power = (share(samples_of(series, name), step) for name in (THERMAL, POWER))
    seen = judge_xids.events([one for one in series if one.metric in (judge_xids.LAST, judge_xids.COUNTED)], scrapes)
    xids = tuple(event for event in seen if event.between.meets(window) and event.between.end > since)
    events = tuple(_clock_events(series, scrapes, step))
    found = [*_thermal(board, thermal, step, events), *_power(board, series, power, step, since)]
    found += [_xid(board, event) for event in xids]
    if not found and events:
        found.append(_slowdown(board, events))
    return BoardEvidence(
        board,
        bracket([(time, 0.0) for time in scrapes], step) is not None,
        thermal,
        power,
        xids,
        tuple(judge_xids.standing(series)),
        events,
        tuple(_value(series, name, step, since) for name in VALUES),
        tuple(found),
        tuple(_unseen(board, series, scrapes, thermal, step)),
    )


def samples_of(series: Sequence[Series], metric: str) -> list[Sample]:
    """Samples of all series of a metric, one per time: who holds a board, or shares it, changes its labels."""
    at: dict[float, float] = {}
    for one in series:
        for time, value in one.samples if one.metric == metric else ():
            at[time] = max(at.get(time, value), value)
    return sorted(at.items())


def _unseen(
    board: Board, series: Sequence[Series], scrapes: Sequence[float], thermal: Share | None, step: Span
) -> list[Unseen]:
    around = bracket([(time, 0.0) for time in scrapes], step)
    if around is None:
        return [Unseen(str(board), "it was not scraped around the step, or with gaps of more than five minutes")]
    if thermal is not None:
        return []
    if samples_of(series, THERMAL):
        return [Unseen(f"throttling of {board}", f"{THERMAL} has no samples around the step")]
    if any(one.metric == EVENTS for one in series):
        # Which clocks were held back is told without for how long.
        return [Unseen(f"how long {board} was throttled", f"its driver has no {THERMAL}", essential=False)]
    return [Unseen(f"throttling of {board}", f"its driver tells neither {THERMAL} nor {EVENTS}")]


def _thermal(board: Board, found: Share | None, step: Span, events: Sequence[str]) -> list[Finding]:
    if found is None or found.most < WORTH_TELLING * step.seconds:
        return []
    why = f" (clock events: {', '.join(events)})" if events else ""
    return [
        Finding(
            "thermal_throttle",
            f"{board} was {_held(found, step, 'thermally throttled')}{why}",
            100,
            _about(board, found),
        )
    ]


def _power(board: Board, series: Sequence[Series], found: Share | None, step: Span, since: float) -> list[Finding]:
    """Under full load the limit is reached all the time; what is told is more of it than before."""
    if found is None or found.most < WORTH_TELLING * step.seconds:
        return []
    samples = samples_of(series, POWER)
    first = next((time for time, _ in samples if time >= since), step.begin)
    before = share(samples, Span(first, found.between.begin)) if first < found.between.begin else None
    usual = before.grown / before.between.seconds if before else 0.0
    now = found.most / step.seconds
    if before and now < MORE_THAN_USUAL * usual:
        return []
    told = (
        f"{_held(found, step, 'held back by its power limit')}; before {usual:.0%} of the time"
        if before
        else _held(found, step, "held back by its power limit")
    )
    return [Finding("power_throttle", f"{board} was {told}", 60, _about(board, found))]


def _held(found: Share, step: Span, what: str) -> str:
    """The bounds in words."""
    low, high = (100 * seconds / step.seconds for seconds in (found.least, found.most))
    if found.least <= 0:
        return (
            f"{what} for {found.grown:.1f} s within {found.between.seconds:.0f} s around the step, of whose "
            f"{step.seconds:.1f} s it may be up to {high:.0f} %: samples lie too far apart to say more"
        )
    if high - low < 1:
        return f"{what} for {low:.0f} % of the step's time"
    return f"{what} for {low:.0f} % to {high:.0f} % of the step's time, as far as its samples can tell"


def _about(board: Board, found: Share) -> dict[str, object]:
    return {
        "node": board.node,
        "uuid": board.uuid,
        "gpu": board.index,
        "least_seconds": round(found.least, 3),
        "most_seconds": round(found.most, 3),
    }


def _xid(board: Board, event: judge_xids.Event) -> Finding:
    return Finding("xid", f"{board} reported {event}", 90, {"node": board.node, "uuid": board.uuid, "xid": event.code})


def _slowdown(board: Board, events: Sequence[str]) -> Finding:
    text = f"clocks of {board} were held back: {', '.join(events)}"
    return Finding("clock_event", text, 80, {"node": board.node, "uuid": board.uuid, "events": list(events)})


def _clock_events(series: Sequence[Series], scrapes: Sequence[float], step: Span) -> list[str]:
    """Slowdowns that were counted anew between the scrapes around the step.

    The count is of samples within a window: it falls by itself when old ones leave it, so only a rise tells.
    """
    around = bracket([(time, 0.0) for time in scrapes], step) or []
    found = []
    for reason in SLOWDOWNS:
        at = dict(samples_of([one for one in series if one.get("clock_event") == reason], EVENTS))
        counts = [at.get(time, 0.0) for time, _ in around]
        if any(later > earlier for earlier, later in pairwise(counts)):
            found.append(reason)
    return found


def _value(series: Sequence[Series], name: str, step: Span, since: float) -> Value:
    samples = samples_of(series, name)
    now = [value for _, value in bracket(samples, step) or []]
    before = [value for time, value in samples if since <= time < step.begin]
    return Value(name, min(now, default=None), max(now, default=None), median(before) if before else None)
