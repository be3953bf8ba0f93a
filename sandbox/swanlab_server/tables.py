"""Tables of the points: what house makes at start, and what the buffer writes.

Delivery is at-least-once, and an SDK may send a batch twice: each table keeps one row for each identity, the one with
the highest precedence, and reads say FINAL. Precedence counts down with the time of arrival at the buffer, so the
first write of a step wins, as in the SDKs, and a row that is delivered again replaces itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server.clickhouse_client import Client

if TYPE_CHECKING:
    from sandbox.swanlab_server.settings import ClickHouse

PRECEDENCE_OF_ZERO: Final = 2**64 - 1
"""Precedence of a row that arrived in 1970; one less for each nanosecond since."""


@dataclass(frozen=True)
class Table:
    """columns: name → type, in the order in which rows are written. identity: what a row is the only one for."""

    name: str
    columns: dict[str, str]
    identity: str

    def definition(self) -> str:
        """The statement that makes the table in the connection's database."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        return (
            f"CREATE TABLE IF NOT EXISTS {self.name} ({columns}) ENGINE = ReplacingMergeTree(precedence)"
            f" ORDER BY ({self.identity}) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1"
        )


SCALAR: Final = Table(
    "scalar",
    {
        "project": "String",
        "uid": "String",
        "key": "String",
        "epoch": "UInt64",
        "step": "Int64",
        "value": "Float64",
        "kind": "LowCardinality(String)",
        "timestamp": "DateTime64(3, 'UTC')",
        "precedence": "UInt64",
    },
    "uid, key, step",
)
MEDIA: Final = Table(
    "media",
    {
        "project": "String",
        "uid": "String",
        "key": "String",
        "epoch": "UInt64",
        "step": "Int64",
        "data": "Array(String)",
        "more": "String",
        "timestamp": "DateTime64(3, 'UTC')",
        "precedence": "UInt64",
    },
    "uid, key, step",
)
LOG: Final = Table(
    "log",
    {
        "project": "String",
        "uid": "String",
        "epoch": "UInt64",
        "level": "LowCardinality(String)",
        "message": "String",
        "timestamp": "DateTime64(3, 'UTC')",
        "precedence": "UInt64",
    },
    # Processes that share a run number their lines each for themselves: only the same text is the same line.
    "uid, epoch, level, cityHash64(message)",
)
ALL: Final = (SCALAR, MEDIA, LOG)


def make(settings: ClickHouse) -> None:
    """Make the database and the tables where they are missing. Raises clickhouse_client's errors."""
    Client(replace(settings, database="default")).execute(f"CREATE DATABASE IF NOT EXISTS `{settings.database}`")
    client = Client(settings)
    for table in ALL:
        client.execute(table.definition())
