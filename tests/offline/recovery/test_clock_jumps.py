"""Clocks that jump: a point or a verification that is dated ahead neither hides what is newer nor looks fresh."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from recovery import asked, metrics, scheduled
from recovery.arguments import parse
from recovery.config import Opened
from recovery.create import create
from recovery.errors import RecoveryError
from recovery.vault.prune import prune
from recovery.vault.retention import Rule
from tests.offline.recovery.buckets import silent
from tests.offline.recovery.examples import config
from tests.offline.recovery.locked import locked
from tests.offline.recovery.shelves import Shelf
from tests.offline.recovery.vault_points import lay, point, verification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recovery.model import Point
    from recovery.outcome import Outcome
    from tests.offline.recovery.locked import Locked

YEAR = timedelta(days=365)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    """The target."""
    with locked(tmp_path_factory.mktemp("locked")) as found:
        yield found


def shifted(by: timedelta) -> Callable[[], datetime]:
    """A clock that is wrong by so much."""
    return lambda: datetime.now(UTC) + by


def opened(store: Locked, bucket: str, **other: Any) -> Opened:  # noqa: ANN401  # of the configuration
    """A configuration whose target is a bucket; without stores."""
    return Opened(config(rpo_seconds=7200).model_copy(update={"target": store.target(bucket), **other}), (), ())


def status(store: Locked, bucket: str) -> Outcome:
    """What `status` says."""
    return asked.WORDS["status"](parse(["status"]), opened(store, bucket), silent)


def laid(store: Locked, bucket: str, *ages: timedelta, good: bool = True) -> list[Point]:
    """Points that were begun so long ago, verified at once; a negative age is one that is dated ahead."""
    made = [point(age=age, number=number) for number, age in enumerate(ages, 1)]
    return [lay(store, bucket, one, *([verification(one, after=MINUTE)] if good else [])) for one in made]


@pytest.mark.parametrize("jump", [YEAR, timedelta(hours=3), timedelta(days=-30)])
def test_point_of_a_clock_that_is_wrong_is_not_published(store: Locked, jump: timedelta) -> None:
    bucket = store.fresh()
    (good,) = laid(store, bucket, HOUR)
    vault = store.vault(bucket)
    with pytest.raises(RecoveryError, match=r"nothing was published"):
        create(
            config(),
            (Shelf("runs", {"a": "b"}),),
            vault,
            vault.publish,
            mode="online",
            quiet=None,
            tell=silent,
            clock=shifted(jump),
        )
    assert [one.id for one in vault.points()] == [good.id]
    code, facts = status(store, bucket).code, status(store, bucket).facts
    assert (code, facts["newest"], facts["verified"]) == (0, good.id, good.id)


def test_clock_that_jumps_while_a_point_is_taken(store: Locked) -> None:
    vault, moments = store.vault(store.fresh()), [timedelta(), YEAR, YEAR]
    with pytest.raises(RecoveryError, match="dated after the target's clock"):
        create(
            config(),
            (Shelf("runs", {"a": "b"}),),
            vault,
            vault.publish,
            mode="online",
            quiet=None,
            tell=silent,
            clock=lambda: datetime.now(UTC) + moments.pop(0),
        )
    assert vault.points() == ()


def test_point_that_is_dated_ahead_is_not_the_newest_and_status_says_it(store: Locked) -> None:
    """Clocks of the target and of whoever made it were a year ahead, and were set right."""
    bucket = store.fresh()
    old, newer, ahead = laid(store, bucket, 2 * HOUR, HOUR, -YEAR)
    vault = store.vault(bucket)
    assert [(one.id, one.ahead) for one in vault.points()] == [(old.id, False), (newer.id, False), (ahead.id, True)]
    for latest in (vault.latest(), vault.latest_verified()):
        assert latest.point is not None
        assert latest.point.id == newer.id
    done = status(store, bucket)
    assert (done.code, done.facts["newest"], done.facts["verified"]) == (0, newer.id, newer.id)
    assert 3600 <= done.facts["lost_seconds"] < 7200
    assert [note for note in done.notes if ahead.id in note and "364 days after the target's clock" in note], done.notes
    rows = asked.WORDS["list"](parse(["list"]), opened(store, bucket), silent)
    assert [row["ahead"] for row in rows.facts["points"]] == [False, False, True]
    assert "dated ahead" in rows.lines[-1]


def test_rpo_is_missed_though_a_point_is_dated_ahead(store: Locked) -> None:
    bucket = store.fresh()
    laid(store, bucket, 5 * HOUR, -YEAR)
    done = status(store, bucket)
    assert done.code == 1
    lost = re.match(r"what would be lost is (\d+) s, .*\(rpo\)", done.facts["faults"][0])
    assert lost, done.facts["faults"]
    assert timedelta(seconds=int(lost[1])) >= 5 * HOUR


def test_point_that_is_dated_ahead_and_alone_can_be_restored_and_is_no_aim_that_is_met(store: Locked) -> None:
    bucket = store.fresh()
    (ahead,) = laid(store, bucket, -YEAR)
    latest = store.vault(bucket).latest_verified().point
    assert latest is not None
    assert latest.id == ahead.id
    done = status(store, bucket)
    assert (done.code, done.facts["verified"]) == (1, None)
    assert "dated ahead" in done.lines[0]
    lay(store, bucket, point(age=MINUTE, number=7))
    done = status(store, bucket)
    assert done.code == 1
    assert done.lines == [
        f"no restore point was verified but those that are dated ahead, {ahead.id} last: nobody knows how old it is"
    ]


def test_verification_that_is_dated_ahead_does_not_outvote_a_later_one(store: Locked) -> None:
    bucket = store.fresh()
    made = point(age=2 * HOUR)
    lay(store, bucket, made, verification(made, after=YEAR), verification(made, "rows differ", after=MINUTE))
    assert [one.state for one in store.vault(bucket).points()] == ["failed"]
    assert store.vault(bucket).latest_verified().point is None


@pytest.mark.parametrize("jump", [YEAR, -YEAR])
def test_verification_of_a_clock_that_is_wrong_is_not_kept(store: Locked, jump: timedelta) -> None:
    bucket = store.fresh()
    (made,) = laid(store, bucket, HOUR)
    vault = store.vault(bucket)
    with pytest.raises(RecoveryError, match="which verification is the newest could not be told"):
        vault.record(verification(made, "rows differ", after=jump))
    vault.record(verification(made, "rows differ", after=HOUR - MINUTE))
    assert [one.state for one in vault.points()] == ["failed"]


def test_last_verified_that_is_pushed_is_not_dated_ahead(store: Locked, monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment to come would look fresh to the alert for a year."""
    bucket = store.fresh()
    old, ahead = laid(store, bucket, 2 * HOUR, -YEAR)
    pushed = dict[str, Any]()
    monkeypatch.setattr(metrics, "push", lambda _url, _job, values: pushed.update(values))
    told = opened(store, bucket, metrics_url="http://pushgateway")
    for one, expected in ((ahead, old.first_lost.timestamp()), (old, old.first_lost.timestamp())):
        scheduled.run(parse(["verify", "--point", one.id]), told, silent)
        assert pushed["plumbline_recovery_last_verified_point_timestamp_seconds"] == expected


@pytest.mark.parametrize(("jump", "gone"), [(timedelta(), 2), (YEAR, 2), (-YEAR, 0)])
def test_prune_deletes_nothing_for_a_wrong_clock(store: Locked, jump: timedelta, gone: int) -> None:
    """By the rule one point is kept. The one that is dated ahead takes no place of it, and is kept as well."""
    bucket = store.fresh()
    made = [one.id for one in laid(store, bucket, 3 * HOUR, 2 * HOUR, HOUR, -YEAR)]
    done = prune(store.target(bucket), rule=Rule(keep_last=1, keep_days=0), tell=silent, clock=shifted(jump))
    assert list(done.points) == made[:gone]
    assert [one.id for one in store.vault(bucket).points()] == made[gone:]
