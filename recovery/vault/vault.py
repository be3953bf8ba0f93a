"""The vault: content in chunks named by their hash, and manifests that are written last."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from recovery import chunks
from recovery.errors import DamagedError, RecoveryError, UnreadableError
from recovery.model import utc
from recovery.vault import names
from recovery.vault.catalogue import AHEAD, Catalogue
from recovery.vault.envelope import seal
from recovery.vault.s3 import Bucket

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recovery.model import Chunk, File, Point, Verification
    from recovery.vault.catalogue import Latest, Listed
    from recovery.vault.settings import Target

LONGEST_RUN: Final = timedelta(days=2)
"""From the start of a run to its manifest. Pruning relies on it: see prune.py."""
_UNREADABLE: Final = "cannot be read"
_SEEN: Final = 500_000
"""Hashes of this run that are remembered, about 50 MB; beyond them the target is asked again."""


@dataclass
class Counters:
    """taken: bytes that stores gave. sent: bytes of chunks that went out, also where the target had them already.
    new, known: chunks that were stored and that were there. healed: chunks that were there wrongly, stored again."""

    taken: int = 0
    sent: int = 0
    new: int = 0
    known: int = 0
    healed: int = 0

    def add(self, other: Counters) -> None:
        """Count what another counted as well."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Vault:
    """Writer and Reader of recovery/ports.py.

    With the writer's account alone, what is there shows only after it was sent (412): up to 16 MiB for nothing, for
    each chunk that another run stored. With the reader's as well it is asked for first, and size and checksum of what
    is there are compared. Neither says that the target still holds what it took: a verification reads everything.
    resend: send every chunk, as a new version; for a target that lost or spoiled some.
    """

    def __init__(
        self, key: bytes, writer: Bucket | None = None, reader: Bucket | None = None, *, resend: bool = False
    ) -> None:
        self._key, self._writer, self._reader, self._resend = key, writer, reader, resend
        self._seen: set[bytes] = set()
        self._lock = threading.Lock()
        self._catalogue = Catalogue(reader, key) if reader else None
        self.counters = Counters()

    @classmethod
    def open(cls, target: Target, *, write: bool, resend: bool = False) -> Vault:
        """With the reader's account, and if `write` with the writer's. A target without a reader can be written to.

        Raises RecoveryError for keys that cannot be read; whether they are right shows at the first request.
        """
        writer = Bucket(target, target.writer, "writer") if write else None
        reader = Bucket(target, target.reader, "reader") if target.reader or not write else None
        return cls(target.signing_key(), writer, reader, resend=resend)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not right and was got around, one sentence each: show them, or nobody learns of it."""
        return tuple(self._catalogue.notes) if self._catalogue else ()

    @property
    def reads(self) -> bool:
        """Whether it has the reader's account."""
        return self._reader is not None

    def tampered(self, point: Point | None = None) -> tuple[str, ...]:
        """Keys of objects that were read and over which somebody laid something. point: whose chunks were read."""
        if self._catalogue is None:
            return ()
        return self._catalogue.covered.tampered(*((point.started, point.ended) if point else ()))

    def put(self, path: str, pieces: Iterable[bytes]) -> File:
        """Store a stream. What is there already is not sent again, as far as the accounts let it be known."""
        return chunks.store(path, pieces, self._keep)

    def read(self, file: File) -> Iterator[bytes]:
        """The stream again, checked. Raises DamagedError."""
        return chunks.load(file, lambda chunk: self._fetch(file, chunk))

    def publish(self, point: Point) -> None:
        """Make a restore point of what was put: its manifest, after which nothing of it changes.

        Raises RecoveryError if there is one of that id, the run took longer than LONGEST_RUN, or it is dated after the
        target's clock.
        """
        if not point.id.startswith(f"{utc(point.started.astimezone(UTC))}-"):
            raise RecoveryError(f"point {point.id} says that it began at {point.started}: its id must begin with that")
        now = self._clock()
        if max(point.started, point.first_lost) > now + AHEAD:
            raise RecoveryError(
                f"point {point.id} is dated after the target's clock, which says {utc(now)}: it would be taken for "
                "newer than all that are made until then; nothing was published; set the clocks of this machine and of "
                "the target right, then run again"
            )
        took = max(point.ended, now) - point.started
        if took > LONGEST_RUN:
            raise RecoveryError(
                f"point {point.id} took {took}; accepted are {LONGEST_RUN}, since after that pruning may delete chunks "
                "that it counts on; nothing was published; run again: what was stored now will be known then"
            )
        content = seal("manifest", point, self._key)
        if len(content) > names.MANIFEST_BYTES:
            raise RecoveryError(
                f"point {point.id}: its manifest has {len(content)} bytes, accepted are {names.MANIFEST_BYTES}; list "
                "the files of its largest part in an index"
            )
        self._publish(names.manifest_key(point.id), content, f"point {point.id}")

    def record(self, verification: Verification) -> None:
        """Keep the outcome of a verification beside its point: the newest decides what is known of it.

        Raises RecoveryError if there is one of that second, or the clocks of this machine and of the target differ.
        """
        if self._reader is not None:  # its last answer may be hours old
            self._reader.head(names.manifest_key(verification.point))
        now = self._clock()
        if abs(verification.started + timedelta(seconds=verification.seconds) - now) > AHEAD:
            raise RecoveryError(
                f"the verification of {verification.point} is dated {utc(verification.started)}, and the target's "
                f"clock says {utc(now)}: which verification is the newest could not be told; nothing was kept; set "
                "both clocks right, then run again"
            )
        moment = utc(verification.started.astimezone(UTC))
        content = seal("verification", verification, self._key)
        self._publish(names.verified_key(verification.point, moment), content, f"verification of {verification.point}")

    def points(self) -> tuple[Listed, ...]:
        """All points with their state, the oldest first."""
        return self.catalogue.points()

    def point(self, point: str) -> Point:
        """A point. Raises DamagedError if its manifest is not what was published."""
        return self.catalogue.point(point)

    def verifications(self, point: str) -> tuple[Verification, ...]:
        """Outcomes of its verifications, the oldest first."""
        return self.catalogue.verifications(point)

    def latest(self) -> Latest:
        """The newest point that is not damaged."""
        return self.catalogue.latest()

    def latest_verified(self) -> Latest:
        """The newest point whose newest verification is good."""
        return self.catalogue.latest_verified()

    @property
    def now(self) -> datetime:
        """This machine's clock or the target's, whichever is ahead: no age is told shorter than it is."""
        return max(self._clock(), datetime.now(UTC))

    @property
    def catalogue(self) -> Catalogue:
        """The points. Raises RecoveryError without the reader's account."""
        if self._catalogue is None:
            raise RecoveryError("target: it has no account `reader`, which reading needs; add its two key files")
        return self._catalogue

    def _keep(self, chunk: Chunk, content: bytes) -> None:
        digest = bytes.fromhex(chunk.sha256)
        with self._lock:
            seen = digest in self._seen
        counted = Counters(taken=len(content), known=1) if seen else self._store(chunk, content)
        with self._lock:  # a store may put several streams at once
            self.counters.add(counted)
            if len(self._seen) < _SEEN:
                self._seen.add(digest)

    def _store(self, chunk: Chunk, content: bytes) -> Counters:
        key = names.chunk_key(chunk.sha256)
        there = None if self._resend or self._reader is None else self._reader.head(key)
        right = there is not None and there.size == chunk.size and there.sha256 in (None, chunk.sha256)
        if right:
            return Counters(taken=len(content), known=1)
        done = self._writing.put(key, content, absent=there is None and not self._resend)
        if there is not None:
            self.catalogue.covered.add(key)
            self.catalogue.note(
                f"chunk {chunk.sha256}: another content lay in its place ({there.size} bytes instead of {chunk.size}); "
                "it was stored again; look for who writes to the target"
            )
        return Counters(len(content), len(content), int(done.new), int(not done.new), int(there is not None))

    def _fetch(self, file: File, chunk: Chunk) -> bytes:
        """A chunk: the newest version, or the newest right one. Raises DamagedError if there is none."""
        key, bucket = names.chunk_key(chunk.sha256), self.catalogue.bucket
        content, found = self._given(key, None, chunk)
        if content is not None:
            return content
        top = None
        for version in (version for version in bucket.versions(key) if version.key == key):
            top = top or version
            # What a broken disk does not give is not asked for under another name: each attempt may take a minute.
            skipped = version.marker or (version.latest and found.startswith(_UNREADABLE))
            content, _ = (None, "") if skipped else self._given(key, version.id, chunk)
            if content is None:
                continue
            if version is not top:
                self.catalogue.note(_covered(chunk, hidden=top.marker))
                self.catalogue.covered.add(key, top.modified if top.marker else None)
            return content
        raise DamagedError(
            f"{file.path}: chunk {bucket.name}/{key} {found}; no version of it can be read and is right; this point "
            "cannot be restored while that is so: use another one, and make a new one with every chunk sent again"
        )

    def _given(self, key: str, version: str | None, chunk: Chunk) -> tuple[bytes | None, str]:
        """See _quietly. An object that the target does not give, while it gives another one, is as good as missing.

        Raises UnreadableError where it gives nothing else either: an outage says nothing of a point.
        """
        bucket, other = self.catalogue.bucket, self.catalogue.given
        try:
            return _quietly(bucket, key, version, chunk)
        except UnreadableError:
            if other is None or bucket.get(*other, limit=names.MANIFEST_BYTES) is None:
                raise
        try:
            return _quietly(bucket, key, version, chunk)
        except UnreadableError as error:
            return None, f"{_UNREADABLE}, though {bucket.name}/{other[0]} can, so nobody knows what it holds ({error})"

    def _publish(self, key: str, content: bytes, what: str) -> None:
        done = self._writing.put(key, content)
        if done.new:
            return
        if done.repeated and self._reader and self._reader.get(key, limit=names.MANIFEST_BYTES) == content:
            return
        lost = " by an attempt of this run whose answer was lost, or before it" if done.repeated else ""
        raise RecoveryError(
            f"{what}: there is one in {self._writing.name}/{key} already, stored{lost}; it was not changed; look at it "
            "with `list`, and run again for another"
        )

    @property
    def _writing(self) -> Bucket:
        if self._writer is None:
            raise RecoveryError("target: it has no account `writer`, which storing needs; add its two key files")
        return self._writer

    def _clock(self) -> datetime:
        said = [bucket.clock for bucket in (self._writer, self._reader) if bucket and bucket.clock]
        return max(said, default=datetime.now(UTC))


def _quietly(bucket: Bucket, key: str, version: str | None, chunk: Chunk) -> tuple[bytes | None, str]:
    """A chunk's content if it is right, else None and what there is instead."""
    try:
        content = bucket.get(key, version, limit=chunk.size)
    except DamagedError:
        return None, f"is longer than {chunk.size} bytes"
    if content is None:
        return None, "is missing"
    if len(content) != chunk.size:
        return None, f"has {len(content)} bytes instead of {chunk.size}"
    right = hashlib.sha256(content).hexdigest() == chunk.sha256
    return (content, "") if right else (None, "has another content than was stored")


def _covered(chunk: Chunk, *, hidden: bool) -> str:
    if hidden:
        return f"chunk {chunk.sha256} is hidden and can be read; `prune` will show it again if a point needs it"
    return f"chunk {chunk.sha256}: another content lies over it, an older version is right; look for who writes there"
