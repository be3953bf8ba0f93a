"""The restored copy that stands beside the objects of a bucket: its own prefix, names that any store takes.

Each object lies under the hash of its key, because a prefix before a key may be longer than S3 allows, and a store
that resolves `..` or `//` would write it elsewhere. A list, written last, says which key each is and that none lacks.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from recovery.errors import DamagedError, RecoveryError
from recovery.model import File, Record
from recovery.stores.configured import identity
from recovery.stores.differ import Differences, Found
from recovery.stores.objects.bucket import THREADS, BrokenError, Bucket, Listed, Meta, MissingError, again
from recovery.stores.objects.ledger import batches, ledger
from recovery.stores.objects.take import ATTEMPTS, META_FILE, Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from recovery.model import Part
    from recovery.ports import Reader, Tell
    from recovery.stores.objects.settings import Settings

OBJECTS: Final = "objects/"
_LIST: Final = "list.jsonl"
_IDENTITY: Final = "copy-of"
_END: Final = "end"
_PLAIN: Final = Meta(key=_LIST, type="application/x-ndjson", headers={})


class Entry(Record):
    """An object of the copy: what it holds, and how it is served."""

    size: int
    sha256: str
    meta: Meta

    @property
    def name(self) -> str:
        """Its name below the prefix."""
        return name_of(self.meta.key)


def name_of(key: str) -> str:
    """Where the object of a key lies below a prefix."""
    return OBJECTS + hashlib.sha256(key.encode()).hexdigest()


def listed_in(part: Part, reader: Reader) -> Iterator[tuple[File, Meta]]:
    """Objects of a part. Raises DamagedError if its files do not fit together."""
    meta = next((file for file in part.files if file.path == META_FILE), None)
    if part.index is None or meta is None:
        raise DamagedError(f"{part.store}: the point has no list of objects; use an earlier one")
    try:
        for file_line, meta_line in zip(_lines(reader, part.index), _lines(reader, meta), strict=True):
            file, known = File.model_validate_json(file_line), Meta.model_validate_json(meta_line)
            if file.path != known.key:
                raise DamagedError(f"{part.store}: {META_FILE} has {known.key!r} where the index has {file.path!r}")
            yield file, known
    except ValueError as error:
        raise DamagedError(f"{part.store}: the point's list of objects cannot be read; use an earlier one") from error


def _lines(reader: Reader, file: File) -> Iterator[bytes]:
    return lines(reader.read(file))


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of a stream; holds one line and one piece."""
    held = b""
    for piece in pieces:
        *whole, held = (held + piece).split(b"\n")
        yield from whole
    if held:
        yield held


