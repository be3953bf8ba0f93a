"""Sampling: the kept share of traces that nothing speaks for is the promised one, as far as a count can tell.

Which trace is kept is a coin per trace id, so the number of kept ones is binomial. A count is red where a right
collector gives it less often than once in 1 / ALARM runs; as many traces are sent as it takes for none at all, and for
three times the promised share, to be red nearly always.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from smoke.model import Problem

ALARM: Final = 1e-4
"""Probability that a right collector is called wrong: half of it on either side."""
MISSED: Final = 1e-3
"""Probability, at most, that a collector that keeps three times too much is called right."""
WRONG: Final = 3
STEP: Final = 250
LEAST: Final = 250


@dataclass(frozen=True)
class Share:
    """What was sent of one kind, and how many of it may be kept. percent: as promised."""

    what: str
    sent: int
    percent: float

    @property
    def bounds(self) -> tuple[int, int]:
        """Fewest and most of them that a right collector keeps."""
        return interval(self.sent, self.percent / 100)


def needed(percent: float, most: int) -> int:
    """How many traces tell the promised share from none and from three times as much, up to `most`."""
    share = percent / 100
    if share in (0, 1):
        return min(LEAST, most)
    for number in range(LEAST, most, STEP):
        if tells(number, percent):
            return number
    return most


def tells(sent: int, percent: float) -> bool:
    """Whether a count of so many is red if none is kept, and if three times as many are."""
    share = percent / 100
    if share in (0, 1):
        return True
    low, high = interval(sent, share)
    missed = sum(_probabilities(sent, min(share * WRONG, 1.0))[: high + 1])
    return low > 0 and (missed <= MISSED or share * WRONG >= 1)


def interval(sent: int, share: float) -> tuple[int, int]:
    """Fewest and most successes that are not red; both are possible."""
    if share in (0, 1):
        return round(sent * share), round(sent * share)
    probabilities = _probabilities(sent, share)
    return _beyond(probabilities), sent - _beyond(probabilities[::-1])


def kept(share: Share, found: int) -> list[Problem]:
    """As many are kept as the promised share allows."""
    low, high = share.bounds
    if low <= found <= high:
        return []
    seen = f"{found} of {share.sent} kept ({100 * found / share.sent:.2f} %)"
    expected = f"{low} to {high}, for the promised {share.percent:g} %"
    return [Problem(f"{share.what} traces", seen, expected, terminal=found > high)]


def _beyond(probabilities: list[float]) -> int:
    """Length of the longest beginning that is together less likely than half of ALARM."""
    total = 0.0
    for number, probability in enumerate(probabilities):
        total += probability
        if total > ALARM / 2:
            return number
    return len(probabilities) - 1


def _probabilities(sent: int, share: float) -> list[float]:
    """Of 0, 1, … `sent` successes."""
    if share >= 1:
        return [0.0] * sent + [1.0]
    log, log_rest = math.log(share), math.log1p(-share)
    choose = math.lgamma(sent + 1)
    return [
        math.exp(choose - math.lgamma(k + 1) - math.lgamma(sent - k + 1) + k * log + (sent - k) * log_rest)
        for k in range(sent + 1)
    ]
