"""Objects: the bytes that were written come back, and strangers are kept out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from smoke.model import Problem

PREFIX: Final = "plumbline-sentinel/"
"""What every object of smoke's own begins with."""

REFUSALS: Final = (401, 403)
NOT_FOUND: Final = 404
ALLOWED: Final = 200


@dataclass(frozen=True)
class Attempt:
    """What became of one request. who: in whose name. status: HTTP's, 200 for one that was answered."""

    who: str
    what: str
    status: int
    data: bytes | None = None


def same_bytes(subject: str, written: bytes, read: bytes) -> list[Problem]:
    """The object holds what was written."""
    if written == read:
        return []
    return [Problem(subject, _told(read), _told(written))]


def refused(attempt: Attempt) -> list[Problem]:
    """The store said no: 401 or 403. "Not found" does not count, for it says nothing of a right."""
    if attempt.status in REFUSALS:
        return []
    seen = "allowed" if attempt.status == ALLOWED else f"HTTP {attempt.status}"
    return [Problem(f"{attempt.what} by {attempt.who}", seen, "refused (401 or 403)")]


def gone(attempt: Attempt) -> list[Problem]:
    """The object is not there any more, as its owner sees it."""
    if attempt.status == NOT_FOUND:
        return []
    return [Problem(attempt.what, f"HTTP {attempt.status}", "404: it was deleted")]


def readable(attempt: Attempt, written: bytes) -> list[Problem]:
    """Whoever asks gets the very bytes."""
    if attempt.status != ALLOWED:
        return [Problem(f"{attempt.what} by {attempt.who}", f"HTTP {attempt.status}", "readable")]
    return same_bytes(f"{attempt.what} by {attempt.who}", written, attempt.data or b"")


def sentinel(now: float, word: str) -> str:
    """Name of an object of smoke's own. now: Unix time, by which what killed runs have left is known."""
    return f"{PREFIX}{int(now)}-{word}"


def stale(names: list[str], now: float, age: float) -> list[str]:
    """Those of smoke's own objects that are older than `age` seconds."""
    return [name for name in names if (_made(name) or now) < now - age]


def _made(name: str) -> float | None:
    made, _, word = name.removeprefix(PREFIX).partition("-")
    return float(made) if name.startswith(PREFIX) and word and made.isdigit() else None


def _told(data: bytes) -> str:
    return f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()[:12]}"
