"""PostgreSQL: one database, as a custom-format dump beside figures of the same snapshot."""

from recovery.stores.postgres.settings import Settings
from recovery.stores.postgres.store import Postgres, open_store

__all__ = ["Postgres", "Settings", "open_store"]
