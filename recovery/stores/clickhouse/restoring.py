"""From the vault into a database beside, and the comparison of what is there then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from recovery.errors import DamagedError, RecoveryError
from recovery.stores.clickhouse import definitions, figures, native, schema
from recovery.stores.clickhouse.client import RefusedError
from recovery.stores.clickhouse.definitions import quoted
from recovery.stores.clickhouse.figures import Figures, Partition, TableFigures
from recovery.stores.clickhouse.reading import path, version
from recovery.stores.configured import identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from recovery.model import File, Part
    from recovery.ports import Reader, Tell
    from recovery.stores.clickhouse.client import Client
    from recovery.stores.clickhouse.schema import Schema

_MARK: Final = "plumbline: copy of "
_MARGIN: Final = 2
"""Room that is asked for, in times of what the tables take: merging writes everything once more."""
_INSERT: Final = {
    "async_insert": "0",  # an answer means that the rows are in parts
    "insert_deduplicate": "0",  # a block that is equal to another one is still a block
    "optimize_on_insert": "0",  # nothing is merged away on its way in
    "max_partitions_per_insert_block": "0",
}
_MATERIALIZED: Final = {"insert_allow_materialized_columns": "1"}
_DROP: Final = {"max_table_size_to_drop": "0", "max_partition_size_to_drop": "0"}
_ROOM: Final = "SELECT max(free_space) FROM system.disks"
_TAKEN: Final = "SELECT sum(bytes_on_disk) FROM system.parts WHERE database = {database:String}"


@dataclass(frozen=True)
class Compared:
    """See recovery/ports.py."""

    differences: tuple[str, ...]
    figures: dict[str, JsonValue]


def drop(client: Client, database: str) -> None:
    """Delete a database with everything in it, if it is there. Raises RecoveryError."""
    if schema.exists(client, database):
        client.having(**_DROP).execute(f"DROP DATABASE IF EXISTS {quoted(database)} SYNC")


def restore(client: Client, part: Part, reader: Reader, beside: str, tell: Tell) -> None:
    """Make the copy. Until it is whole, a table of it says that it is not."""
    wanted = figures.parse(part)
    files = _files(part, wanted)
    _fits(client, part, wanted, beside)
    drop(client, beside)
    client.execute(f"CREATE DATABASE {quoted(beside)} ENGINE = Atomic COMMENT '{_MARK}{identity(part)}'")
    client.execute(f"CREATE TABLE {quoted(beside)}.{quoted(schema.UNFINISHED)} (a UInt8) ENGINE = MergeTree ORDER BY a")
    late = dict[str, TableFigures | None]()
    for name, table in wanted.tables.items():
        if table.kind == "TABLE":
            tell(f"{client.store}: table {name}")
            _create(client, beside, name, table.kind, table.create)
            _fill(client, beside, name, table, files, reader)
        else:
            late[name] = table
    # A materialized view that is there already would write every row a second time.
    late.update(dict.fromkeys(wanted.views))
    while late:
        late = _views(client, wanted, beside, late, files, reader)
    client.execute(f"DROP TABLE {quoted(beside)}.{quoted(schema.UNFINISHED)} SYNC")


def copy_of(client: Client, database: str) -> str | None:
    """Identity of the part that a database was made of, which goes with it when it is renamed; None without one."""
    comment = "SELECT comment FROM system.databases WHERE name = {database:String}"
    found = "".join(str(row[0]) for row in client.rows(comment, database=database))
    return found.removeprefix(_MARK) if found.startswith(_MARK) else None


def finished(client: Client, beside: str) -> bool:
    """Whether there is a copy and it is whole."""
    unfinished = "SELECT 1 FROM system.tables WHERE database = {database:String} AND name = {name:String}"
    return schema.exists(client, beside) and not client.rows(unfinished, database=beside, name=schema.UNFINISHED)


def compare(client: Client, part: Part, beside: str) -> Compared:
    """Hold a copy against its part. Raises RecoveryError if there is none."""
    wanted = figures.parse(part)
    if not finished(client, beside):
        raise RecoveryError(f"{client.store}: database {beside} is no whole copy; run restore first")
    found = schema.read(client, beside)
    measured = {table.name: figures.described(table, figures.measure(client, beside, table)) for table in found.tables}
    differences = [f"{client.store}: {line}" for line in _differences(wanted, found, measured, beside)]
    merged = wanted.model_copy(update={"tables": measured})
    return Compared(tuple(differences), merged.model_dump(mode="json"))


def _files(part: Part, wanted: Figures) -> dict[str, File]:
    files = {file.path: file for file in part.files}
    needed = {path(name, partition) for name, table in wanted.tables.items() for partition in table.partitions}
    if missing := sorted(needed - files.keys()):
        raise DamagedError(
            f"{part.store}: the part lacks {len(missing)} streams, {missing[0]} first; use another point"
        )
    return files


def _fits(client: Client, part: Part, wanted: Figures, beside: str) -> None:
    server = version(client)
    if _number(server) < _number(part.version):
        raise RecoveryError(
            f"{client.store}: the server is {server}, the data is of {part.version}; restore into that version or a "
            "later one"
        )
    free = int(client.rows(_ROOM)[0][0]) + int(client.rows(_TAKEN, database=beside)[0][0])
    needed = _MARGIN * wanted.bytes_on_disk
    if free < needed:
        raise RecoveryError(
            f"{client.store}: {free} bytes are free at {client.url}, {needed} are needed ({_MARGIN} times what the "
            "tables take); enlarge the volume or delete what is not needed"
        )


def _number(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(".")[:2])
    except ValueError:
        raise RecoveryError(f"{text!r} is no version of ClickHouse; accepted is one that begins with 26.3") from None


def _create(client: Client, beside: str, name: str, kind: str, create: str) -> None:
    client.execute(f"CREATE {kind} {quoted(beside)}.{quoted(name)} {create}")


def _fill(client: Client, beside: str, name: str, table: TableFigures, files: dict[str, File], reader: Reader) -> None:
    columns = ", ".join(quoted(column) for column in table.columns)
    statement = f"INSERT INTO {quoted(beside)}.{quoted(name)} ({columns}) FORMAT Native"
    chosen = client.having(**_INSERT, **(_MATERIALIZED if table.materialized else {}))
    for partition in table.partitions:
        file = files[path(name, partition)]
        pieces = native.decompress(file.path, reader.read(file))
        first = next(pieces, None)
        if first is not None:
            chosen.insert(statement, _chain(first, pieces))


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _views(
    client: Client,
    wanted: Figures,
    beside: str,
    late: dict[str, TableFigures | None],
    files: dict[str, File],
    reader: Reader,
) -> dict[str, TableFigures | None]:
    """Make the views that can be made by now. Returns the others; they may stand on one of these."""
    left: dict[str, TableFigures | None] = {}
    refused: RefusedError | None = None
    for name, table in late.items():
        made = table or wanted.views[name]
        try:
            _create(client, beside, name, made.kind, definitions.renamed(made.create, wanted.database, beside))
        except RefusedError as failure:
            left[name], refused = table, failure
            continue
        if table is not None:
            _fill(client, beside, name, table, files, reader)
    if refused is not None and len(left) == len(late):
        raise RecoveryError(f"{client.store}: views {sorted(left)} cannot be made: {refused}") from refused
    return left


def _differences(wanted: Figures, found: Schema, measured: dict[str, TableFigures], beside: str) -> Iterator[str]:
    views = {view.name: view for view in found.views}
    for name in sorted(wanted.tables.keys() - measured.keys()):
        yield f"table {name} is in the point and not in the copy"
    for name in sorted((measured.keys() | views.keys()) - wanted.tables.keys() - wanted.views.keys()):
        yield f"table {name} is in the copy and not in the point"
    for name in sorted(wanted.tables.keys() & measured.keys()):
        yield from _of_table(name, wanted, wanted.tables[name], measured[name], beside)
    for name, view in sorted(wanted.views.items()):
        made = views.get(name)
        if made is None:
            yield f"view {name} is in the point and not in the copy"
        elif (view.kind, _here(view.create, wanted, beside)) != (made.kind, _here(made.create, wanted, beside)):
            yield f"view {name} is made by {view.create!r} in the point, by {made.create!r} in the copy"


def _here(create: str, wanted: Figures, beside: str) -> str:
    """A definition that names the copy's database, spelled one way."""
    return definitions.renamed(definitions.renamed(create, wanted.database, beside), beside, beside)


def _of_table(name: str, wanted: Figures, point: TableFigures, copy: TableFigures, beside: str) -> Iterator[str]:
    for what, there, here in (
        ("kind", point.kind, copy.kind),
        ("engine", point.engine, copy.engine),
        ("columns", list(point.columns), list(copy.columns)),
        ("definition", _here(point.create, wanted, beside), _here(copy.create, wanted, beside)),
    ):
        if there != here:
            yield f"table {name}: its {what} is {there!r} in the point, {here!r} in the copy"
    none = Partition(rows=0, content=None)
    for partition in sorted(point.partitions.keys() | copy.partitions.keys()):
        old, new = point.partitions.get(partition, none), copy.partitions.get(partition, none)
        where = f"table {name}, partition {partition}"
        if old.rows != new.rows:
            yield f"{where}: {old.rows} rows in the point, {new.rows} in the copy"
        elif old.content is not None and old.content != new.content:
            yield f"{where}: content {old.content} in the point, {new.content} in the copy"
