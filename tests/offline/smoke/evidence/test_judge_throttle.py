"""Seconds of a step in which a board was held back, by samples of a counter of nanoseconds. Worked out by hand."""

from __future__ import annotations

import pytest

from smoke.run_evidence.facts import Span
from smoke.run_evidence.judge_throttle import Share, share
from smoke.run_evidence.one_run import held_back

S = 1e9
STEP = Span(100.0, 110.0)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        # Samples right at the step: 6.2 s of its 10 s, exactly.
        ([(100, 0), (110, 6.2 * S)], Share(6.2, 6.2, 6.2, Span(100, 110))),
        # 4 s within 30 s around it: it may be all of them, or none, as 20 s are outside.
        ([(90, 0), (120, 4 * S)], Share(0.0, 4.0, 4.0, Span(90, 120))),
        # 25 s of 30 s: at least 5 s fall into the step, and all of it at most.
        ([(90, 0), (120, 25 * S)], Share(5.0, 10.0, 25.0, Span(90, 120))),
        # By pieces: 3 s of 90..105 (10 s are outside: 0 to 3), 5 s of 105..115 (5 s are outside: 0 to 5).
        ([(90, 0), (105, 3 * S), (115, 8 * S)], Share(0.0, 8.0, 8.0, Span(90, 115))),
        # What was before the last sample before it, and after the first behind it, is no matter.
        ([(50, 0), (95, 40 * S), (112, 40 * S), (130, 58 * S)], Share(0.0, 0.0, 0.0, Span(95, 112))),
        # The driver was loaded anew between: what it counts since is what is known.
        ([(100, 900 * S), (110, 2 * S)], Share(2.0, 2.0, 2.0, Span(100, 110))),
        # A counter does not grow faster than time: clocks of exporter and scrape differ.
        ([(100, 0), (110, 12 * S)], Share(10.0, 10.0, 10.0, Span(100, 110))),
    ],
)
def test_share_of_a_step(samples: list[tuple[float, float]], expected: Share) -> None:
    found = share(samples, STEP)
    assert found is not None
    assert (found.least, found.most, found.grown) == pytest.approx((expected.least, expected.most, expected.grown))
    assert found.between == expected.between


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [(90.0, 0.0), (109.0, 5 * S)],
        [(101.0, 0.0), (120.0, 5 * S)],
        [(90.0, 0.0), (391.0, 0.0)],
    ],
    ids=["none", "none behind", "none before", "more than five minutes apart"],
)
def test_samples_that_do_not_reach_around_the_step_say_nothing(samples: list[tuple[float, float]]) -> None:
    assert share(samples, STEP) is None


def test_ledger_joins_what_follows_and_leaves_out_what_others_had() -> None:
    samples = [(0.0, 0.0), (30.0, 9 * S), (60.0, 9 * S), (90.0, 12 * S), (120.0, 20 * S), (150.0, 20.1 * S)]
    # 9 s before the run had it; 3 s and 8 s follow each other; 0.1 s of 30 s is not worth telling.
    assert held_back(samples, Span(31.0, 150.0)) == [(Span(60.0, 120.0), 11.0)]
    assert held_back(samples, Span(0.0, 60.0)) == [(Span(0.0, 30.0), 9.0)]
