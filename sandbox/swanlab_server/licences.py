"""The licence, without which nobody gets in. The real one is verified online; here any text is one.

A JSON object may say what the licence is, so that tests can have one that is about to end:
`{"plan": "commercial", "seats": 50, "expiredAt": "2027-01-01T00:00:00.000Z"}`. All other texts are the free plan.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server import bodies, times

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection

    from sandbox.swanlab_server.database import Row

FREE_SEATS: Final = 5
_YEAR: Final = timedelta(days=365)
_MOST_SEATS: Final = 100_000
_LONGEST: Final = 20_000


@dataclass(frozen=True, kw_only=True)
class Licence:
    """What is licensed. plan: free or commercial. seats: accounts, root included."""

    plan: str
    seats: int
    expires: datetime

    def expired(self, at: datetime) -> bool:
        """Whether it is over."""
        return at >= self.expires


def parse(text: str, at: datetime) -> Licence:
    """The licence in this text. Raises Refusal when its fields are wrong."""
    if not 0 < len(text.strip()) <= _LONGEST:
        raise bodies.wrong("licence", f"a text of 1 to {_LONGEST} characters")
    fields = _fields(text)
    expires = fields.get("expiredAt")
    try:
        return Licence(
            plan=bodies.choice(fields, "plan", ("free", "commercial"), "free"),
            seats=bodies.number({"seats": FREE_SEATS, **fields}, "seats", least=1, most=_MOST_SEATS),
            expires=at + _YEAR if expires is None else times.parse(str(expires)),
        )
    except ValueError as error:
        raise bodies.wrong("expiredAt", "an instant in ISO 8601") from error


def _fields(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def current(connection: Connection[Row]) -> Licence | None:
    """The licence that is in force, None before activation."""
    row = connection.execute("SELECT plan, seats, expires_at FROM licence").fetchone()
    return None if row is None else Licence(plan=row["plan"], seats=row["seats"], expires=row["expires_at"])


def keep(connection: Connection[Row], licence: Licence) -> None:
    """Put it in force, in place of the one before."""
    connection.execute(
        "INSERT INTO licence (plan, seats, expires_at) VALUES (%s, %s, %s)"
        " ON CONFLICT (single) DO UPDATE SET plan = excluded.plan, seats = excluded.seats,"
        " expires_at = excluded.expires_at, activated_at = now()",
        (licence.plan, licence.seats, licence.expires),
    )
