"""Passwords of the stack: taken from a Secret that exists, or derived from one root secret.

Derived, not random: the same root, role and generation give the same password after `destroy`, on another machine or
in a restore, so that a database on a retained volume still lets its users in. Rotation is a new generation number.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from components.errors import DeployError
from components.naming import PART_OF
from components.objects import Manifest, metadata

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = f"{PART_OF}/root"
"""Annotation of a claim whose data knows derived passwords: the fingerprint of the root secret they follow from."""
MIN_ROOT_BYTES = 32
_FINGERPRINT = 16
_PASSWORD_BYTES = 24


@dataclass(frozen=True, kw_only=True)
class Existing:
    """A Secret that somebody else keeps. key: the entry that holds the value."""

    name: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A value derived from the root secret. generation: whole number from 1; a higher one is a rotation."""

    role: str
    generation: int = 1


SecretSource = Existing | Generated


def derive(root: str, role: str, generation: int) -> str:
    """HKDF-SHA256 (RFC 5869, no salt, info `plumbline/<role>/<generation>`) → 32 characters of `A-Za-z0-9_-`.

    Raises DeployError if the root is shorter than 32 bytes or the generation is below 1.
    """
    key = root.encode()
    if len(key) < MIN_ROOT_BYTES:
        raise DeployError(
            f"the root secret has {len(key)} bytes, at least {MIN_ROOT_BYTES} are accepted; make one with "
            "`python3 -c 'import secrets; print(secrets.token_hex(32))'`."
        )
    if generation < 1:
        raise DeployError(f"generation {generation} of secret `{role}`: accepted are whole numbers from 1.")
    info = f"plumbline/{role}/{generation}".encode()
    raw = HKDF(algorithm=SHA256(), length=_PASSWORD_BYTES, salt=None, info=info).derive(key)
    return base64.urlsafe_b64encode(raw).decode()


def fingerprint(root: str) -> str:
    """16 hexadecimal digits that tell two root secrets apart and lead back to neither, nor to a password."""
    return hashlib.sha256(derive(root, "fingerprint", 1).encode()).hexdigest()[:_FINGERPRINT]


def marked(claim: Manifest, root: pulumi.Output[str]) -> Manifest:
    """The claim with the fingerprint of the root secret, which is no secret: it is compared before a change."""
    annotations = {**claim["metadata"]["annotations"], ROOT: pulumi.Output.unsecret(root.apply(fingerprint))}
    return {**claim, "metadata": {**claim["metadata"], "annotations": annotations}}


def password(root: pulumi.Output[str], source: Generated) -> pulumi.Output[str]:
    """The derived value, marked as a secret even where the root was not."""
    return pulumi.Output.secret(root.apply(lambda value: derive(value, source.role, source.generation)))


def secret_manifest(
    name: str, namespace: str, object_labels: dict[str, str], data: Mapping[str, pulumi.Input[str]]
) -> Manifest:
    """A Secret whose values are Pulumi secrets: state, diffs and outputs show none of them. data: key → value."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(name, object_labels, namespace),
        "type": "Opaque",
        "stringData": {key: pulumi.Output.secret(value) for key, value in data.items()},
    }
