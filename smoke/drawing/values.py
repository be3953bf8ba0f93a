"""Values in the words of their unit, with a prefix that keeps them short."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from signals.dashboards.model import Good, Unit

if TYPE_CHECKING:
    from signals.dashboards.model import Limits

Steps = tuple[tuple[float, str], ...]

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
_SECONDS: Final[Steps] = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_BYTES: Final[Steps] = (
    *((1024.0**5, "PiB"), (1024.0**4, "TiB"), (1024.0**3, "GiB")),
    *((1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B")),
)
_STEPS: Final[dict[Unit, Steps]] = {
    # People count GPUs and pods: 1024 of them are 1024.
    Unit.COUNT: ((1e9, "G"), (1e6, "M"), (1.0, "")),
    Unit.RATIO: ((0.01, "%"),),
    Unit.SECONDS: _SECONDS,
    Unit.DAYS: ((1.0, "d"),),
    Unit.TIMESTAMP: _SECONDS,
    Unit.BYTES: _BYTES,
    Unit.BYTES_PER_SECOND: tuple((size, f"{name}/s") for size, name in _BYTES),
    Unit.PER_SECOND: ((1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")),
    Unit.CELSIUS: ((1.0, "°C"),),
    Unit.WATTS: ((1e6, "MW"), (1e3, "kW"), (1.0, "W")),
    Unit.YES_OR_NO: ((1.0, ""),),
    Unit.TEXT: ((1.0, ""),),
}
_DIGITS: Final = 3
_MOST_DECIMALS: Final = 4


@dataclass(frozen=True)
class Scale:
    """size: of one `name` in the unit of the panel."""

    size: float
    name: str


def scale(unit: Unit, greatest: float) -> Scale:
    """The prefix for values up to `greatest`, in the unit of the panel: the largest that leaves a whole number."""
    steps = _STEPS[unit]
    plain = next((step for step in steps if step[0] == 1.0), steps[-1])
    fitting = next((step for step in steps if abs(greatest) >= step[0]), steps[-1])
    return Scale(*(plain if greatest == 0 or not math.isfinite(greatest) else fitting))


def worded(value: float, unit: Unit, *, decimals: int | None = None, now: float = 0.0) -> str:
    """A value as people read it. now: Unix seconds, against which a point in time is told."""
    if math.isnan(value):
        return "no number"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if unit is Unit.YES_OR_NO:
        return "yes" if value else "no"
    if unit is Unit.TIMESTAMP:
        return f"in {_scaled(value - now, unit, decimals)}" if value > now else f"{_scaled(now - value, unit, 0)} ago"
    return _scaled(value, unit, decimals)


def _scaled(value: float, unit: Unit, decimals: int | None) -> str:
    chosen = scale(unit, value)
    return f"{_number(value / chosen.size, decimals)} {chosen.name}".rstrip()


def _number(value: float, decimals: int | None) -> str:
    """Three digits that count, and all of those before the point."""
    if decimals is not None:
        return f"{value:.{decimals}f}"
    if value == 0 or math.isclose(value, round(value), rel_tol=1e-9, abs_tol=1e-12):
        return f"{value:.0f}"
    before = math.floor(math.log10(abs(value)))
    if before < -_MOST_DECIMALS:
        return f"{value:.2e}"
    return f"{value:.{max(_DIGITS - 1 - before, 0)}f}"


def steps(limits: Limits | None) -> list[tuple[str, float]]:
    """Grade and value where each begins, or ends where high is good. A step to the worst is one step."""
    if limits is None:
        return []
    if limits.bad is None:
        return [("warn", limits.warn)]
    return [("bad", limits.bad)] if limits.bad == limits.warn else [("warn", limits.warn), ("bad", limits.bad)]


def grade(value: float, limits: Limits | None) -> str:
    """`good`, `warn` or `bad`, as Grafana colours it: a limit belongs to the side above it. Empty without limits."""
    if limits is None or math.isnan(value):
        return ""
    if limits.good is Good.HIGH:
        if limits.bad is not None and value < limits.bad:
            return "bad"
        return "warn" if value < limits.warn else "good"
    if limits.bad is not None and value >= limits.bad:
        return "bad"
    return "warn" if value >= limits.warn else "good"
