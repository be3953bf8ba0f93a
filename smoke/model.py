"""The words of the smoke suite: what a check is, what it can find, and how a run is judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smoke.drawing.drawn import DrawnBoard


class Tier(StrEnum):
    """What a proof is worth: from reading files, on a stand-in, on the real program, on a real GPU."""

    STATIC = "static"
    SIMULATED = "simulated"
    LIVE = "live"
    GPU = "gpu"


class Impact(StrEnum):
    """What a check does to the stack, mildest first."""

    READ = "read"
    SENTINEL = "sentinel"
    DISRUPTIVE = "disruptive"
    DESTRUCTIVE = "destructive"

    def exceeds(self, other: Impact) -> bool:
        """True if this impact is heavier than `other`."""
        order = list(Impact)
        return order.index(self) > order.index(other)


class Status(StrEnum):
    """How one check ended."""

    PASS = "pass"  # noqa: S105  # the rule takes the word for a credential
    FAIL = "fail"
    SKIP = "skip"
    NOT_RUN = "not_run"


@dataclass(frozen=True, kw_only=True)
class Check:
    """What one check claims.

    claim: a sentence that is true when the check passes. needs: capabilities of the contract without which it is
    skipped. component: whose tier the proof inherits, so that a stand-in never counts as the real program. spans: the
    claim is about every component, so part of it may rest on stand-ins. may_skip: a state of a healthy cluster in which
    the check proves nothing and says so, empty if there is none. conformance: requirements of smoke.conformance that it
    helps to prove.
    """

    id: str
    requirement: str
    claim: str
    remedy: str
    tier: Tier = Tier.LIVE
    impact: Impact = Impact.READ
    needs: tuple[str, ...] = ()
    component: str | None = None
    spans: bool = False
    may_skip: str = ""
    conformance: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """One difference between what was seen and what was promised.

    terminal: waiting will not heal it, so polling stops at once.
    """

    subject: str
    seen: str
    expected: str
    terminal: bool = False

    def __str__(self) -> str:
        return f"{self.subject}: seen {self.seen}; expected {self.expected}"


class CheckFailedError(Exception):
    """A check found problems. `note` says how the search ended, for example after which deadline."""

    def __init__(self, problems: list[Problem], note: str = "") -> None:
        self.problems = problems
        self.note = note
        super().__init__("\n".join([*map(str, problems), *([note] if note else [])]))


class DeclaredSkipError(Exception):
    """The check proves nothing on this stack as it is now. Only checks with `may_skip` may raise it."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One line of the report. `seconds` is wall-clock time; `evidence` is bounded and redacted.

    stand_ins: components of tier simulated on which the claim, or a part of it, was proven. component: whom the claim
    is about, empty for the whole stack. conformance: as of its check.
    """

    id: str
    requirement: str
    claim: str
    tier: str
    impact: str
    status: Status
    seconds: float = 0.0
    evidence: str = ""
    remedy: str = ""
    skip_reason: str = ""
    stand_ins: tuple[str, ...] = ()
    component: str = ""
    conformance: tuple[str, ...] = ()


@dataclass
class Run:
    """All that one run saw. `faults` are about the run itself, not about a check: each of them makes it red.

    boards: those of the stack, for the readable reports; they judge nothing.
    """

    stack: str = "unknown"
    cluster_uid: str = ""
    started: str = ""
    seconds: float = 0.0
    impact: str = ""
    selected: tuple[str, ...] = ()
    interrupted: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    diagnostics: dict[str, str] = field(default_factory=dict)
    boards: list[DrawnBoard] = field(default_factory=list)

    @property
    def green(self) -> bool:
        """Green needs proof: no fault, nothing failed or left out, and at least one check that passed."""
        bad = [o for o in self.outcomes if o.status in (Status.FAIL, Status.NOT_RUN)]
        proven = [o for o in self.outcomes if o.status is Status.PASS]
        return bool(proven) and not bad and not self.faults and not self.interrupted

    @property
    def verdict(self) -> str:
        """`green` or `red`; an interrupted run is red."""
        return "green" if self.green else "red"
