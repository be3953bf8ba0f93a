"""Which alerts teach nobody anything: those that come back, end before anybody had to answer, or stand for days.

Firings are known to the minute. What happened while nothing was recorded is unknown, and counts neither way.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from signals.rules.model import ANSWER_WITHIN
from signals.rules.routes import PAGE_PROOF_ALERT, WATCHDOG_ALERT
from smoke.run_evidence.facts import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOUR: Final = 3600
DAY: Final = 24 * HOUR
STEP: Final = 60
"""Seconds between two points."""
AGAIN: Final = HOUR
"""Seconds after its end within which the same alert has come back."""
OFTEN: Final = 3
"""Times that an alert must have come back, or fired, before anything is said of it."""
SHARE: Final = 0.3
STANDS: Final = 7 * DAY
"""Seconds after which nobody acts upon an alert that still fires."""
SET_OFF: Final = frozenset({PAGE_PROOF_ALERT})
"""Fire when somebody wants them to."""

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Rule:
    """A rule that is loaded. error: why it is not evaluated, "" where it is."""

    name: str
    severity: str
    query: str
    error: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Several rules may have one name, and differ in severity."""
        return self.name, self.severity


@dataclass(frozen=True)
class Firing:
    """From its first to its last point.

    seconds: in which it was recorded to fire; at most, up to two minutes less. open: its begin, its end or something
    between was not recorded, so its length is not known. since: seconds from the end of the one before, None where
    there is none, or something between was not recorded.
    """

    first: int
    last: int
    seconds: int
    open: bool = False
    since: int | None = None


@dataclass(frozen=True)
class Fired:
    """What one alert did. firings: by what it was about, the oldest first."""

    name: str
    severity: str
    firings: Mapping[Labels, tuple[Firing, ...]]

    @property
    def every(self) -> list[Firing]:
        """All of them."""
        return [one for many in self.firings.values() for one in many]

    @property
    def seconds(self) -> int:
        """In which at least one of them fired, added up over what they were about."""
        return sum(one.seconds for one in self.every)

    @property
    def longest(self) -> int:
        """Seconds."""
        return max(one.seconds for one in self.every)

    @property
    def back(self) -> int:
        """How often it fired again, about the same, within an hour after its end."""
        return sum(one.since is not None and one.since <= AGAIN for one in self.every)

    @property
    def whole(self) -> list[Firing]:
        """Those whose length is known."""
        return [one for one in self.every if not one.open]

    @property
    def due(self) -> int | None:
        """Seconds within which its severity asks for an answer; None where nobody is woken."""
        return ANSWER_WITHIN.get(self.severity)

    @property
    def early(self) -> int:
        """How many were over before anybody had to answer."""
        return 0 if self.due is None else sum(one.seconds < self.due for one in self.whole)


def firings(points: Mapping[Labels, Sequence[int]], known: Sequence[int]) -> dict[Labels, tuple[Firing, ...]]:
    """points: when each fired. known: when rules were evaluated. Both in order, in steps.

    Two points belong together unless the alert was seen not to fire between them. Where nobody looked, time is not
    counted: it may have fired, or not.
    """
    return {labels: tuple(_parts(sorted(set(times)), known)) for labels, times in points.items() if times}


def fired(points: Mapping[Labels, Sequence[int]], known: Sequence[int]) -> list[Fired]:
    """Per alert and severity, in order of name."""
    found: dict[tuple[str, str], dict[Labels, tuple[Firing, ...]]] = {}
    for labels, many in firings(points, known).items():
        own = dict(labels)
        found.setdefault((own.get("alertname", ""), own.get("severity", "")), {})[labels] = many
    return [Fired(name, severity, many) for (name, severity), many in sorted(found.items())]


def silent(rules: Sequence[Rule], seen: Sequence[Fired]) -> list[Rule]:
    """Rules whose alert never fired, each name and severity once, the gravest first."""
    did = {(one.name, one.severity) for one in seen}
    found = {rule.key: rule for rule in rules if rule.key not in did}
    return sorted(found.values(), key=lambda rule: (rule.severity or "P9", rule.name))


def findings(seen: Sequence[Fired], rules: Sequence[Rule]) -> list[Finding]:
    """What somebody should mend, the worst first."""
    found = [
        Finding("broken_rule", f"{one.name} is not evaluated: {one.error}", 90, {"alert": one.name})
        for one in rules
        if one.error
    ]
    for one in seen:
        if one.name not in SET_OFF:
            found += _habits(one)
    return sorted(found, key=lambda one: (-one.weight, one.text))


def _habits(one: Fired) -> list[Finding]:
    about, found = {"alert": one.name, "severity": one.severity}, []
    if one.back >= OFTEN:
        text = f"{one.name} flaps: it fired again within an hour of its end {one.back} times"
        found.append(Finding("flaps", text, 80, {**about, "times": one.back}))
    known = len(one.whole)
    if one.due is not None and known >= OFTEN and one.early > SHARE * known:
        text = f"{one.name} ends by itself: {one.early} of {known} firings were over before anybody had to answer"
        text += f" ({one.severity}, {one.due // 60} minutes)"
        found.append(Finding("early", text, 70, {**about, "early": one.early, "of": known}))
    if one.longest >= STANDS and one.name != WATCHDOG_ALERT:
        text = f"{one.name} stands: it was not seen to end in {one.longest / DAY:.1f} days of firing"
        found.append(Finding("stands", text, 60, {**about, "seconds": one.longest}))
    return found


def _parts(times: Sequence[int], known: Sequence[int]) -> list[Firing]:
    parts: list[list[int]] = []
    for point in times:
        if parts and not _between(known, parts[-1][-1], point):
            parts[-1].append(point)
        else:
            parts.append([point])
    return [_firing(part, before, known) for before, part in zip([None, *parts], parts, strict=False)]


def _firing(part: Sequence[int], before: Sequence[int] | None, known: Sequence[int]) -> Firing:
    first, last = part[0], part[-1]
    whole = _all(known, first - 1, last + 1)
    since = (first - before[-1]) * STEP if before and _all(known, before[-1], first) else None
    seconds = STEP * sum(later - earlier == 1 for earlier, later in pairwise(part))
    return Firing(first, last, seconds, not whole, since)


def _between(known: Sequence[int], earlier: int, later: int) -> bool:
    return bisect_left(known, later) > bisect_right(known, earlier)


def _all(known: Sequence[int], first: int, last: int) -> bool:
    """Whether each point from the first to the last is known."""
    return bisect_right(known, last) - bisect_left(known, first) == last - first + 1
