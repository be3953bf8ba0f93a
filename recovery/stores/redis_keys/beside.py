"""The database beside: whose it is, how it is filled, and how it changes places with the live one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError
from recovery.stores.redis_keys.rebuild import write
from recovery.stores.redis_keys.server import SENTINEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recovery.stores.redis_keys.content import Piece
    from recovery.stores.redis_keys.server import Server

PARTIAL: Final = b"incomplete copy"
COPY: Final = b"copy"
REPLACED: Final = b"replaced"
_OF: Final = b" of "
_QUEUED: Final = 4 * 2**20
"""Bytes that a transaction may hold: both sides keep it in memory."""


def state(server: Server) -> tuple[bytes | None, str]:
    """What the database beside is, None if it has no key of ours; and the identity of the part whose copy it is, or
    whose copy took its place."""
    word, _, of = (server.beside.get(SENTINEL) or b"").partition(_OF)
    return word or None, of.decode("ascii", "replace")


def marked(word: bytes, of: str) -> bytes:
    """What our key holds: see `state`."""
    return word + _OF + of.encode("ascii", "replace")


def rebuild(server: Server, pieces: Iterable[Piece], *, fields_expire: bool) -> None:
    """Write pieces, but for keys that have expired since they were taken."""
    now, held = server.now(), 0
    with server.beside.pipeline(transaction=True) as queue:
        for piece in pieces:
            if piece.expires is None or piece.expires > now:
                write(queue, piece, fields_expire=fields_expire)
            elif piece.first:
                queue.delete(piece.name)
            held += sum(len(part) for item in piece.items for part in item)
            if held > _QUEUED:
                queue.execute()
                held = 0
        queue.execute()


def refuse_new(server: Server, new: Iterator[bytes]) -> None:
    count = sum(1 for _ in new)
    if count:
        raise RecoveryError(
            f"{server.name}: {count} keys came into being while writers should be stopped; find who writes, or take "
            "the point "
            "with mode online"
        )


def refuse_foreign(server: Server) -> None:
    (word, _), count = state(server), server.beside.dbsize()
    if word == REPLACED:
        raise RecoveryError(
            f"{server.name}: database {server.beside_number} holds what a promotion replaced; run confirm or demote "
            "first"
        )
    if word is None and count:
        raise RecoveryError(
            f"{server.name}: database {server.beside_number} holds {count} keys of somebody else; nothing was "
            "changed; name an "
            "empty one as restore_database"
        )


def emptied(server: Server, word: bytes) -> None:
    with server.beside.pipeline(transaction=True) as queue:
        queue.flushdb()
        queue.set(SENTINEL, word)
        queue.execute()


def exchange(server: Server, word: bytes) -> None:
    """Exchange the two, and have our key stay where it is: in one transaction, nobody sees a half of it."""
    _, of = state(server)
    if server.live.exists(SENTINEL):
        raise RecoveryError(
            f"{server.name}: database {server.live_number} has a key {SENTINEL.decode()}, which only a copy has; the "
            "address "
            "in url_file names a database that is somebody's restore_database"
        )
    with server.beside.pipeline(transaction=True) as queue:
        queue.set(SENTINEL, marked(word, of))
        queue.move(SENTINEL, server.live_number)
        queue.execute_command("SWAPDB", server.live_number, server.beside_number)
        queue.execute()
