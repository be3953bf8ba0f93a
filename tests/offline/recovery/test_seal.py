"""Sealing follows RFC 9180, and opens with the right key alone."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from recovery import seal
from recovery.errors import DamagedError, RecoveryError

CANARY = b"canary-7f3a"


def raw(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.partition(":")[2] + "=")


def extract(salt: bytes, suite: bytes, label: bytes, secret: bytes) -> bytes:
    """LabeledExtract of RFC 9180, section 4."""
    found = HMAC(salt or bytes(32), hashes.SHA256())
    found.update(b"HPKE-v1" + suite + label + secret)
    return found.finalize()


def expand(key: bytes, suite: bytes, label: bytes, info: bytes, size: int) -> bytes:
    """LabeledExpand of RFC 9180, section 4."""
    text = size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return HKDFExpand(hashes.SHA256(), size, text).derive(key)


def opened_by_hand(private: bytes, sealed: bytes, info: bytes) -> bytes:
    """RFC 9180, sections 4.1 and 5.1: DHKEM(X25519, HKDF-SHA256) 0x0020, HKDF-SHA256 0x0001, AES-256-GCM 0x0002."""
    own, sent = X25519PrivateKey.from_private_bytes(private), sealed[:32]
    kem = b"KEM\x00\x20"
    context = sent + own.public_key().public_bytes_raw()
    agreed = own.exchange(X25519PublicKey.from_public_bytes(sent))
    shared = expand(extract(b"", kem, b"eae_prk", agreed), kem, b"shared_secret", context, 32)
    suite = b"HPKE\x00\x20\x00\x01\x00\x02"
    schedule = b"\x00" + extract(b"", suite, b"psk_id_hash", b"") + extract(b"", suite, b"info_hash", info)
    secret = extract(shared, suite, b"secret", b"")
    key = expand(secret, suite, b"key", schedule, 32)
    nonce = expand(secret, suite, b"base_nonce", schedule, 12)
    return AESGCM(key).decrypt(nonce, sealed[32:], b"")


def test_what_is_sealed_opens_as_the_specification_says() -> None:
    private, public = seal.generate()
    sealed = seal.seal(public, CANARY, b"info")
    assert len(sealed) == len(CANARY) + seal.OVERHEAD
    assert seal.unseal(private, sealed, b"info") == CANARY
    assert opened_by_hand(raw(private), sealed, b"info") == CANARY


def test_the_same_is_never_sealed_alike() -> None:
    _, public = seal.generate()
    assert seal.seal(public, CANARY, b"") != seal.seal(public, CANARY, b"")


def test_another_key_another_purpose_or_any_altered_byte_does_not_open() -> None:
    private, public = seal.generate()
    other, _ = seal.generate()
    sealed = seal.seal(public, CANARY, b"info")
    wrong = [
        (other, sealed, b"info"),
        (private, sealed, b"other"),
        (private, sealed[:-1], b"info"),
        (private, b"", b"info"),
    ]
    wrong += [(private, sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :], b"info") for at in range(len(sealed))]
    for key, text, info in wrong:
        with pytest.raises(DamagedError, match="do not open") as found:
            seal.unseal(key, text, info)
        assert raw(key).hex() not in str(found.value)
        assert key not in repr(found.value)
        assert seal.fingerprint(seal.public_of(key)) in str(found.value)


def test_what_is_no_key_is_refused_and_never_shown() -> None:
    private, public = seal.generate()
    for text in ("", "x", private, public[:-1], public + "A", public.replace(":", ":!"), f"{seal.PUBLIC}é"):
        with pytest.raises(RecoveryError, match="not such a recovery key") as found:
            seal.seal(text, CANARY, b"")
        body = text.partition(":")[2]
        assert not body or body not in f"{found.value!r} {found.value.__cause__!r}"
    with pytest.raises(RecoveryError, match="not such a recovery key"):
        seal.unseal(public, b"x" * 60, b"")
    with pytest.raises(RecoveryError, match="cannot be sealed for"):
        seal.seal(seal.PUBLIC + "A" * 43, CANARY, b"")


def test_a_public_key_has_one_fingerprint_and_belongs_to_its_private_one() -> None:
    private, public = seal.generate()
    assert seal.public_of(private) == public
    assert seal.fingerprint(f" {public}\n") == seal.fingerprint(public) != seal.fingerprint(seal.generate()[1])
