"""The server: who it is, what its databases hold. Every failure is a RecoveryError without the password."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import redis
from pydantic import Field
from redis.backoff import NoBackoff
from redis.retry import Retry

from recovery import secret_files
from recovery.errors import RecoveryError
from recovery.model import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

_OLDEST: Final = (7, 0)
"""PEXPIRETIME came with it; without it the moment at which a key expires cannot be read exactly."""
_FIELDS_EXPIRE: Final = (7, 4)
SENTINEL: Final = b"plumbline:restored-copy"
"""Key in the database beside that says whose it is and what it holds."""
Client = Any
"""redis.Redis: its annotations say `Awaitable | Any` for everything."""


class Settings(Record):
    """url_file: a file that holds `redis://[user][:password]@host:port/database`, or `rediss://`.

    restore_database: number of the database where the restored copy stands beside; it must be empty or left from us.
    """

    kind: Literal["redis"] = "redis"
    name: str = Field(min_length=1)
    url_file: str
    restore_database: int = Field(default=15, ge=0)


class Server:
    """Connections to the live database and to the one beside."""

    def __init__(self, settings: Settings) -> None:
        self.name = settings.name
        url = _url(settings)
        self.live = self._client(url, None)
        self.live_number = int(self.live.connection_pool.connection_kwargs.get("db") or 0)
        self.beside_number = settings.restore_database
        if self.live_number == self.beside_number:
            raise RecoveryError(
                f"{self.name}: database {self.live_number} is the live one and restore_database; name another number"
            )
        self.beside = self._client(url, self.beside_number)

    def _client(self, url: str, database: int | None) -> Client:
        # A command that is sent again because its answer got lost would append twice.
        how: dict[str, Any] = {"retry": Retry(NoBackoff(), 0), "protocol": 2, "socket_connect_timeout": 10}
        try:
            client = redis.Redis.from_url(url, socket_timeout=120, decode_responses=False, **how)
            if database is not None:
                client.connection_pool.connection_kwargs["db"] = database
        except ValueError:
            # Its text quotes parts of the address, and so of the password.
            raise RecoveryError(
                f"{self.name}: the address in url_file cannot be read; accepted: "
                "redis://[:password]@host:port/number with "
                "other characters of the password as %XX"
            ) from None
        return client

    @contextmanager
    def said(self, what: str) -> Iterator[None]:
        """Failures of a block, told as what could not be done."""
        try:
            yield
        except redis.WatchError:
            raise
        except redis.RedisError as error:
            raise RecoveryError(
                f"{self.name}: {what}: {type(error).__name__}: {error}; the server must be reachable, have room, and "
                "allow "
                "its account SCAN, WATCH, MULTI, reading of all types, and for a restore writing, SWAPDB and FLUSHDB"
            ) from None

    def version(self) -> tuple[str, bool]:
        """Version, and whether fields of a hash can expire. Raises RecoveryError if it is too old."""
        with self.said("cannot be asked for its version"):
            text = str(self.live.info("server")["redis_version"])
        found = tuple(int(part) for part in text.split(".")[:2])
        if found < _OLDEST:
            raise RecoveryError(f"{self.name}: Redis {text} is too old; accepted: 7.0 or later, upgrade it first")
        return text, found >= _FIELDS_EXPIRE

    def now(self) -> int:
        """The server's clock in ms."""
        seconds, micros = self.live.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def others(self) -> list[str]:
        """Other databases with keys, one sentence each."""
        with self.said("cannot be asked for its databases"):
            found = self.live.info("keyspace")
            beside = f"db{self.beside_number}" if self.beside.exists(SENTINEL) else ""
        own = (f"db{self.live_number}", beside)
        return [
            f"database {name.removeprefix('db')} with {known['keys']} keys: another one than the address names"
            for name, known in sorted(found.items())
            if name not in own
        ]

    def expiring(self) -> tuple[int, int]:
        """Keys of the live database, and how many of them go away by themselves."""
        found = self.live.info("keyspace").get(f"db{self.live_number}", {"keys": 0, "expires": 0})
        return int(found["keys"]), int(found["expires"])


def _url(settings: Settings) -> str:
    path, what = Path(settings.url_file), f"the address of store {settings.name}, redis://[:password]@host:port/number,"
    found = secret_files.read(path, what, blanks=True)
    if not found.startswith(("redis://", "rediss://")):
        raise secret_files.refused(path, "holds no address", what)
    return found
