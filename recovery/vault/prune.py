"""Deletes points that the rule no longer keeps, and chunks that no point needs: beside a running `create`, and so that
a run that is killed anywhere leaves nothing that the next one does not put right.

A chunk is deleted in two steps. First it is hidden behind a delete marker, which keeps its content: a `create` that
meets it from then on stores it again. A run that is GRACE later looks once more: if a point needs it by now, because
its `create` had met the chunk before it was hidden, it is shown again; if none does, it is deleted. This is safe since
nobody publishes a point LONGEST_RUN after its start, which is less than GRACE. Reading gets at hidden content all the
while.

A chunk that an older point stored was locked then: its lock is extended to that of the newest point that needs it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final

from recovery.errors import DamagedError, RecoveryError
from recovery.model import File
from recovery.vault import names
from recovery.vault.covered import may_be_pruned
from recovery.vault.needed import needed_in
from recovery.vault.retention import Candidate, Rule, expired
from recovery.vault.s3 import Bucket
from recovery.vault.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from recovery.ports import Tell
    from recovery.vault.answers import Version
    from recovery.vault.needed import Needed
    from recovery.vault.settings import Target

GRACE: Final = timedelta(days=7)
_SLACK: Final = timedelta(hours=1)
"""Between the start of a run and what it stores, and between two clocks."""
_LONGEST_LINE: Final = 64 * 1024**2


@dataclass(frozen=True)
class Pruned:
    """points: ids that were deleted. chunks, bytes: deleted for good, probes and older versions included. hidden:
    chunks that a later run deletes. shown: chunks that were hidden and are needed. tampered: objects that somebody else
    hid, or laid something over. extended: chunks whose lock ended before that of a point that needs them. locked:
    versions that nobody needs and whose lock has not ended. Of a dry run: what would be. notes: what people must know,
    one sentence each."""

    points: tuple[str, ...] = ()
    chunks: int = 0
    bytes: int = 0
    hidden: int = 0
    shown: int = 0
    tampered: int = 0
    extended: int = 0
    locked: int = 0
    notes: tuple[str, ...] = ()


def prune(
    target: Target,
    *,
    rule: Rule,
    drop: Collection[str] = (),
    dry_run: bool = False,
    work: Path | None = None,
    tell: Tell,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Pruned:
    """One run with the pruner's account. drop: ids of damaged points to delete as well. work: see needed_in.

    Time is this machine's or the target's, whichever is behind: a clock that jumps ahead makes nothing old.
    Raises RecoveryError if the account lacks a right, or a point is damaged: then no chunk is deleted, since nobody
    knows what that point needs.
    """
    bucket = Bucket(target, target.pruner, "pruner")
    next(bucket.versions(names.POINTS), None)
    now = min(clock(), bucket.clock or datetime.min.replace(tzinfo=UTC))
    lasting = timedelta(days=target.retention_days)
    run = Pruning(bucket, target.signing_key(), now, lasting, tell=tell, dry_run=dry_run, work=work)
    return run.whole(rule, drop)


@dataclass
class Pruning:
    """A run at a moment. lasting: for how long the bucket locks new objects. work: see needed_in."""

    bucket: Bucket
    key: bytes
    now: datetime
    lasting: timedelta
    tell: Tell
    dry_run: bool = False
    work: Path | None = None
    done: Pruned = field(default_factory=Pruned)

    def __post_init__(self) -> None:
        self._vault = Vault(self.key, reader=self.bucket)
        self._ended = dict[float, datetime]()

    def whole(self, rule: Rule, drop: Collection[str] = ()) -> Pruned:
        """Points, then chunks, then what trials left behind."""
        gone = self.points(rule, drop)
        with needed_in(self.work) as needed:
            self.needed(needed, gone if self.dry_run else frozenset())
            self.tell(f"{needed.count()} chunks are needed")
            self.chunks(needed)
        self._old(names.PROBES)
        tampered = self.done.tampered + len(self._vault.tampered())
        return replace(self.done, tampered=tampered, notes=(*self.done.notes, *self._vault.notes))

    def points(self, rule: Rule, drop: Collection[str] = ()) -> frozenset[str]:
        """Delete points, each manifest first. Returns their ids."""
        listed = self._vault.points()
        damaged = {point.id for point in listed if point.state == "damaged"}
        if unknown := sorted(set(drop) - damaged):
            raise RecoveryError(
                f"{', '.join(unknown)}: not a damaged point; accepted to drop are: "
                f"{', '.join(sorted(damaged)) or 'none, since none is damaged'}"
            )
        candidates = [Candidate(p.id, p.started, p.id not in damaged, p.state == "verified") for p in listed]
        chosen = {*expired(candidates, rule, self.now), *drop}
        candidates = [replace(c, locked_until=self._lock(c.id) if c.id in chosen else None) for c in candidates]
        unlocked = {c.id for c in candidates if c.locked_until is None or c.locked_until <= self.now}
        doomed = sorted({*expired(candidates, rule, self.now), *(set(drop) & unlocked)})
        for point in doomed:
            self.tell(f"deleting point {point}")
            self._delete_point(point)
            self.done = replace(self.done, points=(*self.done.points, point))
        if chosen - unlocked:
            self._note(f"{len(chosen - unlocked)} points are past their time and stay until their lock ends")
        self._leftovers(frozenset(doomed))
        return frozenset(doomed)

    def needed(self, needed: Needed, gone: frozenset[str] = frozenset()) -> None:
        """Add the chunks of all points, read from the target anew. gone: ids that do not count.

        Raises RecoveryError if a point or an index is damaged.
        """
        for listed in self._vault.points():
            if listed.id in gone:
                continue
            began = listed.started.timestamp()
            self._ended[began] = listed.ended or listed.started
            try:
                for file in self._files(listed.id):
                    for chunk in file.chunks:
                        needed.add(bytes.fromhex(chunk.sha256), began)
            except DamagedError as error:
                raise RecoveryError(
                    f"no chunk is deleted, since point {listed.id} is damaged and nobody knows what it needs: {error}. "
                    f"{len(self.done.points)} points were deleted. If nothing more is expected of it, drop it by its id"
                ) from error

    def chunks(self, needed: Needed) -> None:
        """Show, hide and delete chunks: see the head of this file."""
        strange = unlocked = 0
        for key, group in groupby(self.bucket.versions(names.CHUNKS), lambda version: version.key):
            versions = list(group)
            chunk = names.chunk_of(key)
            if chunk is None:
                strange += 1
            elif (began := needed.began(bytes.fromhex(chunk))) is not None:
                shown = self._show(key, versions)
                point = datetime.fromtimestamp(began, UTC)
                hidden_at = versions[0].modified if versions[0].marker else point
                by_others = not may_be_pruned(hidden_at, point, self._ended[began])
                self.done = replace(self.done, tampered=self.done.tampered + by_others)
                until = point + self.lasting
                unlocked += shown is not None and not self._extend(shown, until)
            elif versions[0].marker:
                self._bury(versions)
            elif self.now - versions[0].modified >= max(GRACE, self.lasting):
                self._require_versions(versions[0])
                self._delete(key)
                self.done = replace(self.done, hidden=self.done.hidden + 1)
        if unlocked:
            self._note(
                f"{unlocked} chunks are locked for less time than the points that need them; the pruner's account "
                "needs s3:PutObjectRetention to extend that"
            )
        if strange:
            self._note(
                f"{strange} objects below {names.CHUNKS} are no chunks and were left alone; look for their writer"
            )

    def _show(self, key: str, versions: Sequence[Version]) -> Version | None:
        content = [version for version in versions if not version.marker]
        if not content:
            self._note(f"{self.bucket.name}/{key} is needed by a point and is missing; verify the points that are kept")
            return None
        if versions[0].marker:
            for version in versions[: versions.index(content[0])]:
                self._delete(key, version.id)
            self.done = replace(self.done, shown=self.done.shown + 1)
        return content[0]

    def _extend(self, version: Version, until: datetime) -> bool:
        """Lock a chunk for as long as a point locks what it is the first to store; false if the account may not."""
        if version.modified + self.lasting >= until - _SLACK or until <= self.now:
            return True
        head = self.bucket.head(version.key, version.id)
        if head is None or head.locked_until is None or head.locked_until >= until - _SLACK:
            return True
        self.done = replace(self.done, extended=self.done.extended + 1)
        return self.dry_run or self.bucket.extend(version.key, version.id, until)

    def _bury(self, versions: Sequence[Version]) -> None:
        content = [version for version in versions if not version.marker]
        if content and self.now - versions[0].modified < GRACE:
            return
        erased = [self._erase(version) for version in content]
        if not all(erased):
            return
        for version in versions:
            if version.marker:
                self._erase(version)
        self.done = replace(self.done, chunks=self.done.chunks + bool(content))

    def _erase(self, version: Version) -> bool:
        """Delete a version for good, unless it is locked; false if it is."""
        self._require_versions(version)
        if not version.marker:
            head = self.bucket.head(version.key, version.id)
            if head is not None and head.locked_until is not None and head.locked_until > self.now:
                self.done = replace(self.done, locked=self.done.locked + 1)
                return False
        self._delete(version.key, version.id)
        self.done = replace(self.done, bytes=self.done.bytes + version.size)
        return True

    def _delete_point(self, point: str) -> None:
        # Without its manifest there is no point, and what is left of it is a leftover for the next run.
        objects = sorted(self.bucket.versions(names.folder(point)), key=lambda v: not names.is_manifest(v.key))
        for version in objects:
            if not self._erase(version) and names.is_manifest(version.key):
                return

    def _leftovers(self, gone: frozenset[str]) -> None:
        """What is left of points without a manifest: a run was killed in between, or its lock ends later."""
        for point, group in groupby(self.bucket.versions(names.POINTS), lambda version: names.point_of(version.key)):
            objects = list(group)
            there = any(names.is_manifest(version.key) and not version.marker for version in objects)
            if point is not None and point not in gone and not there:
                for version in objects:
                    self._erase(version)

    def _old(self, prefix: str) -> None:
        for version in self.bucket.versions(prefix):
            if self.now - version.modified >= max(GRACE, self.lasting):
                self._erase(version)

    def _lock(self, point: str) -> datetime | None:
        """When the last lock of its manifest ends."""
        key = names.manifest_key(point)
        heads = [self.bucket.head(key, version.id) for version in self.bucket.versions(key) if not version.marker]
        return max((head.locked_until for head in heads if head and head.locked_until), default=None)

    def _files(self, point: str) -> Iterator[File]:
        for part in self._vault.point(point).parts:
            yield from part.files
            if part.index is not None:
                yield part.index
                yield from self._index(part.index)

    def _index(self, index: File) -> Iterator[File]:
        for line in lines(self._vault.read(index)):
            try:
                yield File.model_validate_json(line)
            except ValueError:
                raise DamagedError(f"index {index.path}: a line of it is no file") from None

    def _delete(self, key: str, version: str | None = None) -> None:
        if not self.dry_run:
            self.bucket.delete(key, version)

    def _require_versions(self, version: Version) -> None:
        if version.id in ("", "null"):
            raise RecoveryError(
                f"{self.bucket.name}/{version.key} was stored without a version: the bucket keeps none, and a chunk "
                "could be deleted while a run counts on it; use a bucket with object lock"
            )

    def _note(self, sentence: str) -> None:
        self.done = replace(self.done, notes=(*self.done.notes, sentence))


def lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Lines of a stream, without their ends. Raises DamagedError for one of more than 64 MiB."""
    held = b""
    for piece in pieces:
        *whole, held = (held + piece).split(b"\n")
        yield from (line for line in whole if line)
        if len(held) > _LONGEST_LINE:
            raise DamagedError(f"a line of more than {_LONGEST_LINE} bytes: this is no index")
    if held:
        yield held
