"""Measures a database: every row is read in the server, nothing is sorted, and nothing but sums comes out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, cast

from psycopg import sql

from recovery.errors import RecoveryError
from recovery.stores.postgres import catalogue
from recovery.stores.postgres.connection import doing, major, one, release, rows
from recovery.stores.postgres.model import Figures, LargeObjects, Partitioned, Sequence, Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Sequence as Several

    from recovery.ports import Tell
    from recovery.stores.postgres.catalogue import Relation
    from recovery.stores.postgres.connection import Connection

_PIECE: Final = 8 * 1024**2
"""Bytes of a large object that the server hashes at once."""

Position = tuple[int, bool]
"""last_value and is_called of a sequence."""


def measure(
    connection: Connection, excluded: Several[str], positions: Mapping[str, tuple[Position, Position]], tell: Tell
) -> Figures:
    """All figures in the transaction of this connection.

    excluded: labels of tables whose rows do not count. positions: see `sequences`, before and after the dump.
    Raises RecoveryError if anything cannot be read.
    """
    with doing("figures"):
        found = [relation for relation in catalogue.relations(connection) if not relation.member]
        tables = _tables(connection, [one for one in found if one.kind == "r" and one.label not in excluded], tell)
        parents = {one.label: _partitioned(connection, one) for one in found if one.kind == "p"}
        labels = {kind: tuple(one.label for one in found if one.kind in kind) for kind in ("vm", "f", "r")}
        place = catalogue.locale(connection)
        return Figures(
            server=release(connection),
            major=major(connection),
            encoding=place.encoding,
            collate=place.collate,
            ctype=place.ctype,
            provider=place.provider,
            locale=place.locale,
            settings=catalogue.settings(connection),
            extensions=catalogue.extensions(connection),
            schemas=catalogue.schemas(connection),
            tables=tables,
            partitioned=parents,
            excluded=tuple(label for label in labels["r"] if label in excluded),
            views=labels["vm"],
            foreign_tables=labels["f"],
            sequences={label: _sequence(*both) for label, both in positions.items()},
            roles=catalogue.roles(connection),
            foreign_keys=catalogue.foreign_keys(connection),
            invalid_indexes=catalogue.invalid_indexes(connection),
            large_objects=_large_objects(connection),
            objects=catalogue.counts(connection),
        )


def sequences(connection: Connection) -> dict[str, Position]:
    """Where every sequence is now: they belong to no snapshot."""
    with doing("sequences"):
        found = [one for one in catalogue.relations(connection) if one.kind == "S" and not one.member]
        return {one.label: _position(connection, one) for one in found}


def excluded_labels(connection: Connection, names: Several[str]) -> tuple[str, ...]:
    """Labels of the tables that a configuration names.

    Raises RecoveryError if one is not there, has no rows of its own, or is referred to by a table that is dumped.
    """
    tables = {one.oid: one for one in catalogue.relations(connection) if one.kind in "rp" and not one.member}
    found: dict[int, Relation] = {}
    for name in names:
        full = name if "." in name else f"public.{name}"
        match = next((one for one in tables.values() if full in {one.label, f"{one.schema}.{one.name}"}), None)
        if match is None or match.kind == "p":
            raise RecoveryError(
                f"exclude_tables names {name}, which is no table with rows of its own; accepted is a table, "
                "`schema.table` if it is not in public, and of a partitioned one each partition; correct the name"
            )
        found[match.oid] = match
    query = "SELECT DISTINCT conrelid::bigint, confrelid::bigint FROM pg_constraint WHERE contype = 'f'"
    for source, target in cast("list[tuple[int, int]]", rows(connection, query)):
        if target in found and source not in found and source in tables:
            raise RecoveryError(
                f"exclude_tables names {found[target].label}, to which rows of {tables[source].label} refer: a restore "
                "would fail; exclude both or none"
            )
    return tuple(one.label for one in found.values())


def _tables(connection: Connection, found: Several[Relation], tell: Tell) -> dict[str, Table]:
    tables = {}
    for number, relation in enumerate(found, 1):
        tables[relation.label] = _table(connection, relation)
        tell(f"table {number} of {len(found)}: {relation.label}, {tables[relation.label].rows} rows read")
    return tables


def _table(connection: Connection, relation: Relation) -> Table:
    keys = catalogue.keys(connection, relation.oid)
    largest = [sql.SQL(", max(r.{})::bigint").format(sql.Identifier(key)) for key in keys]
    row = sql.SQL(", ").join(sql.Identifier("r", name) for name in catalogue.columns(connection, relation.oid))
    query = sql.SQL(
        'SELECT count(*), coalesce(sum(hashtextextended(ROW({})::text COLLATE "C", 0)), 0)::text {} FROM ONLY {} AS r'
    ).format(row, sql.Composed(largest), relation.identifier)
    with doing(f"table {relation.label}"):
        count, content, *values = connection.execute(query).fetchall()[0]
    return Table(
        rows=cast("int", count),
        hash=str(content),
        largest=dict(zip(keys, cast("list[int | None]", values), strict=True)),
        **catalogue.shape(connection, relation.oid),
    )


def _partitioned(connection: Connection, relation: Relation) -> Partitioned:
    return Partitioned(partitions=relation.children, **catalogue.shape(connection, relation.oid))


def _position(connection: Connection, relation: Relation) -> Position:
    query = sql.SQL("SELECT last_value, is_called FROM {}").format(relation.identifier)
    return cast("Position", rows(connection, query)[0])


def _sequence(before: Position, after: Position) -> Sequence:
    return Sequence(last_value=before[0], is_called=before[1], last_value_after=after[0], is_called_after=after[1])


def _large_objects(connection: Connection) -> LargeObjects:
    whole, count, size = hashlib.sha256(), 0, 0
    numbers = rows(connection, "SELECT oid::bigint FROM pg_largeobject_metadata ORDER BY oid")
    for (number,) in numbers:
        count += 1
        offset = 0
        while True:
            piece = "SELECT length(p), encode(sha256(p), 'hex') FROM lo_get(%s::bigint::oid, %s, %s) AS p"
            length, content = cast("tuple[int, str]", rows(connection, piece, number, offset, _PIECE)[0])
            whole.update(f"{number} {offset} {length} {content}\n".encode())
            offset += length
            if length < _PIECE:
                break
        size += offset
    return LargeObjects(count=count, bytes=size, hash=whole.hexdigest())


def user_rows(connection: Connection, bookkeeping: Several[str]) -> dict[str, int]:
    """Label → rows of every table that has any, without `bookkeeping` (`schema.table`); large objects count, too."""
    found: dict[str, int] = {}
    with doing("rows of users"):
        for relation in catalogue.relations(connection):
            if relation.kind != "r" or relation.member or f"{relation.schema}.{relation.name}" in bookkeeping:
                continue
            query = sql.SQL("SELECT count(*) FROM ONLY {}").format(relation.identifier)
            count = cast("int", rows(connection, query)[0][0])
            if count:
                found[relation.label] = count
        large = cast("int", one(connection, "SELECT count(*) FROM pg_largeobject_metadata"))
    return found | ({"large objects": large} if large else {})
