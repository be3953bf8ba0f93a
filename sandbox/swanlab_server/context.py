"""What the handlers of `server` work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.swanlab_server.database import Database
    from sandbox.swanlab_server.points import Points
    from sandbox.swanlab_server.sessions import Sessions
    from sandbox.swanlab_server.storage import Storage


@dataclass(frozen=True, kw_only=True)
class Context:
    """The stores. points: read only; house writes them by way of the buffer."""

    database: Database
    sessions: Sessions
    storage: Storage
    points: Points
