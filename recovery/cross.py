"""The check between stores as a verification runs it: on the scratch copies, and on what the point says of objects."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recovery.crosscheck.check import crosscheck
from recovery.crosscheck.model import PRIVATE, PUBLIC, Circumstances, ClickHouseCopy, PostgresCopy
from recovery.errors import RecoveryError
from recovery.model import Record
from recovery.verify import indexed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import JsonValue

    from recovery.model import Part, Point
    from recovery.ports import Reader

WINDOW: Final = timedelta(minutes=5)
"""How long a point may lie in the delivery buffer before it counts as lost, in points that were taken online."""


class Between(Record):
    """Which stores of the configuration belong together. private, public: the buckets."""

    postgres: str
    clickhouse: str
    private: str
    public: str


def cross_check(
    between: Between | None, sections: Sequence[Any], work: Path
) -> Callable[[Point, Reader], tuple[tuple[str, ...], dict[str, JsonValue]]] | None:
    """What `verify` calls once all copies are equal; None where the configuration names no stores for it.

    sections: of the scratch stores. Raises RecoveryError if one that it needs is not among them.
    """
    if between is None:
        return None
    by_name = {section.name: section for section in sections}
    missing = [name for name in (between.postgres, between.clickhouse) if name not in by_name]
    if missing:
        raise RecoveryError(f"cross_check: scratch has no store {', '.join(missing)}; it has {', '.join(by_name)}")
    postgres, clickhouse = by_name[between.postgres], by_name[between.clickhouse]
    database = PostgresCopy(
        host=postgres.host,
        port=postgres.port,
        database=postgres.restore_as,
        user_file=Path(postgres.username_file),
        password_file=Path(postgres.password_file),
    )
    series = ClickHouseCopy(
        url=clickhouse.url,
        database=clickhouse.restore_as,
        user_file=Path(clickhouse.username_file),
        password_file=Path(clickhouse.password_file),
    )

    def check(point: Point, reader: Reader) -> tuple[tuple[str, ...], dict[str, JsonValue]]:
        buckets = {
            PRIVATE: _objects(point, between.private, reader),
            PUBLIC: _objects(point, between.public, reader),
        }
        under = Circumstances(mode=point.mode, taken=point.first_lost, window=WINDOW)
        found = crosscheck(database, series, buckets, under, work)
        return found.differences, dict(found.figures)

    return check


def _objects(point: Point, name: str, reader: Reader) -> Any:  # noqa: ANN401  # an iterator of files
    part: Part | None = point.part(name)
    if part is None or part.index is None:
        raise RecoveryError(f"point {point.id} has no index of bucket {name}, which the check between stores needs")
    return indexed(part.index, reader)
