"""What was found, as records: for JSON, Markdown and a page alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.run_evidence.facts import Finding, Unseen

FINDINGS, CLEAN, INCOMPLETE = "findings", "clean", "incomplete"
OF_THE_RUN: Final = frozenset({"slow_step"})
"""Findings that name an effect, not a cause: with these alone nothing that was not looked at is ruled out."""
FORMAT: Final = 1


@dataclass(frozen=True)
class Table:
    """A table with what stands above it. note: below it, or in its place where there are no rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Report:
    """facts: name and text. looked: what was looked at, in words. data: further records, for machines."""

    kind: str
    stack: str
    title: str
    made: str
    facts: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    unseen: tuple[Unseen, ...]
    looked: tuple[str, ...]
    tables: tuple[Table, ...]
    data: dict[str, Any]

    @property
    def verdict(self) -> str:
        """Nothing is clean of which something essential was not looked at."""
        return verdict(self.findings, self.unseen)

    @property
    def headline(self) -> str:
        """The verdict in a sentence."""
        if self.findings:
            return "; ".join(one.text for one in self.findings[:2])
        if self.verdict == INCOMPLETE:
            return "nothing was found, but not all could be looked at: this is no clean result"
        return "nothing was found in what was looked at"

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "stack": self.stack,
            "title": self.title,
            "made": self.made,
            "verdict": self.verdict,
            "headline": self.headline,
            "findings": [{"kind": one.kind, "text": one.text, **one.about} for one in self.findings],
            "not_looked_at": [{"what": one.what, "why": one.why, "essential": one.essential} for one in self.unseen],
            "looked_at": list(self.looked),
            "facts": dict(self.facts),
            **self.data,
        }


def verdict(findings: Sequence[Finding], unseen: Sequence[Unseen]) -> str:
    """`findings`, `clean` or `incomplete`."""
    if any(one.kind not in OF_THE_RUN for one in findings):
        return FINDINGS
    if any(one.essential for one in unseen):
        return INCOMPLETE
    return FINDINGS if findings else CLEAN
