"""`open-secrets`: the sealed Secrets of a point as files, where no cluster is: target, reader's key, recovery key.

Manifests are signed with a key that the cluster had. Where it is lost with the cluster, it is looked for among the
sealed Secrets of the points themselves. What that proves is less than a key that somebody kept: see `_found`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recovery import seal, secret_files
from recovery.asked import write_private
from recovery.errors import DamagedError, RecoveryError
from recovery.model import Point
from recovery.outcome import Outcome
from recovery.stores.sealed import open_part
from recovery.vault import envelope, names
from recovery.vault.s3 import Bucket
from recovery.vault.settings import SHORTEST_SIGNING_KEY, Account, KeyFile, Place, read_signing_key
from recovery.vault.vault import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from recovery.model import Part
    from recovery.vault.answers import Version

SIGNING_SECRET: Final = "recovery-signing"  # noqa: S105  # the name of a Secret
SIGNING_ENTRY: Final = "key"
"""Where a stack keeps the key that signs its manifests."""
_SHOWN: Final = 3


class Source(Place):
    """Where points are, to read them. signing_key_file: if it was kept; it is checked first then. signing_key_sha256:
    its fingerprint, if that was kept. The last three are in the configuration of a pod, and not used."""

    reader: Account
    signing_key_file: KeyFile | None = None
    signing_key_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    writer: Account | None = None
    pruner: Account | None = None
    retention_days: int | None = None


class _File(BaseModel):
    """A configuration: of it `target` alone is looked at, so that one of a pod can be used as it is."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    target: Source


@dataclass(frozen=True)
class _Opened:
    """vault: with the signing key. key: its fingerprint. said: for people, what its signature is worth."""

    vault: Vault
    key: str
    said: str
    notes: tuple[str, ...] = ()


def run(options: argparse.Namespace) -> Outcome:
    """Write each Secret as a directory with a file for each key. Nothing is written unless every check has passed.

    Raises RecoveryError; DamagedError if a signature does not fit, or the sealed part does not open.
    """
    source = _load(options.config)
    _must_be_free(options.into)
    private = secret_files.read(options.private, "the private recovery key", blanks=True)
    seal.public_of(private)  # whether it is one, before anything is asked
    bucket = Bucket(source, source.reader, "reader")
    opened = _given(source, bucket) if source.signing_key_file else _found(source, bucket, private, options.point)
    point = opened.vault.point(options.point or _verified(opened.vault, bucket))
    found = open_part(private, _part(point), opened.vault)
    _write(options.into, found)
    return Outcome(
        lines=[
            f"{len(found)} secrets of point {point.id} are in {options.into}; delete them when they are used",
            f"signing key: sha256 {opened.key}; {opened.said}",
        ],
        facts={"point": point.id, "secrets": sorted(found), "signing_key_sha256": opened.key},
        notes=[*opened.notes, *opened.vault.notes],
    )


def _load(path: Path) -> Source:
    try:
        return _File.model_validate_json(path.read_bytes()).target
    except OSError as error:
        raise RecoveryError(
            f"--config {path} cannot be read ({error.strerror}); name the file that says where the target is"
        ) from error
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        said = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}" for one in faults)
        raise RecoveryError(
            f"{path} does not say where the target is: {said}; `target` needs endpoint, bucket and reader, and may "
            "have region, ca_file, signing_key_file and signing_key_sha256"
        ) from error


def _given(source: Source, bucket: Bucket) -> _Opened:
    """With the signing key that somebody kept."""
    assert source.signing_key_file is not None  # noqa: S101  # asked by the caller
    key = read_signing_key(source.signing_key_file)
    if source.signing_key_sha256 not in (None, _fingerprint(key)):
        raise RecoveryError(
            f"signing key {source.signing_key_file} has the fingerprint {_fingerprint(key)}, and signing_key_sha256 "
            f"is {source.signing_key_sha256}; one of them is of another stack"
        )
    return _Opened(Vault(key, reader=bucket), _fingerprint(key), "the one that you gave has signed the point")


