"""When a step was, and how it compares, by records that were written by hand."""

from __future__ import annotations

from dataclasses import replace

from smoke.run_evidence.facts import Finding, Span, StepRecord, Unseen
from smoke.run_evidence.judge_step import Beside, beside, contradictions, slowness, taken
from smoke.run_evidence.report import CLEAN, FINDINGS, INCOMPLETE, verdict

LINE = StepRecord("logs", "0", 40, 110.0, 6.0, {"forward": 1.0, "sync": 4.5}, "t0", "train-0")
SLOW = StepRecord("logs", "1", 40, 110.5, 6.0, {"forward": 5.0, "sync": 0.1}, "t1", "train-1")


def test_step_lasts_from_its_first_rank_to_its_last() -> None:
    found = taken([LINE, SLOW])
    assert found is not None
    assert (found.span, found.seconds, found.slowest.rank, found.attempts) == (Span(104.0, 110.5), 6.0, "1", 1)


def test_step_that_was_taken_again_is_the_last_one() -> None:
    again = [replace(one, end=one.end + 600, seconds=2.0) for one in (LINE, SLOW)]
    found = taken([*again, LINE, SLOW])
    assert found is not None
    assert (found.span, found.attempts) == (Span(708.0, 710.5), 2)


def test_rank_that_is_gone_from_the_last_attempt_is_left_out() -> None:
    again = replace(LINE, end=710.0)
    found = taken([LINE, SLOW, again])
    assert found is not None
    assert [one.rank for one in found.records] == ["0"]


def test_no_records_are_no_step() -> None:
    assert taken([]) is None


def test_traces_alone_make_a_step_and_lines_are_believed_first() -> None:
    trace = replace(SLOW, source="traces", end=111.0, seconds=6.4)
    alone, both = taken([trace]), taken([trace, SLOW])
    assert alone is not None
    assert both is not None
    assert (alone.seconds, both.seconds, both.attempts) == (6.4, 6.0, 1)


def test_contradiction_of_two_sources_is_told() -> None:
    agrees = replace(SLOW, source="traces", seconds=6.3, end=110.9)
    longer = replace(SLOW, source="traces", seconds=8.0)
    later = replace(SLOW, source="traces", end=170.5)
    for trace, words in ((agrees, []), (longer, ["8.00 s"]), (later, ["-60.0 s"])):
        step = taken([LINE, SLOW])
        assert step is not None
        told = contradictions([LINE, SLOW, trace], step)
        assert len(told) == len(words)
        assert all(word in line for word, line in zip(words, told, strict=True))


def test_median_is_of_the_steps_before_or_after_where_those_are_too_few() -> None:
    times = {1: 1.0, 2: 2.0, 3: 9.0, 5: 4.0, 6: 4.0, 7: 4.0}
    assert beside(4, times) == Beside(2.0, 3, "before")
    assert beside(2, times) == Beside(4.0, 4, "after")
    assert beside(4, {1: 1.0, 5: 1.0}) is None


def test_slow_step_is_told_with_the_part_that_grew() -> None:
    step = taken([LINE, SLOW])
    assert step is not None
    (finding,) = slowness(step, Beside(2.0, 40, "before"), {"forward": 1.0, "sync": 0.1})
    assert (finding.kind, finding.about) == ("slow_step", {"factor": 3.0, "rank": "1", "part": "forward"})
    assert "3.0 times the median of the 40 steps before (2.00 s)" in finding.text
    assert slowness(step, Beside(4.1, 40, "before"), {}) == []
    assert slowness(step, None, {}) == []


def test_verdict_is_never_clean_of_what_was_not_looked_at() -> None:
    essential, minor = Unseen("x", "y"), Unseen("x", "y", essential=False)
    cause, effect = Finding("xid", "", 1), Finding("slow_step", "", 1)
    assert verdict([], []) == verdict([], [minor]) == CLEAN
    assert verdict([], [essential]) == INCOMPLETE
    assert verdict([cause], [essential]) == FINDINGS
    assert verdict([effect], []) == FINDINGS
    assert verdict([effect], [essential]) == INCOMPLETE
