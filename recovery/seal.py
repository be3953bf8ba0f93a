"""Seals bytes for a recovery key, so that only who holds its private half can open them: HPKE (RFC 9180) in base mode.

DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. Keys are one line of text each: a prefix that says what it is and
the 32 bytes in base64url. What is sealed is the encapsulated key (32 bytes), the ciphertext and its tag (16 bytes).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from recovery.errors import DamagedError, RecoveryError

PUBLIC: Final = "plumbline-recovery-public-1:"
PRIVATE: Final = "plumbline-recovery-private-1:"
OVERHEAD: Final = 32 + 16
"""Bytes that sealing adds."""
_KEY_BYTES: Final = 32
_SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)


def generate() -> tuple[str, str]:
    """A new pair: private text, public text."""
    private = X25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw()
    return _text(PRIVATE, private.private_bytes_raw()), _text(PUBLIC, public)


def fingerprint(public: str) -> str:
    """SHA-256 of the public key's bytes, in hexadecimal. Raises RecoveryError if it is none."""
    return hashlib.sha256(_bytes(PUBLIC, public)).hexdigest()


def public_of(private: str) -> str:
    """The public key that belongs to a private one. Raises RecoveryError if it is none."""
    key = X25519PrivateKey.from_private_bytes(_bytes(PRIVATE, private))
    return _text(PUBLIC, key.public_key().public_bytes_raw())


def seal(public: str, plain: bytes, info: bytes) -> bytes:
    """Seal. info: what it is for; it is not secret, and what was sealed for one thing does not open as another.

    Raises RecoveryError if the key is none, or one for which no secret can be agreed upon.
    """
    key = X25519PublicKey.from_public_bytes(_bytes(PUBLIC, public))
    try:
        return _SUITE.encrypt(plain, key, info)
    except ValueError:
        raise RecoveryError(f"this {PUBLIC} key cannot be sealed for (a point of low order); make a new pair") from None


def unseal(private: str, sealed: bytes, info: bytes) -> bytes:
    """Open. Raises RecoveryError if the key is none; DamagedError if it is another one, or anything was altered."""
    key = X25519PrivateKey.from_private_bytes(_bytes(PRIVATE, private))
    try:
        return _SUITE.decrypt(sealed, key, info)
    except (InvalidTag, ValueError):
        own = fingerprint(public_of(private))
        raise DamagedError(
            f"{len(sealed)} sealed bytes do not open with the private key whose public half has the fingerprint "
            f"{own}: they "
            "were sealed for another key or another stack, or were altered; look for the fingerprint that the "
            "restore point "
            "names"
        ) from None


def _text(prefix: str, raw: bytes) -> str:
    return prefix + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(prefix: str, text: str) -> bytes:
    """Never quotes the text: whoever mixes the two up would see a private key in a log."""
    body = text.strip()
    refused = f"this is not such a recovery key; accepted: one line of {prefix} and 43 characters; copy it whole"
    if not body.startswith(prefix):
        raise RecoveryError(refused)
    try:
        raw = base64.b64decode(body.removeprefix(prefix) + "=", altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise RecoveryError(refused) from None
    if len(raw) != _KEY_BYTES:
        raise RecoveryError(refused)
    return raw
