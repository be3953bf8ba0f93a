"""Passwords, API keys and identifiers: made, hashed, compared. Only hashes are ever stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
from typing import Final

KEY_LENGTH: Final = 21
"""Characters of an API key: SDK 0.7.20 refuses any other length, and all but letters and digits."""
_ALPHABET: Final = string.ascii_letters + string.digits
_LOWER: Final = string.ascii_lowercase + string.digits
_N, _R, _P = 2**14, 8, 1


def new_key() -> str:
    """An API key: 125 bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(KEY_LENGTH))


def new_cuid() -> str:
    """An identifier in the shape of the real ones: 21 lower-case letters and digits."""
    return "".join(secrets.choice(_LOWER) for _ in range(KEY_LENGTH))


def new_sid() -> str:
    """A session: 256 bits."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is stored of a random secret: SHA-256 suffices where there is nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


def hash_password(password: str) -> str:
    """`scrypt$<salt>$<hash>`, both hexadecimal."""
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${_scrypt(password, salt).hex()}"


def is_password(password: str, stored: str) -> bool:
    """Whether it is the password of this hash; takes the same time either way."""
    _, salt, expected = stored.split("$")
    return hmac.compare_digest(_scrypt(password, bytes.fromhex(salt)).hex(), expected)


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P)
