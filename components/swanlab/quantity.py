"""Sizes as the values of the chart write them."""

from __future__ import annotations

import re
from typing import Final

_SIZE: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[kKMGTPE]i?)?")
_POWERS: Final = {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def size_bytes(text: str) -> int:
    """Kubernetes quantity (`60Gi`, `10737418240`) → bytes. Raises ValueError with what is accepted."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text}` is not a size; accepted is a number with Ki, Mi, Gi or Ti behind it, as `60Gi`")
    unit = found["unit"] or ""
    base = 1024 if unit.endswith("i") else 1000
    return round(float(found["number"]) * float(base ** (_POWERS[unit[0]] if unit else 0)))
