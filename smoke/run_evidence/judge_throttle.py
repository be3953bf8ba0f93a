"""How long a board was held back in a span of time, by a counter of nanoseconds that is sampled now and then.

A sample is seldom taken when a step begins or ends. What the counter grew by between two samples was somewhere between
them, so the time within the step has a lower and an upper bound, and neither is more than was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from smoke.run_evidence.facts import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.run_evidence.facts import Sample

NANO: Final = 1e9
WIDEST: Final = 300.0
"""Seconds between two samples beyond which they say nothing: the exporter, or the scrape, was away."""


@dataclass(frozen=True)
class Share:
    """Seconds of the span in which a board was held back: at least and at most. between: the samples around the span.

    grown: seconds by which the counter grew between those.
    """

    least: float
    most: float
    grown: float
    between: Span


def share(samples: Sequence[Sample], span: Span) -> Share | None:
    """What a counter says of a span. None: samples do not reach around it, or lie too far apart to say anything."""
    around = bracket(samples, span)
    if around is None:
        return None
    least = most = grown = 0.0
    for (begin, before), (end, after) in pairwise(around):
        passed, common = end - begin, span.overlap(begin, end)
        # A counter that fell began anew at 0. It cannot grow faster than time, but for the jitter of two clocks.
        held = min((after - before if after >= before else after) / NANO, passed)
        most += min(held, common)
        least += max(0.0, held - (passed - common))
        grown += held
    return Share(least, most, grown, Span(around[0][0], around[-1][0]))


def bracket(samples: Sequence[Sample], span: Span) -> list[Sample] | None:
    """The last sample not after the span's begin, the first not before its end, and all between; None: see `share`."""
    before = [sample for sample in samples if sample[0] <= span.begin]
    after = [sample for sample in samples if sample[0] >= span.end]
    if not before or not after:
        return None
    found = [one for one in samples if before[-1][0] <= one[0] <= after[0][0]]
    gaps = (later[0] - earlier[0] for earlier, later in pairwise(found))
    return None if max(gaps, default=0.0) > WIDEST else found
