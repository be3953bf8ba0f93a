"""Figures of a database: what a restored copy must have, too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from recovery.errors import DamagedError
from recovery.model import Record

if TYPE_CHECKING:
    from recovery.model import Part


class Shape(Record):
    """SHA-256 of a table's columns, constraints and indexes.

    Names, types and keys, not expressions: PostgreSQL writes some of those in other words after it has read them back.
    """

    columns: str
    constraints: str
    indexes: str


class Table(Shape):
    """rows: count. hash: sum of the rows' hashes, in decimal. largest: identity or integer key → its largest value."""

    rows: int
    hash: str
    largest: dict[str, int | None]


class Partitioned(Shape):
    """A table whose rows lie in its partitions, which have figures of their own."""

    partitions: int


class Sequence(Record):
    """What a sequence was at when the dump began, and when it had ended.

    Sequences belong to no snapshot: under writes the dump holds a value between these two. Without, both are equal.
    """

    last_value: int
    is_called: bool
    last_value_after: int
    is_called_after: bool


class LargeObjects(Record):
    """bytes: of all together. hash: SHA-256 over number and content of each."""

    count: int
    bytes: int
    hash: str


class Figures(Record):
    """All figures of one database.

    server: release, like 15.14. provider: `c` (of the C library), `i` (ICU) or `b` (built in); locale: the name that
    the last two have. Names of tables, views and sequences: schema and name, quoted as SQL needs them. objects: what →
    how many. settings: those of the database, `name=value`. roles: who owns something or has been granted something.
    """

    server: str
    major: int
    encoding: str
    collate: str
    ctype: str
    provider: str
    locale: str | None
    settings: tuple[str, ...]
    extensions: dict[str, str]
    schemas: tuple[str, ...]
    tables: dict[str, Table]
    partitioned: dict[str, Partitioned]
    excluded: tuple[str, ...]
    views: tuple[str, ...]
    foreign_tables: tuple[str, ...]
    sequences: dict[str, Sequence]
    roles: tuple[str, ...]
    foreign_keys: int
    invalid_indexes: tuple[str, ...]
    large_objects: LargeObjects
    objects: dict[str, int]

    def as_json(self) -> dict[str, JsonValue]:
        """As a part of a manifest holds them."""
        found: dict[str, JsonValue] = self.model_dump(mode="json")
        return found


def figures_of(part: Part) -> Figures:
    """The figures of a part. Raises DamagedError if they are of another shape."""
    try:
        return Figures.model_validate_json(json.dumps(part.figures))
    except ValidationError as error:
        first = error.errors()[0]
        raise DamagedError(
            f"store {part.store}: the manifest's figures are not those of a database "
            f"({'.'.join(map(str, first['loc']))}: {first['msg']}); use another point, or the program that made this "
            f"one"
        ) from None
