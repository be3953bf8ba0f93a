"""One series: what was sent and acknowledged against what was read. Pure: nothing is fetched here."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smoke.sdk.compare import number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smoke.drill.model import Asked

    Same = Callable[[str, str], bool]


@dataclass(frozen=True)
class Value:
    """One value of a series. text: a number, or the sha256 of a file. sent, acked: Unix time.

    acked is None where it never was. proven: it was read back from the stores before any restore point began, so that
    no window excuses its loss.
    """

    step: int
    text: str
    acked: float | None
    sent: float = 0.0
    proven: bool = False


@dataclass(frozen=True)
class Weighed:
    """One series. acknowledged, expected, equal: how many values. kept: Unix time of the last acknowledgement kept.

    acknowledged: until the disaster. expected: those of them that must be in the restore point. missing: of the
    acknowledged. overdue: of the expected. gaps: missing although a later value of the series is there. dangling:
    steps whose file the server names and does not have. late: there although sent after the disaster. wrong: in words.
    """

    series: str
    acknowledged: int = 0
    expected: int = 0
    equal: int = 0
    kept: float | None = None
    missing: tuple[Value, ...] = ()
    overdue: tuple[Value, ...] = ()
    gaps: tuple[Value, ...] = ()
    dangling: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    wrong: tuple[str, ...] = ()


def same_number(read: str, sent: str) -> bool:
    """Whether a number came back bit for bit; NaN is NaN."""
    found, wanted = number(read), number(sent)
    if found is None or wanted is None:
        return False
    return found == wanted or (math.isnan(found) and math.isnan(wanted))


def same_file(read: str, sent: str) -> bool:
    """Whether a file came back byte for byte, by its sha256."""
    return read == sent


def weigh(
    series: str, values: Sequence[Value], read: Sequence[tuple[int, str | None]], asked: Asked, same: Same
) -> Weighed:
    """Judge one series.

    values: all that were sent, each step once. read: (step, text), the text None for a file that is named and not
    there. A value that was acknowledged after the disaster, or never, may be there or not; if it is, it must be equal.
    """
    found: dict[int, list[str | None]] = defaultdict(list)
    for step, text in read:
        found[step].append(text)
    there = {value.step: value for value in values if any(text is not None for text in found.get(value.step, ()))}
    counted = [value for value in values if value.acked is not None and value.acked <= asked.disaster]
    missing = tuple(value for value in counted if value.step not in there)
    expected = [value for value in counted if _expected(value, asked)]
    wrong = _wrong(values, found, same)
    equal = [value for value in counted if value.step in there and value.step not in wrong]
    newest = max(there, default=-math.inf)
    return Weighed(
        series,
        acknowledged=len(counted),
        expected=len(expected),
        equal=len(equal),
        kept=max((value.acked for value in equal if value.acked is not None), default=None),
        missing=missing,
        overdue=tuple(value for value in missing if _expected(value, asked)),
        gaps=tuple(value for value in missing if value.step < newest),
        dangling=tuple(sorted(step for step, texts in found.items() if None in texts)),
        late=tuple(sorted(step for step, value in there.items() if value.sent > asked.disaster)),
        wrong=tuple(f"{series} {words}" for _, words in sorted(wrong.items())),
    )


def _expected(value: Value, asked: Asked) -> bool:
    limit = asked.kept_until
    return value.proven or (limit is not None and value.acked is not None and value.acked <= limit)


def _wrong(values: Sequence[Value], found: dict[int, list[str | None]], same: Same) -> dict[int, str]:
    """Step → what is wrong with what is there, in words."""
    sent = {value.step: value.text for value in values}
    wrong: dict[int, str] = {}
    for step, texts in found.items():
        held = [text for text in texts if text is not None]
        if step not in sent:
            wrong[step] = f"step {step}: {texts[0]!r} is there, and nobody sent it"
        elif len(texts) > 1:
            wrong[step] = f"step {step}: is there {len(texts)} times"
        elif held and not same(held[0], sent[step]):
            wrong[step] = f"step {step}: {held[0]!r} instead of {sent[step]!r}"
    return wrong
