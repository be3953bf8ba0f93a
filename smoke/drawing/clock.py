"""Points in time as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def clock(seconds: float) -> str:
    """Unix seconds as date and time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
