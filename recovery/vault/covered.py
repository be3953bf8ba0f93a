"""What lies over objects of a vault and was never stored by this program.

Whoever holds the writer's key can put another version over an object, whoever holds the pruner's can hide it. Both are
read around; they are counted so that somebody is called who asks how they came there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

_MOST: Final = 10_000
"""Keys that are remembered; beyond them a count says no more."""
_PRUNING: Final = timedelta(hours=1)
"""A `prune` that had listed the points before one was published hides chunks for so long afterwards."""


@dataclass
class Covered:
    """Key → when it was hidden behind a delete marker, None if another content lies over it."""

    found: dict[str, datetime | None] = field(default_factory=dict)

    def add(self, key: str, hidden_at: datetime | None = None) -> None:
        """Each key once."""
        if len(self.found) < _MOST:
            self.found[key] = hidden_at

    def tampered(self, began: datetime | None = None, ended: datetime | None = None) -> tuple[str, ...]:
        """Keys whose cover is nobody's work here. began, ended: of the point whose chunks were read.

        Without them no hidden one counts: `prune` may have hidden it.
        """
        return tuple(
            key
            for key, hidden_at in self.found.items()
            if hidden_at is None or (began and ended and not may_be_pruned(hidden_at, began, ended))
        )


def may_be_pruned(hidden_at: datetime, began: datetime, ended: datetime) -> bool:
    """Whether `prune` may have hidden a chunk that a point needs: while it was made, and nobody knew of it yet.

    Before that the point's run would have stored it again.
    """
    return began - _PRUNING <= hidden_at <= ended + _PRUNING
