"""The file of keys in a restore point, read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recovery.errors import DamagedError
from recovery.stores.redis_keys.content import Digest, Piece
from recovery.stores.redis_keys.read import Known, called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.model import File, Part
    from recovery.ports import Reader
    from recovery.stores.differ import Differences

KEYS_FILE: Final = "keys.jsonl"


def file_of(part: Part) -> File:
    found = next((file for file in part.files if file.path == KEYS_FILE), None)
    if found is None:
        raise DamagedError(f"{part.store}: the restore point has no {KEYS_FILE}; use an earlier one")
    return found


def pieces(reader: Reader, file: File) -> Iterator[Piece]:
    held = b""
    try:
        for chunk in reader.read(file):
            *whole, held = (held + chunk).split(b"\n")
            yield from map(Piece.model_validate_json, whole)
    except ValueError as error:
        raise DamagedError(f"{file.path}: a line of it cannot be read; use an earlier restore point") from error
    if held:
        raise DamagedError(f"{file.path}: its last line is cut off; use an earlier restore point")


def known(pieces: Iterator[Piece]) -> Iterator[tuple[bytes, Known]]:
    """Keys of the file. One that was begun anew, because it was written while it was read, counts once."""
    known = Known(Digest(""), None)
    for piece in pieces:
        if piece.first:
            known = Known(Digest(piece.kind), piece.expires)
        for item in piece.content:
            known.digest.add(item)
        if piece.last:
            yield piece.name, known


def differ(found: Differences, key: bytes, expected: Known, measured: Known) -> None:
    if measured.expires != expected.expires:
        found.add(f"{called(key)} expires at {measured.expires} ms, the restore point says {expected.expires}")
    if measured.digest.kind != expected.digest.kind:
        found.add(f"{called(key)} is a {measured.digest.kind}, the restore point says {expected.digest.kind}")
    elif measured.digest.count != expected.digest.count:
        found.add(f"{called(key)} has {measured.digest.count} items, the restore point says {expected.digest.count}")
    elif measured.digest.value(key) != expected.digest.value(key):
        found.add(f"{called(key)} of type {expected.digest.kind} holds another value than the restore point says")


def gone_by_itself(expected: Known, now: int) -> bool:
    """Whether a key is not missed at a moment (ms): it expired, or holds nothing but fields that expire."""
    return expected.digest.count == 0 or (expected.expires is not None and expected.expires <= now)
