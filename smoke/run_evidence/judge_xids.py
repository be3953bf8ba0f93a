"""Which XIDs a board reported, and between which two scrapes.

Two metrics tell of them, and neither says when: one holds the last code until the driver is loaded anew, one counts
codes of the last minutes. A code that is there at a scrape and was not at the one before happened between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from signals.xid import XIDS
from smoke.run_evidence.facts import Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smoke.run_evidence.facts import Series

LAST: Final = "DCGM_FI_DEV_XID_ERRORS"
COUNTED: Final = "DCGM_EXP_XID_ERRORS_COUNT"
_NAMES: Final = {LAST: "err_code", COUNTED: "xid"}


@dataclass(frozen=True)
class Event:
    """An XID, and the scrapes between which it happened."""

    code: int
    between: Span

    def __str__(self) -> str:
        known = XIDS.get(self.code)
        return (
            f"XID {self.code} ({known.name}; {known.action.value})" if known else f"XID {self.code} (not in the table)"
        )


def events(series: Sequence[Series], scrapes: Sequence[float]) -> list[Event]:
    """XIDs of one board, in order. scrapes: when it was scraped, in order; what was there at the first is old."""
    found: dict[tuple[int, float], Event] = {}
    for code, at in _values(series).items():
        before = 0.0
        for number, time in enumerate(scrapes):
            now = at.get(time, 0.0)
            if number and now > before:
                found[code, time] = Event(code, Span(scrapes[number - 1], time))
            before = now
    return [event for _, event in sorted(found.items(), key=lambda item: (item[0][1], item[0][0]))]


def standing(series: Sequence[Series]) -> list[int]:
    """Codes that the board showed as its last one, whenever they happened."""
    return sorted({code for one in series if one.metric == LAST and (code := _code(one))})


def _values(series: Sequence[Series]) -> Mapping[int, dict[float, float]]:
    """Code → scrape → how much tells of it: whether it is the last one, and the largest count of its window."""
    found: dict[int, dict[float, float]] = {}
    for one in series:
        code = _code(one)
        for time, value in one.samples if code else ():
            at = found.setdefault(code, {})
            # The last code says that, a count says how often: a count that is there already does not grow by the other.
            seen = min(value, 1.0) if one.metric == LAST else value
            at[time] = max(at.get(time, 0.0), seen)
    return found


def _code(one: Series) -> int:
    """0 where the series tells of none."""
    text = one.get(_NAMES.get(one.metric, ""))
    return int(text) if text.isdecimal() else 0
