"""How the data of each of SwanLab's stores is moved between its chart and a store elsewhere: commands for messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Move:
    """out: from the chart's store to one elsewhere. back: the other way. Both with everything that writes stopped."""

    out: str
    back: str


def _both(command: str, here: str, there: str) -> Move:
    return Move(
        out=command.replace("<from>", here).replace("<to>", there),
        back=command.replace("<from>", there).replace("<to>", here),
    )


_CLICKHOUSE: Final = (
    "on <from> `BACKUP DATABASE app TO S3('<url>', '<key>', '<secret>')`, on <to> `RESTORE DATABASE app FROM S3(…)`, "
    "and compare the rows of system.parts"
)

MOVES: Final[dict[str, Move]] = {
    "postgres": _both(
        "pg_dump -Fc --no-owner --no-acl '<from>' | pg_restore --clean --if-exists --no-owner -d '<to>'",
        "primaryUrl of Secret swanlab-postgres",
        "address of the PostgreSQL elsewhere",
    ),
    "redis": Move(
        out="redis-cli -u <chart's> --rdb dump.rdb, and load it into the Redis elsewhere",
        back="redis-cli -u <the one elsewhere> --rdb dump.rdb, and put it on the claim as dump.rdb, without AOF files",
    ),
    "clickhouse": _both(_CLICKHOUSE, "the chart's ClickHouse", "the ClickHouse elsewhere"),
    "s3": _both(
        "rclone sync <from>:swanlab-private <to>:<private bucket> && rclone sync <from>:swanlab-public <to>:<public "
        "bucket>, and rclone check both",
        "chart",
        "elsewhere",
    ),
}
"""Store → commands."""
