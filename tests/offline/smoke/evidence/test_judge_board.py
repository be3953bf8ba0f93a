"""What is said of one board, by series that were written by hand."""

from __future__ import annotations

import pytest

from smoke.run_evidence import judge_xids
from smoke.run_evidence.facts import Board, Sample, Series, Span
from smoke.run_evidence.judge_board import EVENTS, POWER, SCRAPED, THERMAL, BoardEvidence, judge

S = 1e9
BOARD = Board("n1", "GPU-1", "0", "H100")
STEP = Span(100.0, 110.0)
WINDOW = STEP.wider(60.0)
SCRAPES = tuple(float(at) for at in range(0, 300, 10))
TEMP = "DCGM_FI_DEV_GPU_TEMP"


def series(metric: str, *samples: Sample, **labels: str) -> Series:
    return Series(metric, {"node": "n1", "UUID": "GPU-1", **labels}, samples)


def steady(metric: str, value: float = 0.0, **labels: str) -> Series:
    """The same at every scrape."""
    return series(metric, *((at, value) for at in SCRAPES), **labels)


def said(*found: Series, scraped: Series | None = None) -> BoardEvidence:
    """The judge's word. scraped: by default at every scrape."""
    return judge(BOARD, [scraped or steady(SCRAPED, 1.0), *found], STEP, WINDOW, since=20.0)


def kinds(evidence: BoardEvidence) -> list[str]:
    return [one.kind for one in evidence.findings]


def counted(metric: str, grows: dict[float, float]) -> Series:
    """A counter of nanoseconds. grows: time → seconds by which it has grown there."""
    return series(metric, *((at, S * sum(by for when, by in grows.items() if when <= at)) for at in SCRAPES))


def test_board_that_nothing_happened_to_has_no_finding_and_nothing_unseen() -> None:
    found = said(steady(THERMAL), steady(POWER))
    assert (found.findings, found.unseen) == ((), ())


def test_heat_within_the_step_is_told_with_its_share() -> None:
    (finding,) = said(counted(THERMAL, {110: 6.2}), steady(POWER)).findings
    assert finding.kind == "thermal_throttle"
    assert "62 % of the step's time" in finding.text
    assert "GPU 0 of n1 (GPU-1)" in finding.text
    assert (finding.about["least_seconds"], finding.about["most_seconds"]) == (6.2, 6.2)


@pytest.mark.parametrize("at", [100, 120])
def test_heat_just_before_and_just_behind_the_step_is_no_finding(at: int) -> None:
    assert said(counted(THERMAL, {at: 9.0}), steady(POWER)).findings == ()


def test_heat_that_may_or_may_not_be_of_the_step_is_told_as_that() -> None:
    few = [Series(THERMAL, {}, ((90.0, 0.0), (130.0, 4 * S)))]
    (finding,) = said(*few).findings
    assert "may be up to 40 %" in finding.text
    assert "samples lie too far apart" in finding.text


def test_power_limit_is_a_finding_where_it_is_more_than_usual() -> None:
    assert kinds(said(steady(THERMAL), counted(POWER, {110: 8.0}))) == ["power_throttle"]
    # 8 s of every 10 s before as well: that is how this run runs.
    assert kinds(said(steady(THERMAL), counted(POWER, dict.fromkeys(SCRAPES, 8.0)))) == []


def test_board_without_samples_is_not_clean() -> None:
    found = said(scraped=series(SCRAPED, (0.0, 1.0), (90.0, 1.0)))
    assert found.findings == ()
    assert [(one.essential, "not scraped around" in one.why) for one in found.unseen] == [(True, True)]


def test_driver_that_counts_no_throttling_is_not_clean_unless_its_clock_events_are_known() -> None:
    assert [one.essential for one in said(steady(POWER)).unseen] == [True]
    found = said(steady(EVENTS, 0.0))
    assert [one.essential for one in found.unseen] == [False]
    rises = series(EVENTS, *((at, 0.0 if at < 110 else 3.0) for at in SCRAPES), clock_event="hw_thermal")
    (finding,) = said(rises).findings
    assert (finding.kind, "hw_thermal" in finding.text) == ("clock_event", True)


def test_clock_events_that_only_leave_their_window_are_none_of_the_step() -> None:
    falls = series(EVENTS, *((at, 5.0 if at < 110 else 3.0) for at in SCRAPES), clock_event="hw_thermal")
    assert said(steady(THERMAL), falls).findings == ()


def test_xid_counts_when_it_appears_and_not_as_long_as_it_stays() -> None:
    latched = series(judge_xids.LAST, *((at, 79.0) for at in SCRAPES if at >= 110), err_code="79")
    (finding,) = said(steady(THERMAL), latched).findings
    assert (finding.kind, finding.about["xid"]) == ("xid", 79)
    assert "fallen off the bus" in finding.text
    old = series(judge_xids.LAST, *((at, 79.0) for at in SCRAPES if at >= 30), err_code="79")
    found = said(steady(THERMAL), old)
    assert (found.findings, found.standing) == ((), (79,))
    always = steady(judge_xids.LAST, 79.0, err_code="79")
    assert said(steady(THERMAL), always).findings == ()


def test_what_was_there_at_the_first_scrape_is_old() -> None:
    count = steady(judge_xids.COUNTED, 1.0, xid="31")
    assert judge_xids.events([steady(judge_xids.LAST, 79.0, err_code="79"), count], SCRAPES) == []


def test_same_xid_again_is_seen_by_its_count() -> None:
    latched = steady(judge_xids.LAST, 31.0, err_code="31")
    count = series(judge_xids.COUNTED, *((at, 1.0 if at < 110 else 2.0) for at in SCRAPES), xid="31")
    assert kinds(said(steady(THERMAL), latched, count)) == ["xid"]


def test_xid_told_by_both_metrics_is_one() -> None:
    latched = series(judge_xids.LAST, *((at, 31.0) for at in SCRAPES if at >= 110), err_code="31")
    count = series(judge_xids.COUNTED, *((at, 1.0) for at in SCRAPES if at >= 110), xid="31")
    none = steady(judge_xids.COUNTED, 0.0)
    assert kinds(said(steady(THERMAL), latched, count, none)) == ["xid"]


def test_xid_from_before_the_run_had_the_board_is_not_the_runs() -> None:
    latched = series(judge_xids.LAST, *((at, 31.0) for at in SCRAPES if at >= 50), err_code="31")
    early = judge(BOARD, [steady(SCRAPED), steady(THERMAL), latched], STEP, WINDOW, since=60.0)
    assert early.findings == ()


def test_values_of_the_step_stand_beside_the_median_before() -> None:
    hot = series(TEMP, *((at, 93.0 if 100 <= at <= 110 else 60.0 + at / 10) for at in SCRAPES))
    value = next(one for one in said(steady(THERMAL), hot).values if one.name == TEMP)
    # Before, from 20 on: 62, 63, … 69.
    assert (value.least, value.most, value.before) == (93.0, 93.0, 65.5)
