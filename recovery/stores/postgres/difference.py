"""Holds a restored copy against the figures of its source. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from recovery.stores.postgres.model import Partitioned, Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Sequence as Several

    from pydantic import JsonValue

    from recovery.stores.postgres.model import Figures, Sequence

_PLAIN: Final = ("encoding", "collate", "ctype", "provider", "locale")
_NAMES: Final = {
    "settings": "setting",
    "schemas": "schema",
    "excluded": "excluded table",
    "views": "view",
    "foreign_tables": "foreign table",
}
_SHAPE: Final = ("columns", "constraints", "indexes")
NOT_COMPARED: Final = ("server: a copy may be of a newer release", "roles: everything belongs to whoever restored")
OF_ONE_MAJOR: Final = (
    "versions of extensions",
    "shape of tables",
    "counts of objects",
    "number of foreign keys",
    "provider and locale of the database",
)
"""What another major version may show in other words."""


@dataclass(frozen=True)
class Comparison:
    """See Compared in recovery/ports.py. figures: those of the copy, and `not_compared`."""

    differences: tuple[str, ...]
    figures: Mapping[str, JsonValue]


def compare(store: str, wanted: Figures, found: Figures) -> Comparison:
    """wanted: of the source. found: of the copy."""
    one_major = wanted.major == found.major
    lines = [
        *_plain(wanted, found, one_major=one_major),
        *_extensions(wanted, found, versions=one_major),
        *_tables(wanted.tables, found.tables, shapes=one_major),
        *_tables(wanted.partitioned, found.partitioned, shapes=one_major),
        *_sequences(wanted.sequences, found.sequences),
        *(f"index {name}: valid in the source or not there, invalid in the copy" for name in found.invalid_indexes),
    ]
    skipped = list(NOT_COMPARED) + ([] if one_major else list(OF_ONE_MAJOR))
    figures: dict[str, JsonValue] = found.as_json() | {"not_compared": [*skipped]}
    return Comparison(tuple(f"{store}: {line}" for line in lines), figures)


def _plain(wanted: Figures, found: Figures, *, one_major: bool) -> list[str]:
    lines = []
    for name in _PLAIN if one_major else _PLAIN[:1]:
        lines += _unequal("database", name, getattr(wanted, name), getattr(found, name))
    for name, kind in _NAMES.items():
        lines += _present(kind, getattr(wanted, name), getattr(found, name))
    for name in ("count", "bytes", "hash"):
        lines += _unequal(
            "large objects", name, getattr(wanted.large_objects, name), getattr(found.large_objects, name)
        )
    if one_major:
        lines += _unequal("database", "foreign keys", wanted.foreign_keys, found.foreign_keys)
        for name in sorted({*wanted.objects, *found.objects}):
            lines += _unequal("database", name, wanted.objects.get(name, 0), found.objects.get(name, 0))
    return lines


def _extensions(wanted: Figures, found: Figures, *, versions: bool) -> list[str]:
    lines = _present("extension", tuple(wanted.extensions), tuple(found.extensions))
    for name in sorted(wanted.extensions.keys() & found.extensions.keys()) if versions else ():
        lines += _unequal(f"extension {name}", "version", wanted.extensions[name], found.extensions[name])
    return lines


def _tables(
    wanted: Mapping[str, Table] | Mapping[str, Partitioned],
    found: Mapping[str, Table] | Mapping[str, Partitioned],
    *,
    shapes: bool,
) -> list[str]:
    lines = _present("table", tuple(wanted), tuple(found))
    for name in sorted(wanted.keys() & found.keys()):
        lines += _table(f"table {name}", wanted[name], found[name], shapes=shapes)
    return lines


def _table(what: str, wanted: Table | Partitioned, found: Table | Partitioned, *, shapes: bool) -> list[str]:
    lines = []
    if isinstance(wanted, Table) and isinstance(found, Table):
        lines += _unequal(what, "rows", wanted.rows, found.rows)
        lines += _unequal(what, "content hash", wanted.hash, found.hash)
        for key in sorted({*wanted.largest, *found.largest}):
            lines += _unequal(what, f"largest {key}", wanted.largest.get(key), found.largest.get(key))
    elif isinstance(wanted, Partitioned) and isinstance(found, Partitioned):
        lines += _unequal(what, "partitions", wanted.partitions, found.partitions)
    for name in _SHAPE if shapes else ():
        lines += _unequal(what, f"hash of its {name}", getattr(wanted, name), getattr(found, name))
    return lines


def _sequences(wanted: Mapping[str, Sequence], found: Mapping[str, Sequence]) -> list[str]:
    lines = _present("sequence", tuple(wanted), tuple(found))
    for name in sorted(wanted.keys() & found.keys()):
        lines += _sequence(f"sequence {name}", wanted[name], found[name])
    return lines


def _sequence(what: str, wanted: Sequence, found: Sequence) -> list[str]:
    if (wanted.last_value, wanted.is_called) == (wanted.last_value_after, wanted.is_called_after):
        return [
            *_unequal(what, "last_value", wanted.last_value, found.last_value),
            *_unequal(what, "is_called", wanted.is_called, found.is_called),
        ]
    low, high = sorted((wanted.last_value, wanted.last_value_after))
    if low <= found.last_value <= high:
        return []
    return [f"{what}: last_value is {found.last_value} in the copy, {low} to {high} in the source while it was dumped"]


def _present(kind: str, wanted: Several[str], found: Several[str]) -> list[str]:
    return [
        *(f"{kind} {name}: in the source, missing in the copy" for name in sorted({*wanted} - {*found})),
        *(f"{kind} {name}: not in the source, but in the copy" for name in sorted({*found} - {*wanted})),
    ]


def _unequal(what: str, figure: str, wanted: object, found: object) -> list[str]:
    return [] if wanted == found else [f"{what}: {figure} is {found} in the copy, {wanted} in the source"]
