"""What is asked, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Kind = Literal["http", "body", "refused", "answers", "tcp", "redis", "postgres"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One endpoint that must answer.

    kind: `http` wants status 200; `body` wants it with exactly this text; `refused` wants a status of 400 to 499;
    `answers` wants any status; `tcp` wants a sign of a program; `redis` and `postgres` want the first words of their
    protocol. address: a web address for the first four, `host:port` for the others.
    """

    name: str
    kind: Kind
    address: str
    body: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one question brought. seconds: how long it took. at: when it ended, by the monotonic clock."""

    up: bool
    words: str
    seconds: float
    at: float


@dataclass(frozen=True, kw_only=True)
class Licence:
    """What the server says of its licence.

    days_left: until it ends, None where the server does not tell. seats: as the server counts them, None likewise.
    """

    state: Literal["unknown", "inactive", "active", "expired"] = "unknown"
    days_left: float | None = None
    seats: int | None = None


STATES: Final = ("unknown", "inactive", "active", "expired")
