"""Secrets of the stack, sealed for a recovery key whose private half is in no cluster.

Neither values nor what could be guessed from them (a hash, a length of one) go into figures, messages or the vault.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field, JsonValue

from recovery import seal
from recovery.errors import DamagedError, RecoveryError
from recovery.model import CHUNK_BYTES, Part, Record
from recovery.stores.configured import InWork
from recovery.stores.differ import Differences, Found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recovery.model import File, Mode
    from recovery.ports import Compared, Reader, Tell, Writer

SEALED_FILE: Final = "secrets.sealed"
_INFO: Final = b"plumbline recovery secrets 1"
LARGEST_SEALED: Final = CHUNK_BYTES + seal.OVERHEAD
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,253}")
"""Of a Secret and of its keys, as Kubernetes has them."""
_VERSION: Final = "HPKE X25519 HKDF-SHA256 AES-256-GCM"


class Settings(Record):
    """directories: each a mounted Secret, named after it, with a file for each key."""

    kind: Literal["secrets"] = "secrets"
    name: str = Field(min_length=1)
    directories: tuple[str, ...] = Field(min_length=1)
    recovery_public_key: str = Field(pattern=r"^plumbline-recovery-public-1:[A-Za-z0-9_-]{43}$")


@dataclass(frozen=True)
class Sealed(InWork):
    """Store of recovery/ports.py. Nothing can be restored here: the copy is the sealed bytes, for a person to open."""

    settings: Settings
    ending = "sealed"

    def take(self, writer: Writer, mode: Mode, tell: Tell) -> Part:
        """See Store."""
        del mode  # a mounted Secret changes as a whole, so it is read the same in both
        secrets = {name: _secret(path) for name, path in self._places().items()}
        plain = json.dumps({name: _encoded(values) for name, values in secrets.items()}, sort_keys=True).encode()
        if len(plain) > CHUNK_BYTES:
            raise RecoveryError(f"{self.name}: its secrets take {len(plain)} bytes; accepted: up to {CHUNK_BYTES}")
        sealed = seal.seal(self.settings.recovery_public_key, plain, _INFO)
        file = writer.put(SEALED_FILE, [sealed])
        tell(f"{self.name}: {len(secrets)} secrets sealed")
        names: dict[str, JsonValue] = {name: list[JsonValue](sorted(values)) for name, values in secrets.items()}
        return Part(
            store=self.name,
            kind=self.kind,
            version=_VERSION,
            files=(file,),
            figures={
                "secrets": names,
                "sealed_bytes": len(sealed),
                "recovery_key": seal.fingerprint(self.settings.recovery_public_key),
            },
        )

    def _places(self) -> dict[str, Path]:
        places = dict[str, Path]()
        for text in self.settings.directories:
            path = Path(text)
            if path.name in places:
                raise RecoveryError(
                    f"{self.name}: two directories are called {path.name}; mount each secret by its name"
                )
            places[path.name] = path
        return dict(sorted(places.items()))

    def restore(self, part: Part, reader: Reader, tell: Tell) -> None:
        """Keep the sealed bytes in the working directory. They cannot be opened here."""
        whole = b"".join(reader.read(_sealed(part)))
        if len(whole) <= seal.OVERHEAD:
            raise DamagedError(
                f"{part.store}: {len(whole)} sealed bytes are too few to hold anything; use an earlier point"
            )
        self.keep(whole)
        tell(f"{self.name}: {len(whole)} sealed bytes kept; open them with the private recovery key")

    def compare(self, part: Part, reader: Reader) -> Compared:
        """Hold what was kept against the point, byte by byte. What is inside, only the private key can tell."""
        found = Differences(part.store)
        kept = self.copy.read_bytes() if self.copy.is_file() else b""
        if kept != b"".join(reader.read(_sealed(part))):
            found.add(f"the {len(kept)} sealed bytes that were kept are not those of the restore point")
        names, key = part.figures.get("secrets"), part.figures.get("recovery_key")
        if not isinstance(names, dict) or not names:
            found.add("the restore point does not say which secrets it holds")
        own = seal.fingerprint(self.settings.recovery_public_key)
        if key != own:
            found.add(f"sealed for the recovery key {key}, the configuration names {own}: keep both private keys")
        measured: dict[str, JsonValue] = {"sealed_bytes": len(kept)}
        found.figures({"sealed_bytes": part.figures.get("sealed_bytes")}, measured)
        return Found(found.all, measured)

    def promote(self, *, force: bool) -> str:
        """Changes nothing: a stack is given its secrets by its own deployment."""
        del force
        if not self.copy.is_file():
            raise RecoveryError(
                f"{self.name}: no sealed secrets in {self.work}; run restore first, in the same directory"
            )
        return (
            f"{self.name}: nothing was changed; sealed secrets lie in {self.copy}: open them with the private "
            "recovery key and "
            "give them to the stack as its settings"
        )

    def demote(self) -> str:
        """Nothing was replaced."""
        return f"{self.name}: nothing to put back, secrets of the stack were not touched"

    def confirm(self) -> str:
        """Nothing was replaced."""
        return f"{self.name}: nothing to delete, secrets of the stack were not touched"

    def discard(self) -> str:
        """Delete the sealed bytes that were kept."""
        self.copy.unlink(missing_ok=True)
        return f"{self.name}: sealed bytes deleted from {self.work}"


def open_store(settings: Settings, work: Path) -> Sealed:
    """The store of a section; nothing is read yet."""
    return Sealed(settings, work)


def open_part(private: str, part: Part, reader: Reader) -> dict[str, dict[str, bytes]]:
    """Secret → key → value, for a person or a drill. private: the text of the private recovery key.

    Raises RecoveryError if that is none; DamagedError if it is another key's, or what was sealed is not as this
    program seals it, or has other names than the part says.
    """
    file = _sealed(part)
    if sum(chunk.size for chunk in file.chunks) > LARGEST_SEALED:
        raise DamagedError(
            f"{part.store}: more than {LARGEST_SEALED} sealed bytes, which this program never makes; use an earlier "
            "point, and look for who writes to the target"
        )
    try:
        plain = seal.unseal(private, b"".join(reader.read(file)), _INFO)
    except DamagedError as error:
        raise DamagedError(f"{part.store}: {error}: {part.figures.get('recovery_key')}") from None
    found = _decoded(part.store, plain)
    if {name: sorted(values) for name, values in found.items()} != part.figures.get("secrets"):
        raise DamagedError(
            f"{part.store}: the sealed secrets have other names than the restore point says; use an earlier one"
        )
    return found


def _decoded(store: str, plain: bytes) -> dict[str, dict[str, bytes]]:
    """Names become paths of files, and whoever has the public key can seal any: `..` must lead nowhere."""
    try:
        return {
            _name(secret): {_name(key): base64.b64decode(text, validate=True) for key, text in values.items()}
            for secret, values in json.loads(plain).items()
        }
    except (ValueError, TypeError, AttributeError):
        # `from None`: the error would show what it could not read.
        raise DamagedError(
            f"{store}: what was sealed is not what this program seals; do not use it, and look for who writes to the "
            "target"
        ) from None


def _name(text: str) -> str:
    if not _NAME.fullmatch(text) or text in (".", ".."):
        raise ValueError("no name of a secret or of its key")
    return text


def _secret(directory: Path) -> dict[str, bytes]:
    """Key → value of a mounted Secret. The kubelet swaps `..data` to change it: one target of it is read."""
    try:
        root = (directory / "..data").resolve(strict=True) if (directory / "..data").is_symlink() else directory
        values = {
            path.name: path.read_bytes()
            for path in sorted(root.iterdir())
            if not path.name.startswith("..") and path.is_file()
        }
    except OSError as error:
        text = f"{directory}: cannot be read: {type(error).__name__}; mount a secret there, readable by this program"
        raise RecoveryError(text) from None
    if not values:
        raise RecoveryError(
            f"{directory}: has no file; the secret {directory.name} must be mounted there and have a key"
        )
    return values


def _encoded(values: Mapping[str, bytes]) -> dict[str, str]:
    return {key: base64.b64encode(value).decode() for key, value in values.items()}


def _sealed(part: Part) -> File:
    found = next((file for file in part.files if file.path == SEALED_FILE), None)
    if found is None:
        raise DamagedError(f"{part.store}: the restore point has no {SEALED_FILE}; use an earlier one")
    return found
