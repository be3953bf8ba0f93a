"""What a key holds, in pieces, and a digest of it that does not depend on the order in which a server lists it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from recovery.model import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.stores.redis_keys.seen import Seen
    from recovery.stores.redis_keys.server import Client

Item = tuple[bytes, ...]
"""Of a string: (bytes,); list, set: (element,); hash: (field, value) or (field, value, ms at which it expires); zset:
(member, score); stream: (b"e", id, field, value, …) an entry, (b"s", last id, entries ever, largest id deleted) its
state, (b"g", group, last id, entries read) a group, (b"p", group, id, consumer, ms of its delivery, number of
deliveries) an entry that is pending."""
KINDS: Final = ("string", "list", "set", "hash", "zset", "stream")
PAGE: Final = 1000
_STRING_PAGE: Final = 4 * 2**20
_UNORDERED: Final = ("set", "hash", "zset")
_MODULUS: Final = 2**256


class Piece(Record):
    """A line of the file. key, items: base64. expires: ms since 1970, None for never.

    A first piece begins its key anew. One without items says that the key went away while it was read.
    """

    key: str
    kind: str
    expires: int | None
    first: bool
    last: bool
    items: tuple[tuple[str, ...], ...]

    @property
    def name(self) -> bytes:
        """The key."""
        return base64.b64decode(self.key)

    @property
    def content(self) -> list[Item]:
        """Items as bytes."""
        return [tuple(base64.b64decode(part) for part in item) for item in self.items]


def coded(item: Item) -> tuple[str, ...]:
    """An item as a piece holds it."""
    return tuple(base64.b64encode(part).decode() for part in item)


@dataclass
class Digest:
    """Of one key's items as they come."""

    kind: str
    count: int = 0
    _sum: int = 0
    _chain: bytes = field(default=b"")

    def add(self, item: Item) -> None:
        """One more item. Fields that expire do not count: they go away by themselves."""
        if self.kind == "hash" and len(item) > len(("field", "value")):
            return
        if self.kind == "stream" and item[0] == b"p":
            item = (*item[:4], *item[5:])  # how long ago it was delivered is known to the server in ms, roughly
        own = hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in item)).digest()
        self.count += 1
        if self.kind in _UNORDERED:
            self._sum = (self._sum + int.from_bytes(own, "big")) % _MODULUS
        else:
            self._chain = hashlib.sha256(self._chain + own).digest()

    def value(self, key: bytes) -> int:
        """Over key, kind and items."""
        inner = self._sum.to_bytes(32, "big") if self.kind in _UNORDERED else self._chain
        text = len(key).to_bytes(8, "big") + key + self.kind.encode() + self.count.to_bytes(8, "big") + inner
        return int.from_bytes(hashlib.sha256(text).digest(), "big")


def pages(client: Client, key: bytes, kind: str, seen: Seen, *, fields_expire: bool) -> Iterator[list[Item]]:
    """Items of a key, at most PAGE at once; an element is held whole. client: one connection that watches the key."""
    if kind == "string":
        yield from _string(client, key)
    elif kind == "list":
        for start in range(0, client.llen(key), PAGE):
            yield [(element,) for element in client.lrange(key, start, start + PAGE - 1)]
    elif kind == "stream":
        yield from _stream(client, key)
    else:
        yield from _unordered(client, key, kind, seen, fields_expire=fields_expire)


def _string(client: Client, key: bytes) -> Iterator[list[Item]]:
    size = client.strlen(key)
    for start in range(0, max(size, 1), _STRING_PAGE):
        yield [(client.getrange(key, start, start + _STRING_PAGE - 1),)]


def _unordered(client: Client, key: bytes, kind: str, seen: Seen, *, fields_expire: bool) -> Iterator[list[Item]]:
    cursor, first = 0, True
    seen.clear()
    while cursor or first:
        cursor, found = _scan(client, key, kind, cursor)
        # A table that is being resized gives an element more than once.
        if cursor or not first:
            found = [item for item in found if seen.add(item[0])]
        first = False
        if kind == "hash" and fields_expire and found:
            found = _with_expiry(client, key, found)
        if found:
            yield found


def _scan(client: Client, key: bytes, kind: str, cursor: int) -> tuple[int, list[Item]]:
    if kind == "set":
        cursor, members = client.sscan(key, cursor, count=PAGE)
        return int(cursor), [(member,) for member in members]
    if kind == "hash":
        cursor, fields = client.hscan(key, cursor, count=PAGE)
        return int(cursor), list(fields.items())
    cursor, scored = client.zscan(key, cursor, count=PAGE)
    return int(cursor), [(member, repr(float(score)).encode()) for member, score in scored]


def _with_expiry(client: Client, key: bytes, found: list[Item]) -> list[Item]:
    moments = client.execute_command("HPEXPIRETIME", key, "FIELDS", len(found), *(item[0] for item in found))
    return [(*item, str(moment).encode()) if moment > 0 else item for item, moment in zip(found, moments, strict=True)]


def _stream(client: Client, key: bytes) -> Iterator[list[Item]]:
    start = "-"
    while entries := client.xrange(key, start, "+", count=PAGE):
        yield [(b"e", name, *(part for pair in fields.items() for part in pair)) for name, fields in entries]
        start = f"({entries[-1][0].decode()}"
    known = client.xinfo_stream(key)
    groups = client.xinfo_groups(key)
    yield [(b"s", *(_plain(known[name]) for name in ("last-generated-id", "entries-added", "max-deleted-entry-id")))]
    for group in groups:
        name = _plain(group["name"])
        yield [(b"g", name, _plain(group["last-delivered-id"]), _plain(group.get("entries-read")))]
        yield from _pending(client, key, name)


def _pending(client: Client, key: bytes, group: bytes) -> Iterator[list[Item]]:
    start = "-"
    while True:
        seconds, micros = client.time()
        now = int(seconds) * 1000 + int(micros) // 1000
        found = client.xpending_range(key, group, start, "+", PAGE)
        if not found:
            return
        yield [
            (
                b"p",
                group,
                one["message_id"],
                one["consumer"],
                _plain(now - one["time_since_delivered"]),
                _plain(one["times_delivered"]),
            )
            for one in found
            # One whose entry was deleted cannot be made again, and no server hands it out.
            if client.xrange(key, one["message_id"], one["message_id"], count=1)
        ]
        start = f"({found[-1]['message_id'].decode()}"


def _plain(value: object) -> bytes:
    return value if isinstance(value, bytes) else b"" if value is None else str(value).encode()
