"""Moments as text in RFC 3339 and as Unix time."""

from __future__ import annotations

from datetime import UTC, datetime


def stamp(moment: float) -> str:
    """Unix time as `2026-01-01T00:00:00.000000Z`."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment(text: str) -> float:
    """Unix time of a text with a zone. Raises ValueError."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text!r} has no zone; accepted is RFC 3339, as 2026-01-01T00:00:00Z")
    return found.timestamp()
