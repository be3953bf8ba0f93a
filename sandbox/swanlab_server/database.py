"""Connections to the metadata. What cannot be reached raises psycopg.OperationalError, and is there again by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from psycopg import Connection

    from sandbox.swanlab_server.settings import Postgres, Version

Row = dict[str, Any]
_POOL_SIZE: Final = 16
_PATIENCE: Final = 5.0
"""Seconds that a request waits for a connection."""
_STATEMENT: Final = "-c statement_timeout=30s -c idle_in_transaction_session_timeout=60s"
_RENAMED_IN: Final = (3, 2, 0)


@dataclass(frozen=True)
class Names:
    """Names of columns that differ between versions of the schema. run_group: the group that an SDK sends."""

    run_group: str


def names(version: Version) -> Names:
    """Names in the schema of this version, see `migrations/`."""
    return Names(run_group="run_group" if version >= _RENAMED_IN else "cluster")


class Database:
    """Two pools: `write` sees and changes what is, `read` may be a moment behind."""

    def __init__(self, postgres: Postgres, version: Version) -> None:
        """Open the pools; nothing need be reachable yet."""
        self.names = names(version)
        self._primary = _pool(postgres.primary, "primary")
        same = postgres.replica == postgres.primary
        self._replica = self._primary if same else _pool(postgres.replica, "replica")

    def write(self) -> AbstractContextManager[Connection[Row]]:
        """A connection in a transaction that ends with the block. Raises psycopg.OperationalError."""
        return self._primary.connection()

    def read(self) -> AbstractContextManager[Connection[Row]]:
        """The same on the replica: for what need not see the write before it."""
        return self._replica.connection()

    def close(self) -> None:
        """Give all connections back."""
        for pool in {self._primary, self._replica}:
            pool.close()


def _pool(address: str, name: str) -> ConnectionPool[Connection[Row]]:
    return ConnectionPool(
        address,
        name=name,
        min_size=1,
        max_size=_POOL_SIZE,
        timeout=_PATIENCE,
        # Short: a request that comes later asks again, where a long one would sleep through the recovery.
        reconnect_timeout=_PATIENCE,
        check=ConnectionPool.check_connection,
        kwargs={"row_factory": dict_row, "connect_timeout": 3, "options": _STATEMENT},
        open=True,
    )
