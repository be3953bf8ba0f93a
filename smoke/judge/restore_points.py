"""Restore points themselves: how old they are, and what keeps anybody from deleting them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from smoke import limits
from smoke.judge.recovery import CREATE, VERIFY
from smoke.judge.units import hours, moment
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smoke.facts import Lock
    from stacks.contract import Recovery

COMPLIANCE: Final = "COMPLIANCE"
POINTS: Final = "points/"
"""What the objects of every point begin with; chunks, of which there are many more, lie elsewhere."""
_MANIFEST: Final = re.compile(r"points/[^/]+/manifest\.json")
_VERIFIED: Final = re.compile(r"points/[^/]+/verified/[^/]+\.json")
_Command = Literal["create", "verify"]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What Prometheus tells of restore points: Unix times and a number, None where it has no series. now: its time."""

    now: float
    point: float | None
    verified: float | None
    differences: float | None


def points(told: Told, promised: Recovery, ages: Mapping[str, float | None]) -> list[Problem]:
    """The newest point, and the newest that was verified, are young enough; the last verification found no difference.

    ages: command → seconds since its CronJob was made, None if there is none: before a point is due, none is missed.
    """
    problems = _young("newest restore point", told.point, told.now, promised.rpo_seconds, ages.get(CREATE))
    subject = "newest verified restore point"
    if told.verified == 0:
        problems.append(Problem(subject, "none of those that were verified is good", "a good one"))
    else:
        problems += _young(subject, told.verified, told.now, verified_within(promised), ages.get(VERIFY))
    if told.differences is not None and told.differences != 0:
        problems.append(Problem("last verification", f"{told.differences:g} differences", "none"))
    return problems


def kept(told: Told, written: Mapping[str, float], bucket: str) -> list[Problem]:
    """The bucket holds what Prometheus tells of, which stays told when a bucket is emptied or made anew.

    written: object under POINTS → Unix time when it was written. A manifest is written behind everything that its
    point holds, and the outcome of a verification behind the point that it is of.
    """
    problems = []
    for kind, value, pattern in (("manifest", told.point, _MANIFEST), ("verification", told.verified, _VERIFIED)):
        times = [at for name, at in written.items() if pattern.fullmatch(name)]
        newest = max(times, default=None)
        if value and not (newest is not None and newest >= value - limits.POINT_FUTURE):
            seen = "none" if newest is None else f"the newest written at {moment(newest)}"
            expected = f"one written behind {moment(value)}, the time of the point that Prometheus tells of"
            problems.append(Problem(f"{kind} of a restore point in bucket {bucket}", seen, expected))
    return problems


def points_told(told: Told, promised: Recovery, ages: Mapping[str, float | None]) -> str:
    """How old they are; of one that is not there yet, when it is due."""
    lines = []
    kinds: tuple[tuple[str, float | None, _Command], ...]
    kinds = (("", told.point, CREATE), ("verified ", told.verified, VERIFY))
    for name, value, command in kinds:
        if value:
            lines.append(f"newest {name}restore point: of {moment(value)}, {hours(told.now - value)} old")
        else:
            due = told.now - (ages.get(command) or 0) + _period(promised, command)
            lines.append(f"no {name}restore point yet; the first is due at {moment(due)}")
    return "\n".join(lines)


def verified_within(promised: Recovery) -> float:
    """Greatest age in seconds of the newest verified point.

    It was verified one period and an hour ago, and by then had the age that a point may have; where points are made
    more often than they are verified, one verification may be missing.
    """
    period = _period(promised, VERIFY)
    return period + limits.RUN_SLACK + max(period, promised.rpo_seconds)


def locked(bucket: str, lock: Lock, least: int) -> list[Problem]:
    """What is written to the bucket is locked by default, for at least so many days, in the mode that nobody lifts."""
    if lock.mode == COMPLIANCE and lock.days >= least:
        return []
    seen = f"{lock.mode} for {lock.days} days" if lock.mode else f"no default retention {lock.why}".strip()
    return [Problem(f"bucket {bucket}", seen, f"{COMPLIANCE} for at least {least} days", terminal=True)]


def _young(subject: str, value: float | None, now: float, allowed: float, age: float | None) -> list[Problem]:
    expected = f"one that is at most {hours(allowed)} old"
    if value is None:
        if age is not None and age <= allowed:
            return []
        since = "no CronJob makes one" if age is None else f"its CronJob is there for {hours(age)}"
        return [Problem(subject, f"none is told of, and {since}", expected)]
    if value - now > limits.POINT_FUTURE:
        return [Problem(subject, f"of {moment(value)}, which is to come", f"before {moment(now)}: a clock is wrong")]
    # Not a number is neither more nor less than anything.
    if now - value <= allowed:
        return []
    return [Problem(subject, f"{hours(now - value)} old", expected)]


def _period(promised: Recovery, command: _Command) -> int:
    """Seconds. Without a schedule a run counts as due at once."""
    return promised.jobs[command].period_seconds or 0
