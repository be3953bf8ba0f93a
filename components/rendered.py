"""Files of a configuration, and the revision that names them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_REVISION_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """files: file name → text, as they lie in one directory. revision: changes with any of them."""

    files: dict[str, str]
    revision: str


def revision(files: Mapping[str, str]) -> str:
    """First 12 hex digits of SHA-256 over names and contents, each ended by a zero byte, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{files[name]}\0".encode())
    return digest.hexdigest()[:_REVISION_DIGITS]
