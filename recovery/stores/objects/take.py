"""Reads a bucket into a vault.

The bucket is listed twice, with both versions of the listing. What the second shows otherwise than it was read was
written meanwhile, and is read again; what only one of them shows is never left unsaid.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.model import CHUNK_BYTES, File, Part
from recovery.stores.objects.bucket import THREADS, BrokenError, Bucket, Meta, MissingError
from recovery.stores.objects.ledger import Ledger, Row, batches, ledger
from recovery.stores.objects.settings import REPLACED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import JsonValue

    from recovery.model import Mode
    from recovery.ports import Tell, Writer
    from recovery.stores.objects.settings import Settings

META_FILE: Final = "meta.jsonl"
INDEX_FILE: Final = "index.jsonl"
ATTEMPTS: Final = 4
_SMALL: Final = CHUNK_BYTES // 8
_LARGE_AT_ONCE: Final = 2
_NAMED: Final = 5
LEFT_OUT: Final = (
    "tags, access lists, `Expires` and older versions of objects: content, type and other headers are kept"
)


def take(settings: Settings, work: Path, writer: Writer, mode: Mode, tell: Tell) -> Part:
    """Put every object into the vault. See Store.take."""
    bucket = Bucket(settings)
    skipped = (settings.restore_prefix, REPLACED_PREFIX)
    with ledger(work / f"{settings.name}.take.sqlite") as known:
        first = (found for found in bucket.listed() if not found.key.startswith(skipped))
        for found in first:
            known.add(found)
        reading = Reading(bucket, writer, settings.name, mode, tell)
        reading.rows(known, known.unread())
        for found in bucket.listed(old=True):
            if not found.key.startswith(skipped):
                known.see(found)
        if mode == "quiesced":
            _nothing_changed(settings.name, known)
        reading.careful = True
        reading.rows(known, known.changed())
        return _part(settings, known, writer, reading)


class Reading:
    """Reads objects with several threads. careful: look whether one was written while it was read."""

    def __init__(self, bucket: Bucket, writer: Writer, name: str, mode: Mode, tell: Tell) -> None:
        self.careful = False
        self.server = ""
        self.left_out: list[str] = []
        self._bucket, self._writer, self._name, self._mode, self._tell = bucket, writer, name, mode, tell
        self._large = BoundedSemaphore(_LARGE_AT_ONCE)
        self._count = 0

    def rows(self, known: Ledger, rows: Iterable[Row]) -> None:
        """Read objects and note them."""
        for batch in batches(rows):
            with ThreadPoolExecutor(THREADS) as pool:
                for row, found in zip(batch, pool.map(self._one, batch), strict=True):
                    if found is not None:
                        known.read(found)
                    elif row.file is None:
                        known.drop(row.key)
            self._count += len(batch)
            self._tell(f"{self._name}: {self._count} objects read")

    def _one(self, row: Row) -> Row | None:
        """What was read; None if the object is gone or cannot be named: noted, or an error where nobody writes."""
        if any(part in (".", "..") for part in row.key.split("/")):
            self._without(row, "has `.` or `..` in its path, which cannot be asked for")
            return None
        try:
            if row.size <= _SMALL:
                return self._whole(row)
            # Each holds up to two chunks: so many at once, whatever the number of threads.
            with self._large:
                return self._whole(row)
        except MissingError:
            self._without(row, "went away between being listed and being read")
            return None

    def _without(self, row: Row, why: str) -> None:
        sentence = f"object {row.key!r}: {why}"
        if self._mode == "quiesced":
            raise RecoveryError(
                f"{self._name}: {sentence}; a quiesced point holds every object: find who deletes objects while "
                "writers are "
                "stopped, or rename this one, or take the point with mode online"
            )
        # Of one that was read before it was written again, the earlier content is held.
        if row.file is None:
            self.left_out.append(sentence)

    def _whole(self, row: Row) -> Row:
        for left in range(ATTEMPTS - 1, -1, -1):
            try:
                found = self._once(row)
            except BrokenError:
                if not left:
                    raise
                continue
            if not self.careful or self._bucket.etag(row.key) == found.etag:
                return found
        raise RecoveryError(
            f"{self._name}: object {row.key!r} was written each of the {ATTEMPTS} times that it was read; stop its "
            "writer, "
            "or take the point with mode quiesced"
        )

    def _once(self, row: Row) -> Row:
        with self._bucket.opened(row.key) as source:
            file = self._writer.put(row.key, source.pieces)
            if file.size != source.size:
                raise BrokenError(
                    f"{self._name}: object {row.key!r}: {file.size} bytes were kept, the store said {source.size}; "
                    "run again"
                )
            if self._mode == "quiesced" and (source.size, source.etag) != (row.size, row.etag):
                raise RecoveryError(
                    f"{self._name}: object {row.key!r} was listed with {row.size} bytes and read with {source.size}, "
                    "or with "
                    "another tag: it was written while writers should be stopped, or the store is damaged; look at "
                    "it and "
                    "run again"
                )
            self.server = self.server or source.server
            return Row(row.key, file.size, source.etag, file.model_dump_json(), source.meta.model_dump_json())


def _nothing_changed(name: str, known: Ledger) -> None:
    """Raises RecoveryError if the second listing differs from what was read."""
    lost, changed = (list(_first(rows)) for rows in (known.vanished(), known.changed()))
    if lost or changed:
        raise RecoveryError(
            f"{name}: the bucket changed while writers should be stopped, or its listing cannot be relied on: gone "
            f"{lost or 'none'}, new or written {changed or 'none'} (at most {_NAMED} of each are named); find who "
            "writes and "
            "run again, or take the point with mode online"
        )


def _first(rows: Iterator[Row]) -> Iterator[str]:
    for _, row in zip(range(_NAMED), rows, strict=False):
        yield row.key


def _part(settings: Settings, known: Ledger, writer: Writer, reading: Reading) -> Part:
    figures = Figures()

    def lines() -> Iterator[bytes]:
        for row in known.rows():
            file = File.model_validate_json(row.file or "")
            figures.add(file, Meta.model_validate_json(row.meta or ""))
            yield file.model_dump_json().encode() + b"\n"

    index = writer.put(INDEX_FILE, lines())
    meta = writer.put(META_FILE, ((row.meta or "").encode() + b"\n" for row in known.rows()))
    return Part(
        store=settings.name,
        kind=settings.kind,
        version=reading.server or "unknown",
        files=(meta,),
        index=index,
        figures=figures.all,
        left_out=(LEFT_OUT, *reading.left_out),
    )


class Figures:
    """What two copies of a bucket are compared by. Objects are added in the order of their keys' bytes."""

    def __init__(self) -> None:
        self._count = self._bytes = 0
        self._content, self._headers = hashlib.sha256(), hashlib.sha256()

    def add(self, file: File, meta: Meta) -> None:
        """One object more."""
        self._count += 1
        self._bytes += file.size
        self._content.update(json.dumps([file.path, file.size, file.sha256]).encode() + b"\n")
        self._headers.update(meta.model_dump_json().encode() + b"\n")

    @property
    def all(self) -> dict[str, JsonValue]:
        """Number, bytes, hash over key, size and SHA-256 of each, hash over the headers of each."""
        return {
            "objects": self._count,
            "bytes": self._bytes,
            "content": self._content.hexdigest(),
            "headers": self._headers.hexdigest(),
        }
