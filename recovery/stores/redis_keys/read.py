"""Reads a database key by key, each as it stood at one moment, and says what two of them are compared by."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import redis

from recovery.errors import RecoveryError
from recovery.stores.redis_keys.content import KINDS, PAGE, Digest, Piece, coded, pages
from recovery.stores.redis_keys.server import SENTINEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from recovery.model import Mode
    from recovery.stores.redis_keys.content import Item
    from recovery.stores.redis_keys.seen import Seen
    from recovery.stores.redis_keys.server import Client, Server

_ATTEMPTS: Final = 5


class UnknownError(RecoveryError):
    """A key of a type that plain commands cannot make again."""


def called(key: bytes) -> str:
    """A key in a message. Names are not shown: that of a session logs in whoever knows it."""
    return f"key with SHA-256 {hashlib.sha256(key).hexdigest()[:16]}"


@dataclass
class Figures:
    """What two databases are compared by. Keys that expire are counted apart: they go away by themselves."""

    kinds: Counter[str] = field(default_factory=Counter)
    lasting: int = 0
    content: int = 0

    def add(self, key: bytes, digest: Digest, expires: int | None) -> None:
        """One more key."""
        self.kinds[digest.kind] += 1
        if expires is None:
            self.lasting += 1
            self.content = (self.content + digest.value(key)) % 2**256

    @property
    def all(self) -> dict[str, JsonValue]:
        """keys: all. types: of all. lasting: those that do not expire. content: over key, type and value of these."""
        kinds: dict[str, JsonValue] = {kind: self.kinds[kind] for kind in sorted(self.kinds)}
        return {
            "keys": self.kinds.total(),
            "types": kinds,
            "lasting": self.lasting,
            "content": f"{self.content:064x}",
        }


@dataclass
class Known:
    """A key that was read. expires: ms since 1970, None for never."""

    digest: Digest
    expires: int | None


class Scan:
    """Goes through one database."""

    def __init__(self, server: Server, client: Client, elements: Seen, *, fields_expire: bool) -> None:
        self._server, self._client, self._elements, self._fields_expire = server, client, elements, fields_expire

    def keys(self, seen: Seen) -> Iterator[bytes]:
        """Every key that is there from beginning to end, once; our own one is none."""
        with self._server.said("keys cannot be listed"):
            for key in self._client.scan_iter(count=PAGE):
                if key != SENTINEL and seen.add(key):
                    yield key

    def pieces(self, key: bytes, mode: Mode, found: list[Known]) -> Iterator[Piece]:
        """What a key holds. found: gets what is known of it at the end, and nothing if the key is gone.

        Raises UnknownError; RecoveryError if it is written again and again, or at all where nobody should.
        """
        begun, end = False, None
        for left in range(_ATTEMPTS - 1, -1, -1):
            known, end = list[Known](), None
            try:
                with self._server.said(f"{called(key)} cannot be read"), self._client.pipeline() as watching:
                    watching.watch(key)
                    for piece in self._watched(watching, key, known):
                        if piece.last:
                            end = piece
                        else:
                            begun = True
                            yield piece
                    watching.multi()
                    watching.ping()
                    watching.execute()
            except redis.WatchError:
                # One that expired meanwhile was not written by anybody.
                if not left or (mode == "quiesced" and self._client.exists(key)):
                    raise RecoveryError(
                        f"{self._server.name}: {called(key)} was written while it was read, {_ATTEMPTS - left} "
                        "times; stop "
                        "whoever writes it and run again"
                    ) from None
                continue
            # The last one says that the key is whole: only now is it known that nobody wrote to it meanwhile.
            if end is not None:
                found += known
                yield end
            elif begun:
                yield _piece(key, "string", None, [], first=True, last=False)
            return

    def _watched(self, watching: Client, key: bytes, known: list[Known]) -> Iterator[Piece]:
        kind = watching.type(key).decode()
        if kind == "none":
            return
        if kind not in KINDS:
            raise UnknownError(f"{called(key)} is of type {kind}, which only the module that made it can make again")
        moment = watching.pexpiretime(key)
        if moment == -2:  # noqa: PLR2004  # Redis: there is no such key any more
            return
        expires = None if moment < 0 else int(moment)
        digest, held, first = Digest(kind), None, True
        for page in pages(watching, key, kind, self._elements, fields_expire=self._fields_expire):
            if held is not None:
                yield _piece(key, kind, expires, held, first=first, last=False)
                first = False
            held = page
            for item in page:
                digest.add(item)
        if held is not None:
            known.append(Known(digest, expires))
            yield _piece(key, kind, expires, held, first=first, last=True)

    def known(self, key: bytes) -> Known | None:
        """What a key of a database holds that nobody writes to, None if it is not there."""
        found = list[Known]()
        for _ in self.pieces(key, "online", found):
            pass
        return found[0] if found else None


def _piece(key: bytes, kind: str, expires: int | None, items: list[Item], *, first: bool, last: bool) -> Piece:
    name = coded((key,))[0]
    return Piece(key=name, kind=kind, expires=expires, first=first, last=last, items=tuple(map(coded, items)))
