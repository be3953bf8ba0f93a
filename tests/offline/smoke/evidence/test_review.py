"""A review of alerts: the numbers are worked out by hand, minute by minute."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from smoke.access.prometheus import Prometheus
from smoke.run_evidence.facts import Span
from smoke.run_evidence.judge_review import Firing, Labels, Rule, findings, fired, firings, silent
from smoke.run_evidence.main import BLIND, TOLD, WRONG
from smoke.run_evidence.read_alerts import Alerts
from tests.offline.smoke.evidence.conftest import RESTARTED

if TYPE_CHECKING:
    from tests.offline.smoke.evidence.conftest import Stores

DAY = 24 * 60
ALWAYS = range(14 * DAY)
"""Rules were evaluated in each minute of two weeks."""


def about(name: str, severity: str = "P1", **more: str) -> Labels:
    """Labels of an alert."""
    return tuple(sorted({"alertname": name, "severity": severity, **more}.items()))


def minutes(*spans: tuple[int, int]) -> list[int]:
    """From and to, both among them."""
    return [point for first, last in spans for point in range(first, last + 1)]


def told(points: dict[Labels, list[int]], known: range | list[int] = ALWAYS) -> list[tuple[str, dict[str, object]]]:
    """Kinds of findings, and what they say to machines."""
    return [(one.kind, dict(one.about)) for one in findings(fired(points, known), [])]


def test_firing_ends_where_the_alert_was_seen_not_to_fire() -> None:
    one = about("A")
    assert firings({one: minutes((10, 20), (22, 30))}, ALWAYS) == {
        one: (Firing(10, 20, 600), Firing(22, 30, 480, since=120))
    }


def test_time_that_was_not_recorded_does_not_end_a_firing() -> None:
    one, known = about("A"), [*range(21), *range(40, 100)]
    # Ten minutes of each are known, and nothing of the twenty between.
    assert firings({one: minutes((10, 20), (40, 50))}, known) == {one: (Firing(10, 50, 1200, open=True),)}


def test_alert_that_fires_again_after_time_that_was_not_recorded_has_not_come_back() -> None:
    one, known = about("A"), [*range(21), *range(40, 1000)]
    first, second = firings({one: minutes((10, 20), (42, 50))}, known)[one]
    assert (first.open, second.open, second.since) == (True, False, None)
    assert fired({one: minutes((10, 20), (42, 50))}, known)[0].back == 0


@pytest.mark.parametrize("at", [(0, 10), (90, 99)], ids=["begin", "end"])
def test_length_is_not_known_of_one_whose_begin_or_end_was_not_recorded(at: tuple[int, int]) -> None:
    one = about("A")
    assert firings({one: minutes(at)}, range(100)) == {one: (Firing(*at, 60 * (at[1] - at[0]), open=True),)}


def test_alert_that_comes_back_within_an_hour_three_times_flaps() -> None:
    # Ends at 120, begins again 60 minutes later, and so on: three returns.
    often = {about("A"): minutes((100, 120), (180, 200), (260, 280), (340, 360))}
    assert told(often) == [("flaps", {"alert": "A", "severity": "P1", "times": 3})]


@pytest.mark.parametrize(
    "points",
    [
        {about("A"): minutes((100, 120), (180, 200), (260, 280))},
        {about("A"): minutes((100, 120), (181, 201), (262, 282), (343, 363))},
        {about("A", pod=str(pod)): minutes((pod * 30, pod * 30 + 20)) for pod in range(5)},
        {about("PageProof"): minutes((100, 120), (180, 200), (260, 280), (340, 360))},
    ],
    ids=["twice", "after 61 minutes", "about others", "set off by smoke"],
)
def test_others_do_not_flap(points: dict[Labels, list[int]]) -> None:
    assert [kind for kind, _ in told(points)] == []


def test_alert_of_which_more_than_three_in_ten_end_before_an_answer_is_due() -> None:
    # P1 is answered within 15 minutes: 4 of 10 firings last 14, a day apart, the others 15.
    spans = [(at * DAY + 1, at * DAY + (15 if at < 4 else 16)) for at in range(10)]
    assert told({about("A"): minutes(*spans)}) == [("early", {"alert": "A", "severity": "P1", "early": 4, "of": 10})]


def test_three_in_ten_are_not_more_than_three_in_ten() -> None:
    spans = [(at * DAY + 1, at * DAY + (15 if at < 3 else 16)) for at in range(10)]
    assert told({about("A"): minutes(*spans)}) == []


@pytest.mark.parametrize(("severity", "length"), [("P0", 5), ("P1", 15), ("P2", 60)])
def test_who_is_woken_when_goes_by_severity(severity: str, length: int) -> None:
    spans = [(at * DAY + 1, at * DAY + length) for at in range(3)]  # a minute less than is due
    longer = [(first, last + 1) for first, last in spans]
    assert [kind for kind, _ in told({about("A", severity): minutes(*spans)})] == ["early"]
    assert told({about("A", severity): minutes(*longer)}) == []


def test_nobody_is_woken_for_p3() -> None:
    assert told({about("A", "P3"): minutes(*[(at * DAY + 1, at * DAY + 2) for at in range(5)])}) == []


def test_alert_that_fires_for_a_week_stands_and_the_watchdog_should() -> None:
    week = minutes((10, 10 + 7 * DAY))
    assert told({about("A"): week}) == [("stands", {"alert": "A", "severity": "P1", "seconds": 7 * 86400})]
    assert told({about("A"): week[:-1]}) == []
    assert told({about("Watchdog", "P3"): week}) == []


def test_rule_that_is_not_evaluated_is_told_first() -> None:
    broken = Rule("B", "P2", "x", "many-to-many matching not allowed")
    flapping = {about("A"): minutes((100, 120), (180, 200), (260, 280), (340, 360))}
    assert [one.kind for one in findings(fired(flapping, ALWAYS), [broken])] == ["broken_rule", "flaps"]


def test_silence_is_of_a_name_and_a_severity_the_gravest_first() -> None:
    rules = [Rule("C", "", "x"), Rule("B", "P2", "x"), Rule("A", "P2", "x"), Rule("A", "P0", "x"), Rule("A", "P0", "y")]
    seen = fired({about("A", "P2"): [5]}, ALWAYS)
    assert [rule.key for rule in silent(rules, seen)] == [("A", "P0"), ("B", "P2"), ("C", "")]


def test_review_of_a_real_prometheus(stores: Stores) -> None:
    code, found = stores.ask("--review", "--since", "14m")
    assert (code, found["verdict"]) == (TOLD, "clean")
    did = {one["alert"]: one for one in found["fired"]}
    assert set(did) == {"GpuThermalThrottling", "GpuHot", "NodeClockSkew", "Watchdog"}
    # It fired for 160 s, and pending does not count: at most a minute more is told.
    assert did["GpuThermalThrottling"]["firings"] == did["GpuThermalThrottling"]["of_known_length"] == 1
    assert 160 <= did["GpuThermalThrottling"]["seconds"] < 160 + 120
    # Of the Watchdog neither begin nor end is known.
    assert (did["Watchdog"]["firings"], did["Watchdog"]["of_known_length"]) == (1, 0)


def test_quarter_of_an_hour_after_a_start_says_nothing(stores: Stores) -> None:
    """It was started 300 s before the runs began, by the scrape that says so; rules were evaluated all the time."""
    begin = stores.scene.begin
    with closing(Prometheus("prometheus", lambda: f"http://127.0.0.1:{stores.prometheus}", lambda: None)) as prometheus:
        known = Alerts(prometheus, RESTARTED).evaluated(Span(begin - 540, begin + 840))
    assert set(range(4)) <= set(known)  # until 360 s before
    assert not set(known) & set(range(4, 18))  # from 300 s before on, until 900 s after the last word of the old one
    assert set(range(18, 24)) <= set(known)


def test_silent_rule_names_what_it_reads_and_nobody_writes(stores: Stores) -> None:
    _, found = stores.ask("--review", "--since", "14m")
    assert [one for one in found["silent"] if one["alert"] == "NobodyReads"] == [
        {"alert": "NobodyReads", "severity": "", "without_series": ["nobody_writes"]}
    ]
    assert "no series within the hour of nobody\\_writes" in stores.page("md")
    assert "nobody_writes" in stores.page("html")


def test_days_that_nobody_recorded_are_not_clean(stores: Stores) -> None:
    code, found = stores.ask("--review")
    assert (code, found["verdict"], found["title"]) == (BLIND, "incomplete", "Alerts of 30.0 days")
    (missing,) = found["not_looked_at"]
    assert missing["essential"]
    assert " in 719." in missing["why"]


@pytest.mark.parametrize("since", ["0d", "367d", "soon", "1.5d"])
def test_time_that_cannot_be_asked_for_is_told(stores: Stores, since: str) -> None:
    assert stores.ask("--review", "--since", since) == (WRONG, {})
