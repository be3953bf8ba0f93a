"""Take a restore point: every store, then the manifest. Whatever fails before that leaves no point behind."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.model import Part, Point, utc
from recovery.seal import fingerprint
from recovery.within import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from recovery.config import Config
    from recovery.model import File, Mode
    from recovery.ports import Quiet, Store, Tell, Writer

PROGRAM: Final = "1"
"""Version of the format of parts, which a reader of a later version may have to know."""

_CONSISTENCY: Final[dict[str, tuple[str, ...]]] = {
    "quiesced": ("writers were stopped and the delivery buffer was empty: all parts are of one moment",),
    "online": (
        "stores were read one after another while they were written to, in the order of the parts",
        "what was acknowledged and still lay in the delivery buffer is not in it",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A point. sizes: store → bytes of all its streams. seconds: store → how long it took."""

    point: Point
    sizes: Mapping[str, int]
    seconds: Mapping[str, float]


class Counted:
    """A writer that counts the bytes of what it stores."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._lock = threading.Lock()
        self.bytes = 0

    def put(self, path: str, pieces: Iterable[bytes]) -> File:
        """See Writer."""
        file = self._writer.put(path, pieces)
        with self._lock:  # a store may put several streams at once
            self.bytes += file.size
        return file


def now() -> datetime:
    """The moment in UTC; tests give another clock."""
    return datetime.now(UTC)


def create(  # noqa: PLR0913  # what a point is made of, each from another hand
    config: Config,
    stores: tuple[Store, ...],
    writer: Writer,
    publish: Callable[[Point], None],
    *,
    mode: Mode,
    quiet: Quiet | None,
    tell: Tell,
    clock: Callable[[], datetime] = now,
) -> Taken:
    """Take every store and publish the point. Raises RecoveryError; then there is no new point, and writers run."""
    if not stores:
        raise RecoveryError("the configuration names no store, and an empty point would look like a good one; name one")
    if mode == "quiesced" and quiet is None:
        raise RecoveryError(
            "mode quiesced needs the section `quiesce` of the configuration; without it use --mode online"
        )
    started = clock()
    parts, sizes, spent = list[Part](), dict[str, int](), dict[str, float]()
    with quiet(tell) if mode == "quiesced" and quiet is not None else contextlib.nullcontext():
        first = clock()
        for number, store in enumerate(stores, 1):
            tell(f"{number} of {len(stores)}: {store.name} ({store.kind})")
            begun, counted = time.monotonic(), Counted(writer)
            with within(store.name):
                parts.append(store.take(counted, mode, tell))
            sizes[store.name], spent[store.name] = counted.bytes, time.monotonic() - begun
    point = Point(
        id=f"{utc(started)}-{secrets.token_hex(4)}",
        stack=config.stack,
        cluster_uid=config.cluster_uid,
        mode=mode,
        started=started,
        ended=clock(),
        program=PROGRAM,
        consistency=_CONSISTENCY[mode],
        first_lost=first,
        recovery_key=fingerprint(config.recovery_public_key) if config.recovery_public_key else None,
        parts=tuple(parts),
    )
    publish(point)
    return Taken(point=point, sizes=sizes, seconds=spent)
