"""Numbers as Kubernetes and Prometheus write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

DURATION = re.compile(r"(\d+)(ms|[smhdwy])")
DURATION_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
# `E` is exa, unless digits follow it.
QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?[0-9]+))?")
FRACTIONS = {"m": 1e3, "u": 1e6, "n": 1e9}
PROMETHEUS_BYTES = re.compile(r"^(\d+(?:\.\d+)?)([KMGTPE]?)i?B$")
PREFIXES = "KMGTPE"


def duration(text: str) -> float:
    """Seconds of a Prometheus duration such as `1m30s`.

    Raises ValueError.
    """
    parts = DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        if text == "0":
            return 0.0
        raise ValueError(f"not a duration: {text!r}")
    return float(sum(int(number) * DURATION_SECONDS[unit] for number, unit in parts))


def quantity(text: str) -> float:
    """Value of a Kubernetes quantity such as `10Gi` (bytes), `500m` (0.5), `+.5Gi` or `4e9`.

    Raises ValueError.
    """
    found = QUANTITY.fullmatch(text)
    if not found:
        raise ValueError(f"not a quantity: {text!r}")
    # The exponent goes through the parser: a power of ten of its own may be too large to exist.
    number, unit = float(f"{found[1]}e{found[3] or 0}"), found[2] or ""
    if unit in FRACTIONS:
        return number / FRACTIONS[unit]
    base = 1024 if unit.endswith("i") else 1000
    return number * (base ** (PREFIXES.index(unit[0].upper()) + 1) if unit else 1)


def prometheus_bytes(text: str) -> float:
    """Bytes of a Prometheus size. It counts `8GB` and `8GiB` alike, in powers of 1024.

    Raises ValueError.
    """
    found = PROMETHEUS_BYTES.match(text)
    if not found:
        raise ValueError(f"not a size: {text!r}")
    return float(found[1]) * (1024 ** (PREFIXES.index(found[2]) + 1) if found[2] else 1)


def timestamp(text: str) -> float:
    """Unix time of an RFC 3339 timestamp.

    Raises ValueError.
    """
    return datetime.fromisoformat(text).timestamp()


def moment(at: float) -> str:
    """Unix time as RFC 3339 in UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def hours(seconds: float) -> str:
    """A length of time in words."""
    return f"{seconds / 3600:.1f} h"
