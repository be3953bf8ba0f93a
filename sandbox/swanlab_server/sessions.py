"""Who is logged in, in Redis. Raises redis.RedisError while Redis is away: then nobody is told to be a stranger."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

import redis

from sandbox.swanlab_server import credentials, times
from sandbox.swanlab_server.web import Account

if TYPE_CHECKING:
    from datetime import datetime

LIFE: Final = timedelta(days=30)
"""How long a session lives. The SDKs log in anew before each request when seven days or less are left."""
_PATIENCE: Final = 5.0


@dataclass(frozen=True)
class Session:
    """A fresh session. sid: the secret of the cookie."""

    sid: str
    expires: datetime


class Sessions:
    """Sessions by the hash of their sid; those of an API key end with the key."""

    def __init__(self, url: str) -> None:
        """url: `redis://…`; nothing need be reachable yet."""
        self._redis: Any = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            health_check_interval=15,
        )

    def open(self, account: Account) -> Session:
        """Log an account in."""
        session = Session(credentials.new_sid(), times.now() + LIFE)
        name = _name(session.sid)
        with self._redis.pipeline() as pipe:
            pipe.set(name, json.dumps(asdict(account)), ex=LIFE)
            if account.key is not None:
                pipe.sadd(_of_key(account.key), name)
                pipe.expire(_of_key(account.key), LIFE)
            pipe.execute()
        return session

    def account(self, sid: str) -> Account | None:
        """Whose session it is, None if it is unknown or over."""
        stored = cast("str | None", self._redis.get(_name(sid)))
        return None if stored is None else Account(**json.loads(stored))

    def close(self, sid: str) -> None:
        """Log out."""
        self._redis.delete(_name(sid))

    def close_key(self, key: int) -> None:
        """End all sessions of an API key. key: its id."""
        names = self._redis.smembers(_of_key(key))
        self._redis.delete(_of_key(key), *names)


def _name(sid: str) -> str:
    return f"sid:{credentials.digest(sid)}"


def _of_key(key: int) -> str:
    return f"sids-of-key:{key}"
