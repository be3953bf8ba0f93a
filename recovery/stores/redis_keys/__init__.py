"""Keys of one Redis database, read by their type: what DUMP gives, no other version takes."""

from __future__ import annotations

from recovery.stores.redis_keys.server import Settings
from recovery.stores.redis_keys.store import Keys, open_store

__all__ = ["Keys", "Settings", "open_store"]
