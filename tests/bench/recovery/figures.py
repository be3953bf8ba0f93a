"""What the bench of recovery found: plain records, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.bench.recovery.cost import Cost


@dataclass(frozen=True, kw_only=True)
class Step:
    """A program run once. name: unique within its store. ours: whether it is the bench's subject or a raw tool.

    sent: bytes that went to the target, None where the program does not say. problems: why its figures stand for
    nothing.
    """

    name: str
    ours: bool
    cost: Cost
    sent: int | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A store. kind: what serves it, with its version. unit, count: what is in it, `rows` or `objects`. size: bytes.

    wanted: count that was to be in it. beside: pairs of steps and the raw ones that do the same work.
    """

    name: str
    kind: str
    unit: str
    count: int
    wanted: int
    size: int
    steps: tuple[Step, ...]
    beside: tuple[tuple[str, tuple[str, ...]], ...]

    def step(self, name: str) -> Step:
        """One of the steps."""
        return next(step for step in self.steps if step.name == name)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The program's figure by the raw tools', each of seconds, memory and processor seconds, servers' included.

    Of several raw tools, times count together and the largest memory counts.
    """

    name: str
    raw: str
    seconds: float
    peak: float
    cpu: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything. load: averages of a minute, before and after. disk: most bytes that the bench's files took."""

    cores: int
    load: tuple[float, float]
    points: int
    objects: int
    seconds: float
    disk: int
    stores: tuple[Measured, ...]


def ratios(store: Measured) -> tuple[Ratio, ...]:
    """Every pair of the store that holds figures of both sides."""
    return tuple(_ratio(store, name, raw) for name, raw in store.beside)


def _ratio(store: Measured, name: str, raw: tuple[str, ...]) -> Ratio:
    ours, theirs = store.step(name).cost, [store.step(other).cost for other in raw]
    return Ratio(
        name=name,
        raw=" + ".join(raw),
        seconds=_by(ours.seconds, sum(cost.seconds for cost in theirs)),
        peak=_by(ours.peak + ours.servers_peak, max(cost.peak + cost.servers_peak for cost in theirs)),
        cpu=_by(ours.cpu + ours.servers_cpu, sum(cost.cpu + cost.servers_cpu for cost in theirs)),
    )


def _by(ours: float, raw: float) -> float:
    return ours / raw if raw else float("nan")
