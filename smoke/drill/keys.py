"""A mark by which an API key is known again: after a restore, the key that logs in must be the old one."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from smoke.drill.model import KeyMark

# Slow on purpose: whoever finds the mark must not be able to try keys by the million.
_COST: Final = 1 << 14
_BLOCK: Final = 8


def mark(key: str) -> KeyMark:
    """The mark of a key, another one each time."""
    salt = secrets.token_bytes(16)
    return KeyMark(salt.hex(), _digest(key, salt))


def same(key: str, marked: KeyMark) -> bool:
    """Whether this is the key that was marked."""
    return hmac.compare_digest(_digest(key, bytes.fromhex(marked.salt)), marked.digest)


def _digest(key: str, salt: bytes) -> str:
    return hashlib.scrypt(key.encode(), salt=salt, n=_COST, r=_BLOCK, p=1).hex()
