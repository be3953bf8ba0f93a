"""Fewer points that show the same curve: largest triangle, three buckets (S. Steinarsson, 2013)."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.swanlab_server.points import Point


def sample(points: Sequence[Point], most: int) -> list[Point]:
    """At most so many points, the first and the last among them. NaN and infinities count as 0. most: at least 1."""
    if len(points) <= most:
        return list(points)
    if most <= 2:  # noqa: PLR2004  # nothing between the ends
        return [points[0], points[-1]][-most:]
    width = (len(points) - 2) / (most - 2)
    bounds = [1 + int(number * width) for number in range(most - 1)]
    chosen = [points[0]]
    for number, (start, end) in enumerate(itertools.pairwise(bounds)):
        after = bounds[number + 2] if number + 2 < len(bounds) else len(points)
        following = points[end:after] or points[-1:]
        middle = (_mean([p.step for p in following]), _mean([_height(p) for p in following]))
        chosen.append(max(points[start:end], key=lambda point: _area(chosen[-1], point, middle)))  # used at once
    return [*chosen, points[-1]]


def _area(before: Point, point: Point, after: tuple[float, float]) -> float:
    return abs(
        (before.step - after[0]) * (_height(point) - _height(before))
        - (before.step - point.step) * (after[1] - _height(before))
    )


def _height(point: Point) -> float:
    return point.value if isinstance(point.value, float) and math.isfinite(point.value) else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
