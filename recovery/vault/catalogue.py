"""The points of a vault, read and checked. One that is damaged is listed as such and hides no other.

Reads go by versions: who holds the writer's key can put another version over an object, and who holds the pruner's
can hide one. Neither takes away what was stored first, so the newest version that is genuine counts, and whatever
lies over it is noted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from recovery.errors import DamagedError, RecoveryError, UnreadableError
from recovery.model import Point, Record, Verification, utc
from recovery.vault import names
from recovery.vault.covered import Covered
from recovery.vault.envelope import SignatureError, unseal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recovery.vault.answers import Version
    from recovery.vault.s3 import Bucket

State = Literal["verified", "unverified", "failed", "damaged"]
_Kind = TypeVar("_Kind", bound=Record)

AHEAD: Final = timedelta(hours=1)
"""By how much a point may be dated after the target's clock."""


_NOTES: Final = 1000
"""A thousand sentences call somebody as well as a million do."""


@dataclass(frozen=True)
class Listed:
    """A point as a list shows it. started: as its id says. ended: None if it is damaged. state: by its newest
    verification. verified: when the newest verification began, None without any. damage: what is wrong with it.
    ahead: it is dated after the target's clock, so a clock was wrong and nobody knows of what moment it is. foreign:
    its damage is that another key than this signing key signed it."""

    id: str
    started: datetime
    state: State
    ended: datetime | None = None
    verified: datetime | None = None
    damage: str = ""
    ahead: bool = False
    foreign: bool = False


@dataclass(frozen=True)
class Latest:
    """The newest point of its kind, None if there is none, and the damaged ones that were passed over.

    One that is dated ahead is it only where there is no other: for as long it would be taken for newer than all that
    are made, and what was written since would be neither verified nor restored.
    """

    point: Listed | None
    damaged: tuple[Listed, ...] = ()


