"""Makes keys again by plain commands that every version knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from recovery.stores.redis_keys.content import Item, Piece
    from recovery.stores.redis_keys.server import Client


def write(batch: Client, piece: Piece, *, fields_expire: bool) -> None:
    """Queue the commands of one piece. A first one deletes the key; each sets its expiry, so that none outlives it."""
    key, items = piece.name, piece.content
    if piece.first:
        batch.delete(key)
    if not items:
        return
    if piece.kind == "hash":
        _hash(batch, key, items, fields_expire=fields_expire)
    elif piece.kind == "stream":
        _stream(batch, key, items)
    else:
        _SIMPLE[piece.kind](batch, key, items)
    if piece.expires is not None:
        batch.pexpireat(key, piece.expires)


def _string(batch: Client, key: bytes, items: list[Item]) -> None:
    for (content,) in items:
        # APPEND of nothing makes no key.
        if content:
            batch.append(key, content)
        else:
            batch.set(key, b"")


def _list(batch: Client, key: bytes, items: list[Item]) -> None:
    batch.rpush(key, *(element for (element,) in items))


def _set(batch: Client, key: bytes, items: list[Item]) -> None:
    batch.sadd(key, *(member for (member,) in items))


def _zset(batch: Client, key: bytes, items: list[Item]) -> None:
    batch.execute_command("ZADD", key, *(part for member, score in items for part in (score, member)))


def _hash(batch: Client, key: bytes, items: list[Item], *, fields_expire: bool) -> None:
    batch.execute_command("HSET", key, *(part for item in items for part in item[:2]))
    for name, _value, *moment in items:
        if moment and not fields_expire:
            raise RecoveryError(
                "fields of a hash expire, which this server does not know; accepted: Redis 7.4 or later, upgrade it "
                "first"
            )
        if moment:
            batch.execute_command("HPEXPIREAT", key, moment[0], "FIELDS", 1, name)


def _stream(batch: Client, key: bytes, items: list[Item]) -> None:
    for what, *values in items:
        if what == b"e":
            batch.execute_command("XADD", key, *values)
        elif what == b"s":
            # A stream without entries comes into being with a group alone.
            batch.execute_command("XGROUP", "CREATE", key, b"plumbline", b"0", "MKSTREAM")
            batch.execute_command("XGROUP", "DESTROY", key, b"plumbline")
            last, added, deleted = values
            batch.execute_command("XSETID", key, last, "ENTRIESADDED", added, "MAXDELETEDID", deleted)
        elif what == b"g":
            name, last, read = values
            batch.execute_command("XGROUP", "CREATE", key, name, last, *(("ENTRIESREAD", read) if read else ()))
        else:
            group, entry, consumer, moment, count = values
            how = ("TIME", moment, "RETRYCOUNT", count, "FORCE", "JUSTID")
            batch.execute_command("XCLAIM", key, group, consumer, 0, entry, *how, parse_justid=True)


_SIMPLE: dict[str, Callable[[Client, bytes, list[Item]], None]] = {
    "string": _string,
    "list": _list,
    "set": _set,
    "zset": _zset,
}
