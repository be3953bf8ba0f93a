"""From a live database into the vault. Changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from recovery.errors import RecoveryError
from recovery.model import Part
from recovery.stores.clickhouse import figures, native, schema
from recovery.stores.clickhouse.client import RefusedError
from recovery.stores.clickhouse.definitions import quoted
from recovery.stores.clickhouse.figures import Figures, Partition, TableFigures, ViewFigures

if TYPE_CHECKING:
    from recovery.model import File, Mode
    from recovery.ports import Tell, Writer
    from recovery.stores.clickhouse.client import Client
    from recovery.stores.clickhouse.schema import Schema, Table

_SYNTAX_ERROR: Final = 62
_STREAM: Final = {
    # One thread: the same parts give the same blocks, and the live server has its other ones for its users.
    "max_threads": "1",
    "optimize_read_in_order": "1",
    "do_not_merge_across_partitions_select_final": "1",
    "low_cardinality_allow_in_native_format": "0",  # a dictionary's order depends on how its part came to be
}
_BEHIND: Final = (
    # log_pointer is the number of the entry to be fetched next.
    "SELECT table FROM system.replicas WHERE database = {database:String} "
    "AND (is_readonly OR inserts_in_queue > 0 OR log_pointer <= log_max_index) ORDER BY table"
)
_BYTES: Final = (
    "SELECT sum(bytes_on_disk), sum(data_uncompressed_bytes) FROM system.parts "
    "WHERE active AND database = {database:String}"
)


def path(table: str, partition: str) -> str:
    """Name of a stream within the part. A table's name may hold anything."""
    return f"{quote(table, safe='')}/{quote(partition, safe='')}.native.gz"


def take(client: Client, database: str, writer: Writer, mode: Mode, tell: Tell) -> Part:
    """A part with every table. Raises RecoveryError."""
    left_out = _sees_all(client, database)
    left_out += _behind(client, database, mode)
    before = schema.read(client, database)
    files: list[File] = []
    tables: dict[str, TableFigures] = {}
    for number, table in enumerate(before.tables, 1):
        tell(f"{client.store}: table {table.name} ({number} of {len(before.tables)})")
        tables[table.name] = figures.described(table, _table(client, database, table, mode, writer, files))
    if schema.read(client, database) != before:
        raise RecoveryError(
            f"{client.store}: a definition in database {database} changed while it was read; wait until nobody "
            "changes tables, then run again"
        )
    on_disk, uncompressed = client.rows(_BYTES, database=database)[0]
    found = Figures(
        database=database,
        tables=tables,
        views={view.name: ViewFigures(kind=view.kind, create=view.create) for view in before.views},
        bytes_on_disk=on_disk,
        bytes_uncompressed=uncompressed,
    )
    return Part(
        store=client.store,
        kind="clickhouse",
        version=version(client),
        files=tuple(files),
        figures=found.model_dump(mode="json"),
        left_out=left_out + before.left_out + _plain(before),
    )


def version(client: Client) -> str:
    """The server's."""
    return str(client.rows("SELECT version()")[0][0])


def _plain(found: Schema) -> tuple[str, ...]:
    return tuple(
        f"table {name}: restored without replication, so that its path in Keeper cannot be another table's"
        for name in found.replicated
    )


def _sees_all(client: Client, database: str) -> tuple[str, ...]:
    """Raises RecoveryError if there is no such database or tables of it could be hidden from the account."""
    if not schema.exists(client, database):
        raise RecoveryError(
            f"{client.store}: there is no database {database} at {client.url}, or the account does not see it; "
            "check `database`, and grant the account SELECT on it"
        )
    try:
        granted = bool(client.rows(f"CHECK GRANT SELECT ON {quoted(database)}.*")[0][0])
    except RefusedError as failure:
        if failure.code != _SYNTAX_ERROR:
            raise
        return (
            f"tables of {database} that are hidden from the account: a server this old cannot say if there are any",
        )
    if not granted:
        raise RecoveryError(
            f"{client.store}: the account may not read all of database {database}, and what it may not read it does "
            f"not see; GRANT SELECT ON {quoted(database)}.* to it"
        )
    return ()


def _behind(client: Client, database: str, mode: Mode) -> tuple[str, ...]:
    """Tables whose rows another replica has acknowledged and this one does not have yet."""
    behind = [str(row[0]) for row in client.rows(_BEHIND, database=database)]
    if behind and mode == "quiesced":
        raise RecoveryError(
            f"{client.store}: tables {behind} of {database} lack rows that another replica has (system.replicas); wait "
            "until this replica has caught up, or look at its log, then run again"
        )
    return tuple(f"table {name}: rows that this replica had not fetched yet when it was read" for name in behind)


def _table(
    client: Client, database: str, table: Table, mode: Mode, writer: Writer, files: list[File]
) -> dict[str, Partition]:
    """Put a table's partitions into the vault. What they hold is exact where it is the same before and after."""
    figures.visible(client, database, table)
    before = figures.measure(client, database, table)
    streamed: dict[str, int] = {}
    for partition in before:
        file, streamed[partition] = _stream(client, database, table, partition, writer)
        files.append(file)
    after = figures.measure(client, database, table)
    figures.visible(client, database, table)
    if mode == "quiesced" and before != after:
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise RecoveryError(
            f"{client.store}: table {database}.{table.name} changed while it was read (partitions {changed[:5]}), so "
            "somebody writes although writers were stopped; find who (system.processes, system.query_log) or use "
            "mode online"
        )
    result = {}
    for partition, rows in streamed.items():
        same = before[partition] == after.get(partition)
        if same and rows != before[partition].rows:
            raise RecoveryError(
                f"{client.store}: table {database}.{table.name}, partition {partition}: {rows} rows came, the server "
                f"counts {before[partition].rows}; nothing of it is used. Run again, and look at the server's log"
            )
        result[partition] = before[partition] if same else Partition(rows=rows, content=None)
    return result


def _stream(client: Client, database: str, table: Table, partition: str, writer: Writer) -> tuple[File, int]:
    blocks = native.Blocks(f"{client.store}: table {database}.{table.name}", len(table.columns))
    columns = ", ".join(quoted(column.name) for column in table.columns)
    where = " WHERE _partition_id = {partition:String}" if table.partitioned else ""
    order = f" ORDER BY {table.sorting_key}" if table.sorting_key else ""
    statement = (
        f"SELECT {columns}, toUInt8(1) AS {blocks.marker} "  # noqa: S608  # names are quoted, the key is the server's text
        f"FROM {figures.source(database, table)}{where}{order} FORMAT Native"
    )
    given = {"partition": partition} if table.partitioned else {}
    pieces = client.having(**_STREAM).stream(statement, **given)
    file = writer.put(path(table.name, partition), native.compress(blocks.strip(pieces)))
    return file, blocks.rows
