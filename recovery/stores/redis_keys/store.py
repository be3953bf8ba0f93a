"""A Redis database as a Store.

The copy stands in another database of the same server, with a key of ours that says so, until SWAPDB exchanges the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.model import Part
from recovery.stores.configured import Configured, identity
from recovery.stores.differ import Differences, Found
from recovery.stores.redis_keys.beside import (
    COPY,
    PARTIAL,
    REPLACED,
    emptied,
    exchange,
    marked,
    rebuild,
    refuse_foreign,
    refuse_new,
    state,
)
from recovery.stores.redis_keys.file import KEYS_FILE, differ, file_of, gone_by_itself, known, pieces
from recovery.stores.redis_keys.read import Figures, Known, Scan, UnknownError, called
from recovery.stores.redis_keys.seen import seen_in
from recovery.stores.redis_keys.server import SENTINEL, Server, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recovery.model import Mode
    from recovery.ports import Compared, Reader, Tell, Writer
    from recovery.stores.redis_keys.server import Client

_BATCH: Final = 200
_TOLD: Final = 10_000


@dataclass(frozen=True)
class Keys(Configured):
    """Store of recovery/ports.py. work: directory for what is too large for memory."""

    settings: Settings
    work: Path

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """See Store."""
        server = Server(self.settings)
        version, fields_expire = server.version()
        figures, left_out = Figures(), list[str]()
        with seen_in(self._file("keys")) as seen, seen_in(self._file("elements")) as elements:
            scan = Scan(server, server.live, elements, fields_expire=fields_expire)

            def lines() -> Iterator[bytes]:
                for number, key in enumerate(scan.keys(seen), 1):
                    found = list[Known]()
                    try:
                        for piece in scan.pieces(key, mode, found):
                            yield piece.model_dump_json().encode() + b"\n"
                    except UnknownError as error:
                        if mode == "quiesced":
                            raise
                        left_out.append(str(error))
                    for read in found:
                        figures.add(key, read.digest, read.expires)
                    if number % _TOLD == 0:
                        tell(f"{self.name}: {number} keys read")

            file = writer.put(KEYS_FILE, lines())
            if mode == "quiesced":
                refuse_new(server, scan.keys(seen))
        return Part(
            store=self.name,
            kind=self.kind,
            version=version,
            files=(file,),
            figures=figures.all,
            left_out=(*server.others(), *left_out),
        )

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """See Store. Raises RecoveryError if the database beside is not ours, or holds what a promotion replaced."""
        server = Server(self.settings)
        _, fields_expire = server.version()
        with server.said(f"database {server.beside_number} cannot be written"):
            refuse_foreign(server)
            emptied(server, PARTIAL)
            count, lines = 0, pieces(reader, file_of(part))
            while batch := list(islice(lines, _BATCH)):
                rebuild(server, batch, fields_expire=fields_expire)
                count += sum(piece.last for piece in batch)
                tell(f"{self.name}: {count} keys written")
            server.beside.set(SENTINEL, marked(COPY, identity(part)))

    def compare(self, part: Part, reader: Reader) -> Compared:
        """See Store. Keys that have expired by now are counted and not missed."""
        server = Server(self.settings)
        with server.said(f"database {server.beside_number} cannot be read"):
            whole = state(server)[0] == COPY
        compared = self._compared(server, server.beside, part, reader)
        if whole:
            return compared
        lack = f"{part.store}: database {server.beside_number} does not hold a complete copy; run restore first"
        return Found((lack, *compared.differences), compared.figures)

    def promoted(self, part: Part, reader: Reader) -> Compared | None:
        """See Store: what is live, held against the part."""
        server = Server(self.settings)
        with server.said(f"database {server.beside_number} cannot be read"):
            replaced = state(server)[0] == REPLACED
        return self._compared(server, server.live, part, reader) if replaced else None

    def live(self, part: Part) -> bool:
        """See Store."""
        server = Server(self.settings)
        with server.said(f"database {server.beside_number} cannot be read"):
            return state(server) == (REPLACED, identity(part))

    def _compared(self, server: Server, client: Client, part: Part, reader: Reader) -> Found:
        _, fields_expire = server.version()
        found, figures, expired = Differences(part.store), Figures(), 0
        with seen_in(self._file("keys")) as seen, seen_in(self._file("elements")) as elements:
            scan = Scan(server, client, elements, fields_expire=fields_expire)
            with server.said("the copy cannot be read"):
                for key, expected in known(pieces(reader, file_of(part))):
                    seen.add(key)
                    measured = scan.known(key)
                    if measured is not None:
                        figures.add(key, measured.digest, measured.expires)
                        differ(found, key, expected, measured)
                    elif gone_by_itself(expected, server.now()):
                        expired += 1
                    else:
                        found.add(f"{called(key)} of type {expected.digest.kind} is missing")
                for key in scan.keys(seen):
                    found.add(f"{called(key)} is in the copy and in no restore point")
        own = figures.all
        found.figures(*({name: of.get(name) for name in ("lasting", "content")} for of in (part.figures, own)))
        if part.figures.get("keys") != figures.kinds.total() + expired:
            found.add(
                f"keys is {figures.kinds.total()} and {expired} expired, the point says {part.figures.get('keys')}"
            )
        return Found(found.all, {**own, "expired": expired})

    def promote(self, *, force: bool) -> str:
        """See Store."""
        server = Server(self.settings)
        with server.said("databases cannot be exchanged"):
            word, _ = state(server)
            if word == REPLACED:
                return f"{self.name}: promoted already, nothing was changed; confirm or demote comes next"
            if word != COPY:
                raise RecoveryError(
                    f"{self.name}: database {server.beside_number} holds no complete copy; run restore first"
                )
            keys, expiring = server.expiring()
            if keys and not force:
                raise RecoveryError(
                    f"{self.name}: database {server.live_number} holds {keys} keys, {expiring} of which expire by "
                    "themselves "
                    "(sessions do, and people log in again); nothing was changed; stop whoever uses it, or run again "
                    "with "
                    "force: what it holds is kept until confirm"
                )
            exchange(server, REPLACED)
        return (
            f"{self.name}: the copy is database {server.live_number} now; the {keys} keys that it replaced ({expiring} "
            f"expire) are kept as database {server.beside_number} until confirm"
        )

    def demote(self) -> str:
        """See Store."""
        server = Server(self.settings)
        with server.said("databases cannot be exchanged"):
            if state(server)[0] != REPLACED:
                return f"{self.name}: nothing was promoted, or it was put back already"
            exchange(server, COPY)
        return f"{self.name}: what was replaced is database {server.live_number} again; the copy stands beside"

    def confirm(self) -> str:
        """See Store."""
        return self._flush(REPLACED, "what a promotion replaced")

    def discard(self) -> str:
        """See Store. Raises RecoveryError while a promotion is neither confirmed nor put back."""
        server = Server(self.settings)
        with server.said("cannot be read"):
            if state(server)[0] == REPLACED:
                refuse_foreign(server)
        return self._flush(None, "the copy beside")

    def _flush(self, wanted: bytes | None, what: str) -> str:
        server = Server(self.settings)
        with server.said("database cannot be emptied"):
            held, _ = state(server)
            if held is None or held not in ((PARTIAL, COPY) if wanted is None else (wanted,)):
                return f"{self.name}: database {server.beside_number} does not hold {what}; nothing was deleted"
            server.beside.flushdb()
        return f"{self.name}: {what} was deleted from database {server.beside_number}"

    def _file(self, purpose: str) -> Path:
        return self.work / f"{self.name}.{purpose}.sqlite"


def open_store(settings: Settings, work: Path) -> Keys:
    """The store of a section; nothing is asked and no address is read yet."""
    return Keys(settings, work)
