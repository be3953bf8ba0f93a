"""How long a step takes on each rank, part by part. Pure: the same settings give the same times."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.workloads.training import ON_GPU, PARTS, SYNC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.workloads.training.settings import Settings

NOISE: Final = 0.03
"""A part takes up to this share more or less."""
TOKENS_PER_STEP: Final = 65_536
"""Of one rank."""


@dataclass(frozen=True)
class Step:
    """One step of one rank. parts: part → seconds, in their order, `sync` last; together they are the step's time."""

    number: int
    rank: int
    parts: Mapping[str, float]
    loss: float

    @property
    def seconds(self) -> float:
        """The step's time, which is the same on every rank: the fast ones wait in `sync`."""
        return sum(self.parts.values())

    @property
    def tokens_per_second(self) -> float:
        """Of one rank."""
        return TOKENS_PER_STEP / self.seconds


def step(settings: Settings, number: int, slowed: Mapping[int, float]) -> list[Step]:
    """The step on every rank of the pod. slowed: rank → factor by which its GPU's parts take longer."""
    ranks = range(settings.first_rank, settings.first_rank + settings.ranks)
    own = {rank: _parts(settings, number, rank, slowed.get(rank, 1.0)) for rank in ranks}
    slowest = max(sum(parts.values()) for parts in own.values())
    least = settings.step_seconds * (1.0 - sum(PARTS.values()))
    loss = _loss(settings.seed, number)
    return [
        Step(number, rank, {**parts, SYNC: least + slowest - sum(parts.values())}, loss) for rank, parts in own.items()
    ]


def _parts(settings: Settings, number: int, rank: int, factor: float) -> dict[str, float]:
    source = random.Random(f"{settings.seed}/{number}/{rank}")  # noqa: S311  # repeatable, not secret
    return {
        name: settings.step_seconds
        * share
        * (1.0 + NOISE * (2 * source.random() - 1))
        * (factor if name in ON_GPU else 1.0)
        for name, share in PARTS.items()
    }


def _loss(seed: int, number: int) -> float:
    """Falls from about 11 towards 2."""
    source = random.Random(f"{seed}/{number}/loss")  # noqa: S311  # as above
    return 2.0 + 9.0 * math.exp(-number / 30.0) + 0.05 * source.random()
