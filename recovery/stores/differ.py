"""What a comparison found, bounded however much differs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

SHOWN = 20
"""Differences that are spelt out; a restore that went wrong altogether has millions."""


@dataclass(frozen=True)
class Found:
    """Compared of recovery/ports.py."""

    differences: tuple[str, ...]
    figures: Mapping[str, JsonValue]


@dataclass
class Differences:
    """Collects sentences: the first SHOWN as they are, the rest as a count."""

    store: str
    shown: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, sentence: str) -> None:
        """One more difference; the store's name is put before it."""
        if len(self.shown) < SHOWN:
            self.shown.append(f"{self.store}: {sentence}")
        else:
            self.more += 1

    def figures(self, expected: Mapping[str, JsonValue], measured: Mapping[str, JsonValue]) -> None:
        """Add every figure that is not equal."""
        for name in sorted(expected.keys() | measured.keys()):
            if expected.get(name) != measured.get(name):
                self.add(f"{name} is {measured.get(name)}, the restore point says {expected.get(name)}")

    @property
    def all(self) -> tuple[str, ...]:
        """All of it, for Compared.differences."""
        rest = (f"{self.store}: {self.more} more differences of the same kind",) if self.more else ()
        return (*self.shown, *rest)
