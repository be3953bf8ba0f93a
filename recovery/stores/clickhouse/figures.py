"""What a table holds, in figures that a restored copy must have too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from recovery.errors import DamagedError, RecoveryError
from recovery.model import Record
from recovery.stores.clickhouse.definitions import quoted
from recovery.stores.clickhouse.schema import ALL

if TYPE_CHECKING:
    from recovery.model import Part
    from recovery.stores.clickhouse.client import Client
    from recovery.stores.clickhouse.schema import Table

_PARTS: Final = (
    "SELECT name, rows FROM system.parts WHERE active AND rows > 0 "
    "AND database = {database:String} AND table = {table:String}"
)


class Partition(Record):
    """rows: with everything merged. content: sum and exclusive or of the hashes of all rows; None = it changed while
    it was read, and is known from the first restored copy on."""

    rows: int
    content: str | None


class TableFigures(Record):
    """kind, create: how it is made. materialized: whether columns are given that are computed otherwise."""

    kind: str
    engine: str
    create: str
    columns: tuple[str, ...]
    materialized: bool
    partitions: dict[str, Partition]


class ViewFigures(Record):
    """kind, create: how it is made, in the database that it was read from."""

    kind: str
    create: str


class Figures(Record):
    """Of one database. bytes_on_disk, bytes_uncompressed: of its tables when they were read."""

    database: str
    tables: dict[str, TableFigures]
    views: dict[str, ViewFigures]
    bytes_on_disk: int
    bytes_uncompressed: int


def parse(part: Part) -> Figures:
    """The figures of a part. Raises DamagedError when they are something else."""
    try:
        return Figures.model_validate_json(json.dumps(part.figures))
    except ValidationError as failure:
        raise DamagedError(
            f"{part.store}: the point's figures are not those of a ClickHouse part ({failure.error_count()} faults); "
            "use the version of this program that made it"
        ) from failure


def described(table: Table, partitions: dict[str, Partition]) -> TableFigures:
    """A table's figures."""
    return TableFigures(
        kind=table.kind,
        engine=table.engine,
        create=table.create,
        columns=tuple(column.name for column in table.columns),
        materialized=any(column.materialized for column in table.columns),
        partitions=partitions,
    )


def measure(client: Client, database: str, table: Table) -> dict[str, Partition]:
    """Rows and content of each partition that has rows. Reads every value of every column.

    A row's hash is that of its RowBinary form, which spells every type without ambiguity: NULL, NaN, empty arrays.
    Sum and exclusive or do not depend on the order, and the sum sees a row that is there twice.
    """
    row = ", ".join(_hashed(column.name, column.type) for column in table.columns)
    partition = "_partition_id" if table.partitioned else f"'{ALL}'"
    hashed = f"cityHash64(formatRow('RowBinary', {row}))"
    inner = f"SELECT {partition} AS __partition, {hashed} AS __hash FROM {source(database, table)}"  # noqa: S608  # names are quoted
    statement = (
        "SELECT __partition, count(), lower(hex(sum(__hash))), lower(hex(groupBitXor(__hash))) "  # noqa: S608  # as above
        f"FROM ({inner}) GROUP BY __partition ORDER BY __partition"
    )
    found = client.having(do_not_merge_across_partitions_select_final="1").rows(statement)
    return {name: Partition(rows=rows, content=f"{total}-{mixed}") for name, rows, total, mixed in found}


def source(database: str, table: Table) -> str:
    """What to read from: the table as it is when everything is merged."""
    return f"{quoted(database)}.{quoted(table.source)}{' FINAL' if table.merges else ''}"


def visible(client: Client, database: str, table: Table) -> None:
    """Raises RecoveryError if the account does not see every row.

    Parts never change, so those that are there before and after a count must have as many rows in it as the server
    wrote into them, whoever writes meanwhile. A row policy would make a part look smaller, or hide it.
    """
    if not table.partitioned:
        return
    where = {"database": database, "table": table.source}
    before = dict(client.rows(_PARTS, **where))
    count = f"SELECT _part, count() FROM {quoted(database)}.{quoted(table.source)} GROUP BY _part"  # noqa: S608  # names are quoted
    seen = dict(client.having(apply_deleted_mask="0").rows(count))
    after = dict(client.rows(_PARTS, **where))
    hidden = sum(max(rows - seen.get(name, 0), 0) for name, rows in before.items() if name in after)
    if hidden:
        raise RecoveryError(
            f"{client.store}: table {database}.{table.name} has {hidden} rows that the account does not see; a row "
            "policy or a filter of its profile hides them. Give the account a policy that shows all rows"
        )


def _hashed(name: str, kind: str) -> str:
    # A state's bytes depend on the order of its rows, what it stands for does not.
    return f"finalizeAggregation({quoted(name)})" if kind.startswith("AggregateFunction(") else quoted(name)