def _found(source: Source, bucket: Bucket, private: str, point: str | None) -> _Opened:
    """With the signing key that lies sealed in the points.

    That a manifest is signed with the key that is sealed in it proves that both are of one hand. Whose, only a
    fingerprint can tell that was kept elsewhere: whoever writes to the bucket and knows the public recovery key could
    seal a key of his own. So points under two keys are refused, unless a fingerprint says which to trust.
    """
    keys, passed = _keys(bucket, private, point)
    if not keys:
        raise DamagedError(
            f"{bucket.name}: no manifest of {'point ' + point if point else len(passed)} opens with this recovery key; "
            f"the newest: {passed[-1] if passed else 'there is none'}"
        )
    trusted = source.signing_key_sha256
    there = ", ".join(f"sha256 {_fingerprint(key)} (newest point {newest})" for key, newest in keys.items())
    chosen = [key for key in keys if trusted in (None, _fingerprint(key))]
    if not chosen:
        raise DamagedError(
            f"{bucket.name}: nothing there is signed with the key of fingerprint {trusted}; found: {there}; do not use "
            "what they hold before you know whose they are"
        )
    if len(chosen) > 1:
        raise DamagedError(
            f"{bucket.name}: points are signed with {len(chosen)} keys: {there}; the stack was given another root "
            "secret, or somebody made points of his own; say which key you trust with signing_key_sha256, or name a "
            "point with --point"
        )
    said = "it was sealed in the point, and has the fingerprint that you gave"
    if trusted is None:
        said = "it was sealed in the point itself: compare its fingerprint with the one that you kept"
    return _Opened(Vault(chosen[0], reader=bucket), _fingerprint(chosen[0]), said, _notes(passed))


def _notes(passed: list[str]) -> tuple[str, ...]:
    return (f"{len(passed)} manifests do not open, of them: {'; '.join(passed[-_SHOWN:])}",) if passed else ()


def _keys(bucket: Bucket, private: str, point: str | None) -> tuple[dict[bytes, str], list[str]]:
    """Signing key → newest point that has it sealed and is signed with it; and why others gave none."""
    keys, passed = dict[bytes, str](), list[str]()
    for version in _manifests(bucket, point):
        where = f"{bucket.name}/{version.key}"
        try:
            keys[_key_inside(bucket, version, private, where)] = names.point_of(version.key) or ""
        except DamagedError as error:
            passed.append(f"{names.point_of(version.key)}: {error}")
    return keys, passed


def _manifests(bucket: Bucket, point: str | None) -> Iterator[Version]:
    """Every version of every manifest, or of one point's: an older one may be the genuine one."""
    if point is not None and names.point_of(names.manifest_key(point)) != point:
        raise RecoveryError(f"`{point}` is no id of a point; accepted is, for example, 20261130T072000Z-1f2e3d4c")
    none = True
    for version in bucket.versions(names.folder(point) if point else names.POINTS):
        if names.is_manifest(version.key) and not version.marker:
            none = False
            yield version
    if none:
        raise RecoveryError(
            f"there is no {f'point {point}' if point else 'restore point'} in {bucket.name}; is it the right bucket?"
        )


def _key_inside(bucket: Bucket, version: Version, private: str, where: str) -> bytes:
    """The signing key that a manifest's own sealed part holds, if it has signed this manifest."""
    content = bucket.get(version.key, version.id, limit=names.MANIFEST_BYTES)
    if content is None:
        raise DamagedError(f"{where}: it was deleted meanwhile; run again")
    part = _part(envelope.claimed("manifest", content, Point, where))
    key = open_part(private, part, Vault(b"", reader=bucket)).get(SIGNING_SECRET, {}).get(SIGNING_ENTRY, b"").strip()
    if len(key) < SHORTEST_SIGNING_KEY:
        raise DamagedError(
            f"{where}: its secrets have no signing key ({SIGNING_SECRET}, {SIGNING_ENTRY}); give it as signing_key_file"
        )
    envelope.unseal("manifest", content, key, Point, where)
    return key


def _verified(vault: Vault, bucket: Bucket) -> str:
    found = vault.latest_verified().point
    if found is None:
        newest = vault.latest().point
        there = f"the newest is {newest.id}; --point takes one that was not" if newest else "none can be read with it"
        raise DamagedError(f"{bucket.name}: no point that is signed with this key was verified; {there}")
    return found.id


def _part(point: Point) -> Part:
    found = next((part for part in point.parts if part.kind == "secrets"), None)
    if found is None:
        raise DamagedError(f"point {point.id} holds no secrets; set recovery_public_key, and take another point")
    return found


def _fingerprint(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()


def _must_be_free(into: Path) -> None:
    try:
        taken = into.exists() and any(into.iterdir())
    except OSError as error:
        raise RecoveryError(f"--into {into} cannot be looked at ({error.strerror}); name a new directory") from None
    if taken:
        raise RecoveryError(f"--into {into} is not empty; nothing was opened; name a directory that is not there yet")


def _write(into: Path, secrets: Mapping[str, Mapping[str, bytes]]) -> None:
    """Directories of mode 700, files of mode 600. Names were checked when the part was opened."""
    try:
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        into.chmod(0o700)
        for secret, entries in secrets.items():
            (into / secret).mkdir(mode=0o700)
            for key, value in entries.items():
                write_private(into / secret / key, value)
    except OSError as error:
        raise RecoveryError(
            f"{into} cannot be written ({error.strerror}); delete what it holds, make room, run again"
        ) from None
