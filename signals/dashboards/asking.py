"""What a panel asks once its board's choices are made: as Grafana sends it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_KEPT: Final = ("__range", "__rate_interval")
"""What the datasource itself puts in place, by the time and the step that it is asked for."""


def asked(expr: str, choices: Mapping[str, str], *, range_seconds: int, rate_seconds: int) -> str:
    """The expression with every variable replaced. Raises ValueError for one that is no choice.

    choices: variable → regular expression of the values that are chosen, `.*` for all. range_seconds: of the board's
    time. rate_seconds: four scrapes at least, as Grafana has it.
    """
    return _replaced(expr, {**choices, "__range": f"{range_seconds}s", "__rate_interval": f"{rate_seconds}s"})


def sent(expr: str, choices: Mapping[str, str]) -> str:
    """The expression as the page of a board sends it to Grafana: its own variables stay. Raises ValueError as above."""
    return _replaced(expr, {**choices, **{name: f"${name}" for name in _KEPT}})


def _replaced(expr: str, known: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in known:
            raise ValueError(f"${name} is no variable of its board; known are {', '.join(sorted(known))}")
        return known[name]

    return _VARIABLE.sub(value, expr)
