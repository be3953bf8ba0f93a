"""What a restore point is: one manifest that names every byte, written last.

All content lies in chunks named by the SHA-256 of what they hold, so that what did not change is stored once. A file
is a list of chunks. A part is what one store put in; a point is all parts that were taken together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

if TYPE_CHECKING:
    from datetime import datetime

CHUNK_BYTES = 16 * 1024**2
"""Largest chunk: what a run holds in memory at once, for each stream."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
PointId = Annotated[str, Field(pattern=r"^\d{8}T\d{6}Z-[0-9a-f]{8}$")]
"""Time of the start in UTC and a random part, for example `20261130T072000Z-1f2e3d4c`: names sort by time."""
Mode = Literal["quiesced", "online"]


class Record(BaseModel):
    """A part of a manifest: frozen, strict, nothing unknown in it."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Chunk(Record):
    """size: bytes, 1 to CHUNK_BYTES."""

    sha256: Sha256
    size: int = Field(ge=1, le=CHUNK_BYTES)


class File(Record):
    """A stream of bytes. path: its name within the part, or an object's key. size: bytes. sha256: of the whole.

    An empty file has no chunk.
    """

    path: str
    size: int = Field(ge=0)
    sha256: Sha256
    chunks: tuple[Chunk, ...]


class Part(Record):
    """What one store put into a point.

    store: its name in the configuration. kind: which module reads it. version: of the server that it came from.
    files: its streams. index: a file of lines, each a File as JSON, where there are too many for the manifest; they
    belong to the part like those in `files`. figures: what a restored copy is compared with, of a shape that only the
    kind knows. left_out: what is deliberately not in it, one sentence each.
    """

    store: str
    kind: str
    version: str
    files: tuple[File, ...] = ()
    index: File | None = None
    figures: dict[str, JsonValue] = {}
    left_out: tuple[str, ...] = ()


class Point(Record):
    """A restore point. started, ended: in UTC. stack, cluster_uid: whose. mode: see Mode.

    consistency: what may differ between its parts, one sentence each. first_lost: nothing that was acknowledged before
    this moment is missing; it is when the first part was begun. recovery_key: fingerprint of the public key for which
    its secrets are sealed, None where it has none. program: version of this program.
    """

    format: Literal[1] = 1
    id: PointId
    stack: str
    cluster_uid: str
    mode: Mode
    started: AwareDatetime
    ended: AwareDatetime
    program: str
    consistency: tuple[str, ...]
    first_lost: AwareDatetime
    recovery_key: str | None = None
    parts: tuple[Part, ...] = Field(min_length=1)

    def part(self, store: str) -> Part | None:
        """The part of a store, None if the point has none."""
        return next((part for part in self.parts if part.store == store), None)


class Verification(Record):
    """Outcome of a verification, kept beside the point. differences: empty if and only if it is good.

    figures: store → what was measured on the restored copy. seconds: how long restoring and comparing took.
    """

    format: Literal[1] = 1
    point: PointId
    started: AwareDatetime
    seconds: float = Field(ge=0)
    differences: tuple[str, ...]
    figures: dict[str, dict[str, JsonValue]]

    @property
    def good(self) -> bool:
        """Whether every figure was equal."""
        return not self.differences


def utc(moment: datetime) -> str:
    """A moment as names of points spell it, to the second."""
    return moment.strftime("%Y%m%dT%H%M%SZ")
