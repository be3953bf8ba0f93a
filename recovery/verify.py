"""Restore a point into short-lived stores and compare every figure. The live stores have no part in it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from recovery.errors import DamagedError
from recovery.model import File, Verification
from recovery.within import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import JsonValue

    from recovery.model import Part, Point
    from recovery.ports import Reader, Store, Tell

CROSS: Final = "between stores"
TARGET: Final = "target"
"""Where figures stand that are of no store: what was found between stores, and in the target itself."""


@dataclass
class _Found:
    differences: list[str]
    figures: dict[str, dict[str, JsonValue]]


def verify(
    point: Point,
    scratch: tuple[Store, ...],
    reader: Reader,
    tell: Tell,
    cross_check: Callable[[Point, Reader], tuple[tuple[str, ...], dict[str, JsonValue]]] | None = None,
) -> Verification:
    """Every part: restored and compared where there is a scratch store of its name, else read back whole.

    Damage is a difference, and the other parts are looked at as well. Raises RecoveryError when a scratch store
    cannot do its part: then nothing is known of the point.
    """
    started, begun = datetime.now(UTC), time.monotonic()
    found = _Found([], {})
    by_name = {store.name: store for store in scratch}
    for number, part in enumerate(point.parts, 1):
        tell(f"{number} of {len(point.parts)}: {part.store} ({part.kind})")
        try:
            _part(part, by_name.get(part.store), reader, tell, found)
        except DamagedError as damage:
            found.differences.append(f"{part.store}: {damage}")
    if cross_check is None:
        found.figures[CROSS] = {"checked": False}
    elif not found.differences:
        tell(CROSS)
        try:
            with within(CROSS):
                differences, figures = cross_check(point, reader)
        except DamagedError as damage:
            differences, figures = (f"{damage}",), {}
        found.differences += [f"{CROSS}: {line}" for line in differences]
        found.figures[CROSS] = figures
    return Verification(
        point=point.id,
        started=started,
        seconds=time.monotonic() - begun,
        differences=tuple(found.differences),
        figures=found.figures,
    )


def _part(part: Part, store: Store | None, reader: Reader, tell: Tell, found: _Found) -> None:
    if store is None or store.kind != part.kind:
        found.figures[part.store] = {"read_back": True, "bytes": read_back(part, reader)}
        return
    with within(store.name):
        store.restore(part, reader, tell)
        compared = store.compare(part, reader)
    found.differences += [f"{part.store}: {line}" for line in compared.differences]
    found.figures[part.store] = dict(compared.figures)


def read_back(part: Part, reader: Reader) -> int:
    """Read every byte of a part, each checked against its hash → bytes. Raises DamagedError."""
    return sum(len(piece) for file in files(part, reader) for piece in reader.read(file))


def bytes_of(point: Point, reader: Reader) -> int:
    """Bytes of every stream of a point, those behind an index included: as `create` counts them."""
    return sum(file.size for part in point.parts for file in files(part, reader))


def files(part: Part, reader: Reader) -> Iterator[File]:
    """Every file of a part: its streams, its index, and all that the index names."""
    yield from part.files
    if part.index is not None:
        yield part.index
        yield from indexed(part.index, reader)


def indexed(index: File, reader: Reader) -> Iterator[File]:
    """The files that an index names. Raises DamagedError if a line of it is none."""
    for line in _lines(reader.read(index)):
        try:
            yield File.model_validate_json(line)
        except ValueError as error:
            raise DamagedError(f"{index.path}: a line of it is no entry: {line[:80]!r}") from error


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    held = b""
    for piece in pieces:
        *whole, held = (held + piece).split(b"\n")
        yield from (line for line in whole if line)
    if held:
        yield held
