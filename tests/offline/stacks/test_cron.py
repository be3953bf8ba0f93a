"""Schedules: what a CronJob takes, and how long one lets pass."""

from __future__ import annotations

import pytest

from stacks.cron import check, longest_gap_seconds

HOUR = 3600
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("* * * * *", 60),
        ("*/15 * * * *", 15 * 60),
        ("0 * * * *", HOUR),
        ("0 */6 * * *", 6 * HOUR),
        ("5 2 * * *", DAY),
        ("0 0 * * 0", 7 * DAY),
        ("0 0 * * 7", 7 * DAY),
        ("0 8-18/2 * * *", 14 * HOUR),
        ("0 8,20 * * *", 12 * HOUR),
        ("*/40 * * * *", 40 * 60),
        ("0 22 * * 1-5", 3 * DAY),
        ("0 0 1 * *", 31 * DAY),
        ("0 0 29 2 *", (4 * 365 + 1) * DAY),
        ("30 5/8 * * *", 8 * HOUR),
        # With both days given one of them is enough: the 1st of a month, and every Monday.
        ("0 0 1 * 1", 7 * DAY),
    ],
)
def test_longest_time_between_two_runs(text: str, seconds: int) -> None:
    assert longest_gap_seconds(text) == seconds
    assert check(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "* * * *", "* * * * * *", "@daily", "0 24 * * *", "60 * * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 8"),
        *("0 9-5 * * *", "*/0 * * * *", "a * * * *", "0 0 * * MON", "0 *-5 * * *", "0, * * * *", "0 0 31 2 *"),
        *("-1 * * * *", "TZ=Asia/Shanghai 0 0 * * *"),
    ],
)
def test_what_is_no_schedule_is_refused_with_what_is_accepted(text: str) -> None:
    with pytest.raises(ValueError, match="accepted"):
        check(text)
