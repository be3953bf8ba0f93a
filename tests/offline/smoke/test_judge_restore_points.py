"""Judgement over restore points themselves: how old they are, where they are, what locks them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from recovery.vault import names
from smoke.facts import Lock
from smoke.judge import restore_points
from smoke.judge.restore_points import Told
from tests.offline.smoke.recovery_objects import DAY, HOUR, NOW, promised

OLD = {"create": 10.0 * DAY, "verify": 10.0 * DAY}
GOOD = Told(now=NOW, point=NOW - 7 * HOUR, verified=NOW - 30 * HOUR, differences=0.0)


def _points(told: Told = GOOD, ages: dict[str, float | None] | None = None) -> str:
    return "\n".join(map(str, restore_points.points(told, promised(), OLD if ages is None else ages)))


def test_points_that_are_young_enough() -> None:
    assert _points() == ""
    told = restore_points.points_told(GOOD, promised(), dict(OLD))
    assert "newest restore point: of 2027-01-15T01:00:00Z, 7.0 h old" in told
    assert "newest verified restore point: of 2027-01-14T02:00:00Z, 30.0 h old" in told


@pytest.mark.parametrize("age", [8.1, 1000.0])
def test_newest_point_must_be_younger_than_what_may_be_lost(age: float) -> None:
    found = _points(replace(GOOD, point=NOW - age * HOUR))
    assert found == f"newest restore point: seen {age:.1f} h old; expected one that is at most 8.0 h old"


def test_newest_verified_point_must_be_young() -> None:
    """Two periods of a day, and an hour."""
    assert _points(replace(GOOD, verified=NOW - 48.9 * HOUR)) == ""
    found = _points(replace(GOOD, verified=NOW - 49.1 * HOUR))
    assert found == "newest verified restore point: seen 49.1 h old; expected one that is at most 49.0 h old"


def test_point_that_is_made_rarely_may_be_as_old_as_it_was_promised_until_it_is_verified() -> None:
    """A week may be lost and it is verified every day: the newest is 8 days old just before the next is verified."""
    rare = promised(rpo_seconds=7 * DAY)
    assert restore_points.verified_within(rare) == 8 * DAY + HOUR


@pytest.mark.parametrize("told", [replace(GOOD, point=None), replace(GOOD, verified=None)])
def test_point_that_is_not_told_of_is_missed_on_an_old_stack(told: Told) -> None:
    assert "none is told of, and its CronJob is there for 240.0 h" in _points(told)


def test_fresh_stack_has_missed_no_point_and_says_when_one_is_due() -> None:
    none = Told(now=NOW, point=None, verified=None, differences=None)
    ages: dict[str, float | None] = {"create": 1.0 * HOUR, "verify": 2.0 * HOUR}
    assert _points(none, ages) == ""
    # Due six hours after 07:00, and a day after 06:00.
    told = restore_points.points_told(none, promised(), ages)
    assert "no restore point yet; the first is due at 2027-01-15T13:00:00Z" in told
    assert "no verified restore point yet; the first is due at 2027-01-16T06:00:00Z" in told


def test_fresh_stack_does_not_stay_fresh() -> None:
    none = Told(now=NOW, point=None, verified=None, differences=None)
    assert _points(none, {"create": 7.9 * HOUR, "verify": 48.9 * HOUR}) == ""
    found = _points(none, {"create": 8.1 * HOUR, "verify": 49.1 * HOUR})
    assert "newest restore point: seen none is told of, and its CronJob is there for 8.1 h" in found
    assert "newest verified restore point: seen none is told of, and its CronJob is there for 49.1 h" in found


def test_fresh_stack_is_no_excuse_for_a_point_that_is_old() -> None:
    """A kept Pushgateway of a stack that was away for a week."""
    old = replace(GOOD, point=NOW - 7 * DAY)
    assert "168.0 h old" in _points(old, {"create": 1.0 * HOUR, "verify": 1.0 * HOUR})


def test_points_that_nobody_makes_are_missed_at_once() -> None:
    none = Told(now=NOW, point=None, verified=None, differences=None)
    assert _points(none, {"create": None, "verify": None}).count("no CronJob makes one") == 2


def test_verifications_of_which_none_was_good_are_told_on_a_fresh_stack_as_well() -> None:
    found = _points(replace(GOOD, verified=0.0), {"create": 1.0 * HOUR, "verify": 1.0 * HOUR})
    assert found == "newest verified restore point: seen none of those that were verified is good; expected a good one"


def test_last_verification_must_have_found_no_difference() -> None:
    assert _points(replace(GOOD, differences=3.0)) == "last verification: seen 3 differences; expected none"


@pytest.mark.parametrize("field", ["point", "verified"])
def test_moment_to_come_says_nothing_of_an_age(field: str) -> None:
    assert "which is to come" in _points(replace(GOOD, **{field: NOW + 61}))
    assert _points(replace(GOOD, **{field: NOW + 59})) == ""


@pytest.mark.parametrize("field", ["point", "verified", "differences"])
def test_what_is_no_number_is_never_good(field: str) -> None:
    assert _points(replace(GOOD, **{field: math.nan})) != ""


def test_lock_must_be_the_one_that_nobody_lifts_for_as_long_as_promised() -> None:
    assert restore_points.locked("b", Lock("COMPLIANCE", 7), 7) == []
    assert restore_points.locked("b", Lock("COMPLIANCE", 365), 7) == []
    short = str(restore_points.locked("b", Lock("COMPLIANCE", 6), 7)[0])
    assert short == "bucket b: seen COMPLIANCE for 6 days; expected COMPLIANCE for at least 7 days"
    assert "seen GOVERNANCE for 30 days" in str(restore_points.locked("b", Lock("GOVERNANCE", 30), 7)[0])
    none = str(restore_points.locked("b", Lock(None, 0, "(NoSuchBucket)"), 7)[0])
    assert "seen no default retention (NoSuchBucket)" in none


MANIFEST, VERDICT = "points/20270115T010000Z-1f2e3d4c/manifest.json", "points/a/verified/20270115T020000Z.json"
HELD = {MANIFEST: NOW - 6 * HOUR, VERDICT: NOW - 5 * HOUR}


def test_bucket_holds_what_is_told_of() -> None:
    assert restore_points.kept(GOOD, HELD, "b") == []
    none = Told(now=NOW, point=None, verified=None, differences=None)
    assert restore_points.kept(none, {}, "b") == []


@pytest.mark.parametrize("name", [MANIFEST, VERDICT])
@pytest.mark.parametrize("age", [None, 40.0])
def test_bucket_without_what_is_told_of_is_another_one(name: str, age: float | None) -> None:
    """The point is told to be 7 hours old, the verified one 30."""
    held = {key: value for key, value in HELD.items() if key != name}
    held |= {} if age is None else {name: NOW - age * HOUR}
    (problem,) = restore_points.kept(GOOD, held, "b")
    kind = "manifest" if name == MANIFEST else "verification"
    assert problem.subject == f"{kind} of a restore point in bucket b"
    # Forty hours before 08:00 of the 15th.
    assert problem.seen == ("none" if age is None else "the newest written at 2027-01-13T16:00:00Z")


def test_names_of_a_points_objects_are_those_that_the_program_gives() -> None:
    point, day = "20270115T010000Z-1f2e3d4c", "20270115T020000Z"
    held = {names.manifest_key(point): NOW, names.verified_key(point, day): NOW}
    assert all(key.startswith(restore_points.POINTS) for key in held)
    assert restore_points.kept(GOOD, held, "b") == []
    others = {names.chunk_key("ab" * 32): NOW, f"{names.folder(point)}other.json": NOW}
    assert len(restore_points.kept(GOOD, others, "b")) == 2


def test_moment_that_is_no_number_is_in_no_bucket() -> None:
    assert "nan h old" in _points(replace(GOOD, point=math.nan))
