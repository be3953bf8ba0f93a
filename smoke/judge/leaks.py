"""Redaction: no canary is at any store, and what stood beside it has arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Canary:
    """Something that must be hidden, in one field of one signal. field: for people. forms: texts by which it is known,
    in lower case; a number has one as a broken number too."""

    signal: str
    field: str
    forms: tuple[str, ...]


def leaks(canaries: Iterable[Canary], stores: Mapping[str, str]) -> list[Problem]:
    """Canaries that are in a store. stores: name → all text that a search for what was sent has found there."""
    folded = {name: text.lower() for name, text in stores.items()}
    return [
        Problem(
            f"{canary.field} of {canary.signal}",
            f"its canary is in {name}",
            "hidden before it is stored",
            terminal=True,
        )
        for canary in canaries
        for name, text in folded.items()
        if any(form in text for form in canary.forms)
    ]


def arrived(innocents: Mapping[str, Mapping[str, int]], stores: Mapping[str, str]) -> list[Problem]:
    """What must not be hidden is there. innocents: store → word → the least number of times. stores: as for `leaks`."""
    return [
        Problem(f"{word!r} beside the canaries in {store}", f"{seen} times", f"at least {least} times")
        for store, words in innocents.items()
        for word, least in words.items()
        if (seen := stores.get(store, "").count(word)) < least
    ]
