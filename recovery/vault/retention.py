"""Which points are kept: pure, and of two ways to be wrong it takes the one that deletes too little."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from pydantic import Field

from recovery.model import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

_SKEW: Final = timedelta(hours=1)
"""By how much a point may be ahead of this clock and still count as of today."""


class Rule(Record):
    """Kept are the newest `keep_last` points, and all that are less than `keep_days` days older than the newest."""

    keep_last: int = Field(ge=1)
    keep_days: float = Field(ge=0, allow_inf_nan=False, strict=False)


@dataclass(frozen=True)
class Candidate:
    """A point as the rule sees it. readable: not damaged. good: its newest verification is. locked_until: None if it
    was never locked."""

    id: str
    started: datetime
    readable: bool
    good: bool
    locked_until: datetime | None = None


def expired(points: Sequence[Candidate], rule: Rule, now: datetime) -> tuple[str, ...]:
    """Ids of the points to delete, the oldest first.

    Never: the newest point; the newest that was verified as good; one whose lock has not ended at `now`; one that is
    damaged, since a wrong signing key makes all of them look so; one that is dated after `now`.

    Age is the distance to the newest point that is not dated after `now`, not to `now`: neither a clock that jumps
    ahead nor a job that has not run for a year makes a point old, only newer points do. Points dated after `now` and
    damaged ones take no place of the `keep_last`, so that neither drives out a good one.
    """
    there = sorted((point for point in points if point.readable), key=lambda point: (point.started, point.id))
    present = [point for point in there if point.started <= now + _SKEW]
    if not present:
        return ()
    youngest = timedelta(days=min(rule.keep_days, 36500.0))
    kept = {point.id for point in present[-rule.keep_last :]}
    kept |= {point.id for point in present if present[-1].started - point.started < youngest}
    for group in (present, there):
        kept |= {point.id for point in [point for point in group if point.good][-1:]}
    locked = {point.id for point in present if point.locked_until is not None and point.locked_until > now}
    return tuple(point.id for point in present if point.id not in kept | locked)
