"""A database of the real Redis with keys of every type, for tests of what is taken of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import redis

from recovery.stores import redis_keys

if TYPE_CHECKING:
    from pathlib import Path

LIVE, BESIDE, OTHER = 0, 15, 14
"""Numbers of databases. OTHER stands beside as the copy of a verification."""


@dataclass(frozen=True)
class Redises:
    """A server. work: directory for a run."""

    url: str
    work: Path

    def client(self, number: int = LIVE) -> Any:  # noqa: ANN401  # redis.Redis, whose annotations are `Awaitable | Any`
        """A connection to a database."""
        return redis.Redis.from_url(f"{self.url}/{number}")

    def store(self, number: int = LIVE, beside: int = BESIDE) -> redis_keys.Keys:
        """A database as the program sees it."""
        path = self.work / f"url-{number}"
        path.write_text(f"{self.url}/{number}\n", encoding="utf-8")
        return redis_keys.open_store(self.settings(path, beside), self.work)

    def settings(self, path: Path, beside: int = BESIDE) -> redis_keys.Settings:
        """The section of the configuration."""
        return redis_keys.Settings(name="redis", url_file=str(path), restore_database=beside)

    def content(self, number: int = LIVE) -> dict[bytes, object]:
        """Every key with what it holds."""
        client = self.client(number)
        ask = {
            b"string": client.get,
            b"list": lambda key: client.lrange(key, 0, -1),
            b"set": client.smembers,
            b"hash": client.hgetall,
            b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
            b"stream": client.xrange,
        }
        return {key: ask[client.type(key)](key) for key in client.scan_iter()}


def fill(target: Any) -> None:  # noqa: ANN401  # redis.Redis, whose annotations are `Awaitable | Any`
    """Keys of every type, small and of several pages, with names and values of any bytes."""
    client = target.pipeline(transaction=False)
    client.set("string", "one")
    client.set("empty", b"")
    client.set(b"\xff\x00 odd\n", bytes(range(256)))
    client.set("large", bytes(range(256)) * 18_000)
    client.set("number", 17)
    client.rpush("list", *(f"e{number}" for number in range(1200)), "e0")
    client.sadd("set", *(f"m{number}" for number in range(1500)))
    client.sadd("integers", 3, 1, 2)
    client.hset("hash", mapping={f"f{number}": b"\xfe" * (number % 7) for number in range(1500)})
    client.hset("small", mapping={"a": "1", "": ""})
    client.zadd("zset", {f"z{number}": number / 3 for number in range(1500)} | {"inf": float("inf"), "-": -1e300})
    for number in range(1200):
        client.xadd("stream", {"n": number, "m": b"\xff"}, id=f"{number + 1}-1")
    client.xdel("stream", "3-1")
    client.xgroup_create("stream", "readers", "0")
    client.xgroup_create("stream", "idle", "$")
    client.xreadgroup("readers", "ann", {"stream": ">"}, count=4)
    client.xreadgroup("readers", "bob", {"stream": ">"}, count=3)
    client.xack("stream", "readers", "1-1")
    client.xadd("emptied", {"a": "b"}, id="7-7")
    client.xdel("emptied", "7-7")
    client.set("session:4711", "secret", px=3_600_000)
    client.hset("soon", "a", "b")
    client.pexpireat("soon", 4_102_444_800_123)
    client.execute()