@dataclass(frozen=True)
class Beside:
    """The copy in a bucket. work: directory for what is too large for memory."""

    settings: Settings
    bucket: Bucket
    work: Path

    @property
    def prefix(self) -> str:
        """Where it lies."""
        return self.settings.restore_prefix

    def make(self, part: Part, reader: Reader, tell: Tell) -> None:
        """Write every object anew, delete what belongs to none, and write the list."""
        self.bucket.delete([self.prefix + _LIST])
        count = 0
        with ledger(self.work / f"{self.settings.name}.restore.sqlite") as known:
            for batch in batches(listed_in(part, reader)):
                with ThreadPoolExecutor(THREADS // 2) as pool:
                    for _ in pool.map(lambda one: self._put(one[0], one[1], reader), batch):
                        count += 1
                for file, _meta in batch:
                    known.add(Listed(name_of(file.path), 0, ""))
                tell(f"{self.settings.name}: {count} objects written")
            self.bucket.delete(
                found.key for found in self.bucket.listed(self.prefix) if not known.has(found.key[len(self.prefix) :])
            )
        say(self.bucket, self.prefix + _IDENTITY, identity(part))
        self.bucket.put(self.prefix + _LIST, -1, _PLAIN, _list(listed_in(part, reader)))

    def identity(self) -> str | None:
        """Of the part that it is a copy of; None without a copy, or with one whose making did not write it."""
        return word(self.bucket, self.prefix + _IDENTITY)

    def _put(self, file: File, meta: Meta, reader: Reader) -> None:
        self.bucket.put(self.prefix + name_of(file.path), file.size, meta, reader.read(file))

    def entries(self) -> Iterator[Entry]:
        """What the list says. Raises RecoveryError if there is no list or it is not whole."""
        # Copied here first: whoever goes through it takes hours, and no server holds an answer open for so long.
        copy = self.work / f"{self.settings.name}.list.jsonl"
        where = f"{self.bucket.where}: {self.prefix}{_LIST}"
        try:
            with self.bucket.opened(self.prefix + _LIST) as source, copy.open("wb") as target:
                target.writelines(source.pieces)
            with copy.open("rb") as text:
                yield from _entries(text, where)
        except MissingError:
            said = f"{self.bucket.where}: there is no complete copy under {self.prefix}; run restore first"
            raise RecoveryError(said) from None
        finally:
            copy.unlink(missing_ok=True)

    def compare(self, part: Part, reader: Reader) -> Found:
        """Read every object back."""
        found, figures = Differences(part.store), Figures()
        with ledger(self.work / f"{self.settings.name}.compare.sqlite") as known:
            for batch in batches(listed_in(part, reader)):
                with ThreadPoolExecutor(THREADS) as pool:
                    for (file, meta), seen in zip(batch, pool.map(lambda one: self._seen(one[0]), batch), strict=True):
                        known.add(Listed(name_of(file.path), 0, ""))
                        _differ(found, file, meta, seen)
                        if seen is not None:
                            figures.add(*seen)
            for extra in self.bucket.listed(self.prefix + OBJECTS):
                if not known.has(extra.key[len(self.prefix) :]):
                    found.add(f"{extra.key!r} is in the copy and in no restore point")
        try:
            said = sum(1 for _ in self.entries())
        except RecoveryError as error:
            found.add(str(error))
        else:
            found.figures({"listed": part.figures.get("objects")}, {"listed": said})
        found.figures(part.figures, figures.all)
        return Found(found.all, figures.all)

    def _seen(self, file: File) -> tuple[File, Meta] | None:
        try:
            return measured(self.bucket, self.prefix + name_of(file.path), file.path)
        except MissingError:
            return None

    def discard(self) -> int:
        """Delete it: the list first, so that a half of it is never taken for the whole."""
        self.bucket.delete([self.prefix + _LIST])
        return self.bucket.delete(found.key for found in self.bucket.listed(self.prefix))


def word(bucket: Bucket, key: str) -> str | None:
    """What a small object of ours says, None if there is none."""
    try:
        with bucket.opened(key) as source:
            return b"".join(islice(source.pieces, 1)).decode("ascii", "replace")
    except MissingError:
        return None


def say(bucket: Bucket, key: str, text: str) -> None:
    """Write a small object of ours."""
    bucket.put(key, -1, Meta(key=key, type="text/plain", headers={}), [text.encode()])


def measured(bucket: Bucket, key: str, called: str) -> tuple[File, Meta]:
    """Size, hash and headers of an object, under the key that it stands for. Raises MissingError."""
    found = list[tuple[File, Meta]]()

    def once() -> None:
        with bucket.opened(key) as source:
            whole, size = hashlib.sha256(), 0
            for piece in source.pieces:
                whole.update(piece)
                size += len(piece)
            file = File(path=called, size=size, sha256=whole.hexdigest(), chunks=())
            found.append((file, source.meta.model_copy(update={"key": called})))

    again(ATTEMPTS, once)
    return found[0]


def copied(bucket: Bucket, source: str, target: str, size: int, sha256: str) -> None:
    """Copy an object through this program and read the copy back: what a server says it copied may not be there.

    Raises BrokenError if the source or the copy is not what was said.
    """
    with bucket.opened(source) as opened:
        bucket.put(target, opened.size, opened.meta, opened.pieces)
    file, _ = measured(bucket, target, target)
    if (file.size, file.sha256) != (size, sha256):
        raise BrokenError(
            f"{bucket.where}: {target!r} does not hold what {source!r} held when it was compared: {file.size} bytes "
            "instead "
            f"of {size}, or another content; somebody writes there: stop the writers and run again"
        )


def _differ(found: Differences, file: File, meta: Meta, seen: tuple[File, Meta] | None) -> None:
    if seen is None:
        found.add(f"object {file.path!r} is missing")
    elif seen[0].size != file.size:
        found.add(f"object {file.path!r} has {seen[0].size} bytes, the restore point says {file.size}")
    elif seen[0].sha256 != file.sha256:
        found.add(f"object {file.path!r} has SHA-256 {seen[0].sha256}, the restore point says {file.sha256}")
    elif seen[1] != meta:
        found.add(f"object {file.path!r} is served with other headers: {seen[1].headers}, {seen[1].type}")


def _list(objects: Iterable[tuple[File, Meta]]) -> Iterator[bytes]:
    count = 0
    for file, meta in objects:
        count += 1
        yield Entry(size=file.size, sha256=file.sha256, meta=meta).model_dump_json().encode() + b"\n"
    yield json.dumps({_END: count}).encode() + b"\n"


def _entries(found: Iterable[bytes], where: str) -> Iterator[Entry]:
    count, end = 0, None
    try:
        for line in found:
            if line.startswith(b'{"end"'):
                end = json.loads(line)[_END]
                continue
            count += 1
            yield Entry.model_validate_json(line)
    except ValueError as error:
        raise RecoveryError(f"{where}: cannot be read; run restore again") from error
    if end != count:
        raise RecoveryError(f"{where}: has {count} objects and says {end}; run restore again")
