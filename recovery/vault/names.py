"""Keys of a vault's objects, and what they say."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

CHUNKS: Final = "chunks/"
POINTS: Final = "points/"
PROBES: Final = "probe/"
MANIFEST_BYTES: Final = 64 * 1024**2
"""Largest manifest; what would make it larger belongs into an index."""

_CHUNK: Final = re.compile(r"^chunks/([0-9a-f]{2})/(\1[0-9a-f]{62})$")
_POINT: Final = re.compile(r"^points/(\d{8}T\d{6}Z-[0-9a-f]{8})/(.+)$")
_VERIFIED: Final = re.compile(r"^verified/\d{8}T\d{6}Z\.json$")


def chunk_key(sha256: str) -> str:
    """Where a chunk lies."""
    return f"{CHUNKS}{sha256[:2]}/{sha256}"


def chunk_of(key: str) -> str | None:
    """SHA-256 of the chunk that lies there, None if no chunk does."""
    found = _CHUNK.match(key)
    return found[2] if found else None


def folder(point: str) -> str:
    """Prefix of all objects of a point."""
    return f"{POINTS}{point}/"


def manifest_key(point: str) -> str:
    """Where the manifest of a point lies."""
    return f"{folder(point)}manifest.json"


def verified_key(point: str, moment: str) -> str:
    """Where the outcome of a verification lies. moment: when it began, as `utc` spells it."""
    return f"{folder(point)}verified/{moment}.json"


def point_of(key: str) -> str | None:
    """Id of the point to which an object belongs, None if to none."""
    found = _POINT.match(key)
    return found[1] if found and _time(found[1]) else None


def is_manifest(key: str) -> bool:
    """Whether a point's manifest lies there."""
    found = point_of(key)
    return found is not None and key == manifest_key(found)


def is_verified(key: str) -> bool:
    """Whether the outcome of a verification lies there."""
    found = _POINT.match(key)
    return found is not None and bool(_VERIFIED.match(found[2]))


def moment_of(point: str) -> datetime:
    """When a point was begun, as its id says. Raises ValueError if that is no id."""
    found = _time(point)
    if found is None:
        raise ValueError(f"{point}: no id of a point")
    return found


def _time(point: str) -> datetime | None:
    try:
        return datetime.strptime(point.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
