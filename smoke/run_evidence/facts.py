"""Plain records of what stores know. Times are seconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Sample = tuple[float, float]
"""Time and value."""


@dataclass(frozen=True)
class Span:
    """From, and to."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.end - self.begin

    def overlap(self, begin: float, end: float) -> float:
        """Seconds that it has in common with another span; 0 where they only touch."""
        return max(0.0, min(self.end, end) - max(self.begin, begin))

    def meets(self, other: Span) -> bool:
        """Whether they have a moment in common."""
        return self.begin <= other.end and other.begin <= self.end

    def wider(self, seconds: float) -> Span:
        """With so much more on both sides."""
        return Span(self.begin - seconds, self.end + seconds)


@dataclass(frozen=True)
class Series:
    """Labels without the metric's name, and samples, the oldest first."""

    metric: str
    labels: Mapping[str, str]
    samples: tuple[Sample, ...]

    def get(self, label: str) -> str:
        """A label's value, "" where there is none."""
        return self.labels.get(label, "")


@dataclass(frozen=True)
class Pod:
    """A pod of a run. life: first and last sample of its identity. identity: keys of WORKLOAD_IDENTITY."""

    namespace: str
    name: str
    life: Span
    identity: Mapping[str, str]

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, order=True)
class Board:
    """A GPU as a whole; index is its number on the node."""

    node: str
    uuid: str
    index: str = field(compare=False, default="")
    model: str = field(compare=False, default="")

    def __str__(self) -> str:
        return f"GPU {self.index} of {self.node} ({self.uuid})"


@dataclass(frozen=True)
class Device:
    """What a pod holds: a board, or a part of one. held: first and last sample that names the pod.

    instance: number of a MIG instance or of a replica, "" for a whole board.
    """

    board: Board
    pod: tuple[str, str]
    held: Span
    instance: str = ""
    profile: str = ""


@dataclass(frozen=True)
class StepRecord:
    """A rank's own word that a step has ended. parts: part → seconds. source: `logs` or `traces`."""

    source: str
    rank: str
    step: int
    end: float
    seconds: float
    parts: Mapping[str, float] = field(default_factory=dict)
    trace_id: str = ""
    pod: str = ""

    @property
    def span(self) -> Span:
        """When it was."""
        return Span(self.end - self.seconds, self.end)

    @property
    def own(self) -> float:
        """Seconds without the wait for others."""
        return self.seconds - self.parts.get("sync", 0.0)


@dataclass(frozen=True)
class Line:
    """A log line, for people."""

    at: float
    level: str
    pod: str
    text: str


@dataclass(frozen=True)
class Unseen:
    """What could not be looked at, and why. essential: without it nothing may be called clean."""

    what: str
    why: str
    essential: bool = True


@dataclass(frozen=True)
class Finding:
    """kind: of what, for machines. weight: the largest comes first. about: machine-readable details."""

    kind: str
    text: str
    weight: int
    about: Mapping[str, object] = field(default_factory=dict)
