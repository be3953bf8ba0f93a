"""Instants as the SDKs write and read them."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """This instant, aware."""
    return datetime.now(UTC)


def spell(instant: datetime) -> str:
    """ISO 8601 with exactly three digits of fraction and a `Z`: the SDKs parse with `%Y-%m-%dT%H:%M:%S.%fZ`."""
    utc = instant.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def spell_or_none(instant: datetime | None) -> str | None:
    """The same for what may not have happened yet."""
    return None if instant is None else spell(instant)


def parse(text: str) -> datetime:
    """ISO 8601 with or without fraction and zone; without a zone it is UTC. Raises ValueError."""
    instant = datetime.fromisoformat(text)
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
