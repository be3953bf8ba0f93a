"""Series as curves: named, broken where nothing was measured, the one that matters most first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from signals.dashboards.model import Good
from smoke.boards import labelled
from smoke.printable import printable
from smoke.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from signals.dashboards.model import Panel, Query
    from smoke.boards import Answer, Series

NAME_CHARS: Final = 90
METRIC: Final = "__name__"
# One late evaluation is not yet a hole.
_STEPS_WITHOUT: Final = 1.5


@dataclass(frozen=True, kw_only=True)
class Curve:
    """times: Unix seconds. values: NaN where the curve is broken. alone: places of points without a neighbour."""

    name: str
    times: tuple[float, ...]
    values: tuple[float, ...]
    alone: tuple[int, ...]

    @property
    def last(self) -> float:
        """The newest number."""
        return next(value for value in reversed(self.values) if math.isfinite(value))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Values that can be drawn; never empty."""
        return tuple(value for value in self.values if math.isfinite(value))


def has_number(series: Series) -> bool:
    """Whether anything of it can be shown."""
    return any(math.isfinite(value) for _, value in series.points)


def curves(panel: Panel, answers: Sequence[Answer], step: float) -> list[Curve]:
    """Every series with a number, the worst first: the greatest, or the smallest where high is good.

    step: seconds between two points.
    """
    found = [
        _curve(named(one, query, panel), one.points, step)
        for query, answer in zip(panel.queries, answers, strict=True)
        for one in answer.series
        if has_number(one)
    ]
    if panel.limits is not None and panel.limits.good is Good.HIGH:
        return sorted(found, key=lambda curve: (min(curve.numbers), curve.name))
    return sorted(found, key=lambda curve: (-max(curve.numbers), curve.name))


def named(series: Series, query: Query, panel: Panel) -> str:
    """As the legend has it: by its template, else by all labels, else by the panel. Masked and of bounded length."""
    labels = {name: value for name, value in series.labels.items() if name != METRIC}
    if query.legend:
        text = labelled(query.legend, labels)
    else:
        text = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
    return shown(text) or panel.title


def shown(text: str, limit: int = NAME_CHARS) -> str:
    """What came from outside, in one line of at most `limit` characters, with secrets masked."""
    line = " ".join(printable(redact(text)).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _curve(name: str, points: Iterable[tuple[float, float]], step: float) -> Curve:
    times: list[float] = []
    values: list[float] = []
    for time, value in points:
        if times and time - times[-1] > _STEPS_WITHOUT * step:
            times.append(times[-1] + step)
            values.append(math.nan)
        times.append(time)
        values.append(value if math.isfinite(value) else math.nan)
    return Curve(name=name, times=tuple(times), values=tuple(values), alone=_alone(values))


def _alone(values: Sequence[float]) -> tuple[int, ...]:
    """Points between two breaks: a line has no length there, and would not be seen."""
    padded = [math.nan, *values, math.nan]
    return tuple(
        place
        for place, value in enumerate(values)
        if math.isfinite(value) and math.isnan(padded[place]) and math.isnan(padded[place + 2])
    )
