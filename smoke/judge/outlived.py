"""A killed gateway: what was found afterwards against what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

SHOWN = 3


@dataclass(frozen=True)
class Window:
    """When traces may have been lost: from `wait` and a margin before the kill to a margin after it. Any clock."""

    begin: float
    end: float

    def holds(self, at: float) -> bool:
        """Whether this time is within."""
        return self.begin <= at <= self.end


def window(killed: float, wait: float, margin: float) -> Window:
    """The traces that a gateway held in memory when it was killed were sent in this time."""
    return Window(killed - wait - margin, killed + margin)


def tried(sent: Mapping[str, float], killed: float, what: str) -> list[Problem]:
    """The load covered the kill: something was sent before it, and after it."""
    before = sum(1 for at in sent.values() if at < killed)
    problems = [] if before else [Problem(f"{what} before the kill", "none", "some")]
    return problems if before < len(sent) else [*problems, Problem(f"{what} after the kill", "none", "some")]


def none_lost(sent: Mapping[str, float], found: Collection[str], what: str) -> list[Problem]:
    """Everything that was acknowledged is there. sent: id → when."""
    lost = [one for one in sent if one not in found]
    if not lost:
        return []
    return [Problem(what, f"{len(lost)} of {len(sent)} lost: {', '.join(lost[:SHOWN])}", "none lost")]


def bounded_loss(sent: Mapping[str, float], found: Collection[str], allowed: Window, what: str) -> list[Problem]:
    """Nothing is lost but what waited for its decision."""
    lost = [one for one in sent if one not in found]
    outside = [one for one in lost if not allowed.holds(sent[one])]
    if not outside:
        return []
    within = sum(1 for at in sent.values() if allowed.holds(at))
    seen = f"{len(lost)} of {len(sent)} lost, {len(outside)} of them did not wait for a decision: "
    seen += ", ".join(outside[:SHOWN])
    return [Problem(what, seen, f"at most the {within} that waited when the gateway was killed")]


def told(sent: Mapping[str, float], found: list[str], allowed: Window | None, what: str) -> str:
    """Figures."""
    unique = set(found) & set(sent)
    twice = len(found) - len(set(found))
    within = sum(1 for at in sent.values() if allowed.holds(at)) if allowed else 0
    bound = f"; the bound is {within}, all that waited for a decision" if allowed else ""
    return f"{what}: {len(sent)} sent, {len(unique)} found, {len(sent) - len(unique)} lost, {twice} stored twice{bound}"
