"""Schedules as a CronJob takes them: five fields, and the longest time that passes between two runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

_FIELDS: Final = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("weekday", 0, 7))
_PART: Final = re.compile(r"(?P<first>\*|\d{1,2})(?:-(?P<last>\d{1,2}))?(?:/(?P<step>\d{1,2}))?")
_DAY: Final = timedelta(days=1)
_YEARS_FROM: Final = datetime(2000, 1, 1, tzinfo=UTC)
_YEARS_TO: Final = datetime(2009, 1, 1, tzinfo=UTC)
"""Two leap years, and every weekday at every end of a month."""
ACCEPTED: Final = "accepted are five fields of numbers, `*`, `,`, `-` and `/`, for example `0 */6 * * *`"


@dataclass(frozen=True, kw_only=True)
class _Cron:
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool

    def runs_on(self, day: datetime) -> bool:
        """Where day and weekday are both restricted, one of them is enough, as crontab(5) says."""
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (of_month or of_week if self.either else of_month and of_week)


def check(text: str) -> str:
    """The text itself. Raises ValueError with what is accepted."""
    longest_gap_seconds(text)
    return text


def longest_gap_seconds(text: str) -> int:
    """Seconds between two runs, where they are farthest apart. Raises ValueError."""
    cron = _parse(text)
    times = sorted(timedelta(hours=hour, minutes=minute) for hour in cron.hours for minute in cron.minutes)
    within = max((later - earlier for earlier, later in pairwise(times)), default=timedelta(0))
    overnight = _longest_between_days(cron, text) + times[0] - times[-1]
    return int(max(within, overnight).total_seconds())


def _longest_between_days(cron: _Cron, text: str) -> timedelta:
    longest, last, day = timedelta(0), None, _YEARS_FROM
    while day < _YEARS_TO:
        if cron.runs_on(day):
            longest = max(longest, day - last) if last is not None else longest
            last = day
        day += _DAY
    if not longest:
        raise ValueError(f"`{text}` is a schedule that never comes twice; {ACCEPTED}")
    return longest


def _parse(text: str) -> _Cron:
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"`{text}` is not a schedule: {ACCEPTED}")
    minutes, hours, days, months, weekdays = (
        _values(text, field, *wanted) for field, wanted in zip(fields, _FIELDS, strict=True)
    )
    return _Cron(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=frozenset(number % 7 for number in weekdays),
        either=not fields[2].startswith("*") and not fields[4].startswith("*"),
    )


def _values(text: str, field: str, what: str, least: int, most: int) -> frozenset[int]:
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None or (match["first"] == "*" and match["last"]):
            raise ValueError(f"`{text}` is not a schedule, its {what} is `{field}`: {ACCEPTED}")
        first = least if match["first"] == "*" else int(match["first"])
        open_end = match["first"] == "*" or (match["step"] and not match["last"])
        last = most if open_end else int(match["last"] or first)
        step = int(match["step"] or 1)
        if not (least <= first <= last <= most and step):
            raise ValueError(f"`{text}` is not a schedule: its {what} is `{field}`, accepted is {least} to {most}")
        found |= set(range(first, last + 1, step))
    return frozenset(found)
