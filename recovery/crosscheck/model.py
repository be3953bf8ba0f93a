"""What a cross-check is made of: rows in order, where they come from, and what must hold between them.

A relation says: whatever has this key in one store has a counterpart of the same key in another one. Both sides come
as streams in ascending order of the key, so that they are held against each other without keeping either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from pydantic import JsonValue

    from recovery.model import Mode

Key = tuple[str, ...]
PRIVATE: Final = "private"
PUBLIC: Final = "public"
"""Names of the buckets of a check, whatever they are called in an object store."""


class Row(NamedTuple):
    """key: what it is found by; texts compare by code point, which is the order of UTF-8. fields: the rest, by name."""

    key: Key
    fields: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class PostgresCopy:
    """A restored database. user_file, password_file: what they hold, without the newline at the end."""

    host: str
    port: int
    database: str
    user_file: Path
    password_file: Path


@dataclass(frozen=True, kw_only=True)
class ClickHouseCopy:
    """A restored database. url: of the HTTP interface, `http://host:8123`. Files as in PostgresCopy."""

    url: str
    database: str
    user_file: Path
    password_file: Path


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """Under which a point was taken. taken: when its PostgreSQL snapshot was, or a moment before; with a time zone.

    window: how long what was acknowledged may be on its way from the delivery buffer into ClickHouse. last_number:
    the highest number of a run that PostgreSQL has given out; the check fills it in.
    """

    mode: Mode
    taken: datetime
    window: timedelta = timedelta(minutes=5)
    last_number: int = 0

    @property
    def since(self) -> datetime:
        """What happened from here on may be in one part of a point that was taken online, and not in another."""
        return self.taken - self.window


@dataclass(frozen=True)
class Query:
    """A SELECT of one store, its result in ascending order of the key. key: names of the columns that are the key.

    PostgreSQL sorts with COLLATE "C"; ClickHouse always compares bytes.
    """

    store: Literal["postgres", "clickhouse"]
    sql: str
    key: tuple[str, ...]


@dataclass(frozen=True)
class Bucket:
    """Objects by key; `size` in bytes. name: PRIVATE or PUBLIC."""

    name: str


@dataclass(frozen=True)
class Nested:
    """References inside rows of ClickHouse that belong to an owner in PostgreSQL; in any order, sorted by the check.

    owners, rows: in order of the owner's key, which is the beginning of a row's. expand: owner, row → references.
    Rows without an owner are left out: that they have none is a relation of its own.
    """

    owners: Query
    rows: Query
    expand: Callable[[Row, Row], Iterable[Row]]


Source = Query | Bucket | Nested


@dataclass(frozen=True)
class Tolerance:
    """A reason why a fault is none. name: of its figure. says: which; {since}, {taken}, {window} are filled in."""

    name: str
    says: str
    applies: Callable[[Row, Circumstances], bool]


@dataclass(frozen=True)
class Fault:
    """Something that may be wrong with a reference. name: of its figure. says: of what there are so many.

    wrong: reference, counterpart or None → whether it is. tolerances: the first that applies makes it none.
    """

    name: str
    says: str
    wrong: Callable[[Row, Row | None], bool]
    tolerances: tuple[Tolerance, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Relation:
    """name: of the figure that counts its references. show: a reference as people find it, from its row.

    faults: at most one is counted of a reference, the first that is there.
    """

    name: str
    source: Source
    faults: tuple[Fault, ...]
    show: Callable[[Row], str]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Relations that lead to the same counterparts.

    referenced, unreferenced: names of the figures that count those, None where they would say nothing.
    """

    relations: tuple[Relation, ...]
    target: Query | Bucket
    referenced: str | None
    unreferenced: str | None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A schema that is known. postgres, clickhouse: table → columns that it must have to be this one.

    last_number: a statement of PostgreSQL with one number. counts: figure → a statement with one number.
    """

    name: str
    postgres: Mapping[str, frozenset[str]]
    clickhouse: Mapping[str, frozenset[str]]
    last_number: str
    counts: Mapping[str, Query]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Found:
    """Outcome, as recovery/ports.py wants it. differences: one sentence for each kind of dangling reference.

    figures: counts, and under `tolerated` one sentence for each tolerance that was made use of.
    """

    differences: tuple[str, ...]
    figures: Mapping[str, JsonValue] = field(default_factory=dict)