@dataclass
class Catalogue:
    """notes: what is not right and was got around, one sentence each; for people to read. covered: what lies over
    objects. given: key and version of the manifest that the target gave last, None before the first."""

    bucket: Bucket
    key: bytes
    notes: list[str] = field(default_factory=list)
    covered: Covered = field(default_factory=Covered)
    given: tuple[str, str] | None = None

    def points(self) -> tuple[Listed, ...]:
        """All points, the oldest first. One whose manifest alone the target does not give is damaged.

        Raises RecoveryError if they cannot be listed, UnreadableError if no manifest can be read.
        """
        found, unreadable = [], list[UnreadableError]()
        for point, versions in groupby(self.bucket.versions(names.POINTS), lambda version: names.point_of(version.key)):
            objects = list(versions)
            if point is None:
                self.note(
                    f"{objects[0].key} and {len(objects) - 1} more belong to no point; look for who put them there"
                )
            elif any(names.is_manifest(version.key) and not version.marker for version in objects):
                try:
                    found.append(self._listed(point, objects))
                except UnreadableError as error:
                    unreadable.append(error)
                    found.append(Listed(point, names.moment_of(point), "damaged", damage=str(error)))
        if unreadable and len(unreadable) == len(found):
            raise unreadable[0]
        return tuple(sorted(map(self._dated, found), key=lambda listed: listed.id))

    def point(self, point: str) -> Point:
        """A point. Raises DamagedError if its manifest is not what was published, RecoveryError without one."""
        return self._point(point, list(self.bucket.versions(names.folder(_id(point)))))

    def verifications(self, point: str) -> tuple[Verification, ...]:
        """Outcomes of its verifications, the oldest first. One that is damaged counts for nothing and is noted."""
        return self._verifications(point, list(self.bucket.versions(names.folder(_id(point)))))

    def latest(self) -> Latest:
        """The newest point that is not damaged."""
        return _latest(self.points(), lambda listed: listed.state != "damaged")

    def latest_verified(self) -> Latest:
        """The newest point whose newest verification is good."""
        return _latest(self.points(), lambda listed: listed.state == "verified")

    def note(self, sentence: str) -> None:
        """Keep a note, each once."""
        if sentence not in self.notes and len(self.notes) < _NOTES:
            self.notes.append(sentence)

    def _dated(self, listed: Listed) -> Listed:
        """The target's clock is the one that all runs have in common."""
        now = self.bucket.clock or datetime.now(UTC)
        if listed.started <= now + AHEAD:
            return listed
        self.note(
            f"point {listed.id} is dated {_span(listed.started - now)} after the target's clock: a clock was wrong "
            "when it was made, or the target's is behind. It is kept, and not taken for the newest while there is "
            "another; set the clocks right, and run `create` and `verify`"
        )
        return replace(listed, ahead=True)

    def _listed(self, point: str, objects: Sequence[Version]) -> Listed:
        started = names.moment_of(point)
        try:
            whole = self._point(point, objects)
        except DamagedError as error:
            foreign = isinstance(error, SignatureError)
            return Listed(id=point, started=started, state="damaged", damage=str(error), foreign=foreign)
        done = self._verifications(point, objects)
        state: State = "unverified" if not done else "verified" if done[-1].good else "failed"
        return Listed(point, started, state, whole.ended, done[-1].started if done else None)

    def _point(self, point: str, objects: Iterable[Version]) -> Point:
        key = names.manifest_key(point)
        versions = [version for version in objects if version.key == key]
        if not any(not version.marker for version in versions):
            raise RecoveryError(f"there is no point {point} in {self.bucket.name}; `list` shows those that there are")
        return self._genuine(versions, "manifest", Point, lambda found: found.id == point)

    def _verifications(self, point: str, objects: Iterable[Version]) -> tuple[Verification, ...]:
        found = []
        for key, versions in groupby((v for v in objects if names.is_verified(v.key)), lambda version: version.key):
            there = list(versions)
            if all(version.marker for version in there):
                continue
            try:
                found.append(self._genuine(there, "verification", Verification, _of(point, key)))
            except DamagedError as error:
                self.note(str(error))
                self.covered.add(key)
        # One that is dated ahead must not outvote those that are made until then.
        now = (self.bucket.clock or datetime.now(UTC)) + AHEAD
        return tuple(sorted(found, key=lambda verification: (verification.started <= now, verification.started)))

    def _genuine(
        self, versions: Sequence[Version], name: str, kind: type[_Kind], belongs: Callable[[_Kind], bool]
    ) -> _Kind:
        """The newest genuine version, each looked at. Raises DamagedError, of the newest, if none is."""
        first: DamagedError | None = None
        for version in versions:
            if version.marker:
                continue
            where = f"{self.bucket.name}/{version.key}"
            try:
                found = unseal(name, self._content(version), self.key, kind, where)
                if not belongs(found):
                    raise DamagedError(f"{where}: it is a genuine {name} of another point; look for who put it there")  # noqa: TRY301  # an older version may be the right one
            except DamagedError as error:
                first = first or error
                continue
            if version is not versions[0]:
                self.note(f"{where}: what lies over it is not genuine, an older version is; look for who put it there")
                self.covered.add(version.key)
            return found
        raise first or DamagedError(f"{self.bucket.name}/{versions[0].key}: it was deleted meanwhile; run again")

    def _content(self, version: Version) -> bytes:
        content = self.bucket.get(version.key, version.id, limit=names.MANIFEST_BYTES)
        if content is None:
            raise DamagedError(f"{self.bucket.name}/{version.key}: it was deleted meanwhile; run again")
        self.given = (version.key, version.id)
        return content


def _span(time: timedelta) -> str:
    return f"{time.days} days" if time.days else f"{time.total_seconds() / 3600:.1f} hours"


def _of(point: str, key: str) -> Callable[[Verification], bool]:
    return lambda found: found.point == point and names.verified_key(point, utc(found.started.astimezone(UTC))) == key


def _latest(points: tuple[Listed, ...], wanted: Callable[[Listed], bool]) -> Latest:
    found = sorted((listed for listed in points if wanted(listed)), key=lambda listed: (not listed.ahead, listed.id))
    chosen = found[-1] if found else None
    return Latest(chosen, tuple(listed for listed in points if listed.state == "damaged"))


def _id(point: str) -> str:
    if names.point_of(names.manifest_key(point)) != point:
        raise RecoveryError(f"`{point}` is no id of a point; accepted is, for example, 20261130T072000Z-1f2e3d4c")
    return point
