"""What a database holds: tables with rows of their own, views, and what keeps its rows elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recovery.errors import RecoveryError
from recovery.stores.clickhouse import definitions

if TYPE_CHECKING:
    from recovery.stores.clickhouse.client import Client

UNFINISHED: Final = "__plumbline_unfinished"
"""Table that is in a copy as long as the copy is not whole."""
ALL: Final = "all"
"""Partition of a table that has none."""
_MERGE_TREE: Final = "MergeTree"
_LOGS: Final = frozenset({"Log", "TinyLog", "StripeLog"})
ELSEWHERE: Final = {
    "Memory": "its rows are in the memory of the server and end with it",
    "Null": "it keeps no rows",
    "Buffer": "it holds rows in memory on their way to another table",
    "Distributed": "its rows are in tables of other servers",
    "Merge": "its rows are in other tables",
    "Dictionary": "its rows are read from its source",
    "Kafka": "its rows are in another system",
    "NATS": "its rows are in another system",
    "RabbitMQ": "its rows are in another system",
    "MySQL": "its rows are in another system",
    "PostgreSQL": "its rows are in another system",
    "MongoDB": "its rows are in another system",
    "SQLite": "its rows are in another system",
    "ODBC": "its rows are in another system",
    "JDBC": "its rows are in another system",
    "URL": "its rows are in another system",
    "S3": "its rows are in another system",
    "S3Queue": "its rows are in another system",
    "HDFS": "its rows are in another system",
    "AzureBlobStorage": "its rows are in another system",
}
"""Engine → why its tables are not secured."""
_TABLES: Final = (
    "SELECT name, engine, toString(uuid), create_table_query, sorting_key FROM system.tables "
    "WHERE database = {database:String} AND NOT is_temporary ORDER BY name"
)
_COLUMNS: Final = (
    "SELECT table, name, type, default_kind FROM system.columns WHERE database = {database:String} "
    "AND default_kind NOT IN ('ALIAS', 'EPHEMERAL') ORDER BY table, position"
)


@dataclass(frozen=True)
class Column:
    """materialized: its value is computed on insert unless it is given."""

    name: str
    type: str
    materialized: bool


@dataclass(frozen=True)
class Table:
    """A table with rows. source: the name that they are read by; another one for a materialized view's inner table.

    kind: TABLE or MATERIALIZED VIEW. engine: without Replicated. create: the definition's tail. merges: whether rows
    are replaced or summed up at any time, so that only FINAL gives a stable answer.
    """

    name: str
    source: str
    kind: str
    engine: str
    create: str
    columns: tuple[Column, ...]
    sorting_key: str

    @property
    def partitioned(self) -> bool:
        """Whether it has partitions and parts."""
        return self.engine.endswith(_MERGE_TREE)

    @property
    def merges(self) -> bool:
        """Whether its rows change without an insert."""
        return self.partitioned and self.engine != _MERGE_TREE


@dataclass(frozen=True)
class View:
    """A view without rows of its own. create: the definition's tail, which names the database."""

    name: str
    kind: str
    create: str


@dataclass(frozen=True)
class Schema:
    """left_out: what is not secured, one sentence each. replicated: tables that become plain ones."""

    tables: tuple[Table, ...]
    views: tuple[View, ...]
    left_out: tuple[str, ...]
    replicated: tuple[str, ...]


def exists(client: Client, database: str) -> bool:
    """Whether there is such a database."""
    return bool(client.rows("SELECT 1 FROM system.databases WHERE name = {database:String}", database=database))


def read(client: Client, database: str) -> Schema:
    """Everything in a database. Raises RecoveryError for a table that holds rows and that cannot be secured."""
    columns: dict[str, list[Column]] = {}
    for table, name, kind, default in client.rows(_COLUMNS, database=database):
        columns.setdefault(table, []).append(Column(name, kind, default == "MATERIALIZED"))
    found = {row[0]: row for row in client.rows(_TABLES, database=database)}
    inner = {_inner(row, found): row for row in found.values() if row[1] == "MaterializedView"}
    tables: list[Table] = []
    views: list[View] = []
    left_out: list[str] = []
    for name, row in found.items():
        engine = _plain(row[1])
        if name in inner or name == UNFINISHED:
            continue
        if engine in ELSEWHERE:
            left_out.append(f"table {database}.{name} (engine {engine}): {ELSEWHERE[engine]}")
        elif engine in {"View", "MaterializedView"}:
            kind, create = definitions.tail(row[3], f"{database}.{name}")
            source = found.get(_inner(row, found))
            if source is None:
                views.append(View(name, kind, create))
            else:
                tables.append(_table(name, kind, create, source, columns))
        elif engine.endswith(_MERGE_TREE) or engine in _LOGS:
            tables.append(_table(name, *definitions.tail(row[3], f"{database}.{name}"), row, columns))
        else:
            raise RecoveryError(
                f"table {database}.{name} has engine {engine}, whose rows this program cannot secure; accepted are "
                "MergeTree of every kind and Log. Move it to another database if its rows may be lost"
            )
    replicated = tuple(sorted(name for name, row in found.items() if _plain(row[1]) != row[1]))
    return Schema(tuple(tables), tuple(views), tuple(left_out), replicated)


def _plain(engine: str) -> str:
    return engine.removeprefix("Replicated").removeprefix("Shared") if engine.endswith(_MERGE_TREE) else engine


def _inner(view: list[Any], found: dict[str, list[Any]]) -> str:
    """Name of the table that a materialized view keeps its own rows in; empty if they are in another one."""
    for name in (f".inner_id.{view[2]}", f".inner.{view[0]}"):
        if name in found:
            return name
    return ""


def _table(name: str, kind: str, create: str, row: list[Any], columns: dict[str, list[Column]]) -> Table:
    held = tuple(columns.get(row[0], ()))
    if not held:
        raise RecoveryError(f"table {name}: the account does not see its columns; grant it SELECT on the database")
    return Table(name, row[0], kind, _plain(row[1]), create, held, row[4])
