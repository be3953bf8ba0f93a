"""Which points are kept: each rule with the case that it is there for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from recovery.vault.retention import Candidate, Rule, expired

NOW = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def at(days: float, *, good: bool = False, readable: bool = True, locked: float | None = None) -> Candidate:
    """A point that is `days` old, locked for another `locked` days. Its id is its age."""
    until = None if locked is None else NOW + timedelta(days=locked)
    return Candidate(f"{days:g}", NOW - timedelta(days=days), readable, good, until)


def test_by_count_and_by_age() -> None:
    points = [at(days) for days in (0, 1, 2, 3, 4)]
    assert expired(points, Rule(keep_last=2, keep_days=0), NOW) == ("4", "3", "2")
    assert expired(points, Rule(keep_last=1, keep_days=2.5), NOW) == ("4", "3")
    assert expired(points, Rule(keep_last=4, keep_days=1), NOW) == ("4",)
    assert expired(points, Rule(keep_last=1, keep_days=0), NOW) == ("4", "3", "2", "1")
    assert expired(points, Rule(keep_last=9, keep_days=0), NOW) == ()
    assert expired(list(reversed(points)), Rule(keep_last=2, keep_days=0), NOW) == ("4", "3", "2")
    assert expired([], Rule(keep_last=1, keep_days=0), NOW) == ()
    # Less than keep_days: one that is exactly that old goes.
    assert expired(points, Rule(keep_last=1, keep_days=2), NOW) == ("4", "3", "2")


def test_the_last_verified_stays_however_old() -> None:
    points = [at(0), at(1), at(30, good=True), at(40, good=True)]
    assert expired(points, Rule(keep_last=1, keep_days=0), NOW) == ("40", "1")


def test_what_is_locked_stays() -> None:
    points = [at(0), at(5, locked=1), at(6, locked=0), at(7, locked=-1)]
    assert expired(points, Rule(keep_last=1, keep_days=0), NOW) == ("7", "6")


def test_what_is_damaged_stays_and_takes_no_place() -> None:
    points = [at(0, readable=False), at(1, readable=False), at(2), at(3), at(4), at(90, readable=False)]
    assert expired(points, Rule(keep_last=2, keep_days=0), NOW) == ("4",)
    every = [replace(point, readable=False) for point in points]
    assert expired(every, Rule(keep_last=1, keep_days=0), NOW) == ()


def test_a_job_that_did_not_run_makes_nothing_old() -> None:
    points = [at(365), at(366), at(367, good=True), at(369)]
    assert expired(points, Rule(keep_last=1, keep_days=3), NOW) == ("369",)


@pytest.mark.parametrize("jump", [timedelta(days=365), timedelta(days=3650)])
def test_a_clock_ahead_deletes_no_more_than_the_right_one(jump: timedelta) -> None:
    points = [at(0), at(1), at(2, good=True), at(3), at(9)]
    rule = Rule(keep_last=1, keep_days=2)
    assert expired(points, rule, NOW) == ("9", "3")
    assert expired(points, rule, NOW + jump) == ("9", "3")


def test_a_point_of_the_future_makes_no_other_old_and_takes_no_place() -> None:
    ahead = at(-365, good=True)
    points = [ahead, at(-364), at(0), at(1), at(2, good=True), at(5)]
    assert expired(points, Rule(keep_last=2, keep_days=0), NOW) == ("5",)
    assert expired([ahead], Rule(keep_last=1, keep_days=0), NOW) == ()
    # Clocks of two machines differ by a little: this one counts as of today.
    soon = Candidate("soon", NOW + timedelta(minutes=10), readable=True, good=False)
    assert expired([soon, at(1), at(2)], Rule(keep_last=1, keep_days=0), NOW) == ("2", "1")


def test_a_clock_behind_deletes_nothing() -> None:
    points = [at(0), at(1), at(2), at(3)]
    assert expired(points, Rule(keep_last=1, keep_days=0), NOW - 30 * DAY) == ()


@pytest.mark.parametrize(("last", "days"), [(0, 1.0), (-1, 1.0), (1, -1.0), (1, float("nan")), (1, float("inf"))])
def test_a_rule_keeps_at_least_one_and_its_days_are_a_number(last: int, days: float) -> None:
    with pytest.raises(ValidationError):
        Rule(keep_last=last, keep_days=days)
