"""Whether what arrived is what was sent: item by item at the sink, and by what the collector itself counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.bench.telemetry import content
from tests.bench.telemetry.plan import SPANS_OF_A_TRACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMED: Final = 3


def lost(counts: bytes, wanted: int, unit: str) -> Iterator[str]:
    """A line if any of the items 0 to wanted - 1 never came. counts: how often each came, see sink.py."""
    missing = [item for item in range(wanted) if item >= len(counts) or not counts[item]]
    if missing:
        named = ", ".join(str(item) for item in missing[:_NAMED])
        yield f"{len(missing)} of {wanted} {unit} never arrived at the sink, the first are {named}"


def sampled(counts: bytes, kinds: Sequence[str], kept: int) -> Iterator[str]:
    """Lines for traces that must be there and are not, or are there in part.

    kinds: of the traces that were sent. kept: how many the collector says it kept.
    """
    have = [
        sum(1 for came in counts[place * SPANS_OF_A_TRACE : (place + 1) * SPANS_OF_A_TRACE] if came)
        for place in range(len(kinds))
    ]
    for kind, words in ((content.ERROR, "with an error"), (content.SLOW, "that were slow")):
        of = [spans for spans, own in zip(have, kinds, strict=True) if own == kind]
        whole = of.count(SPANS_OF_A_TRACE)
        if whole != len(of):
            yield f"{len(of) - whole} of {len(of)} traces {words} are not at the sink as a whole"
    parts = [place for place, spans in enumerate(have) if 0 < spans < SPANS_OF_A_TRACE]
    if parts:
        named = ", ".join(str(place) for place in parts[:_NAMED])
        yield f"{len(parts)} traces are at the sink in part, the first are {named}"
    arrived = len(have) - have.count(0)
    if arrived != kept:
        yield f"{arrived} traces are at the sink, but the collector says that it kept {kept}"


def accepted(found: float, sent: int, unit: str) -> Iterator[str]:
    """A line unless the receiver counted as many as were sent."""
    if found != sent:
        yield f"the collector counts {found:.0f} {unit} as accepted, {sent} were sent"


def decided(found: float, sent: int) -> Iterator[str]:
    """A line unless every trace was decided about, once."""
    if found != sent:
        yield f"the collector decided about {found:.0f} traces, {sent} were sent"


def counted(found: float, sent: int) -> Iterator[str]:
    """A line unless the span metrics count every span."""
    if found != sent:
        yield f"span metrics count {found:.0f} spans, {sent} were sent"
