"""The stack file of `local`: made from the committed one, kept with the state, never overwriting what the user set.

The engine writes an encryption salt into the file, and `make up` the cluster's identity: neither belongs into git.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def merge(
    committed: Mapping[str, Any], base: Mapping[str, Any], current: Mapping[str, Any], derived: Mapping[str, Any]
) -> dict[str, Any]:
    """Config of the state's file.

    committed: the project's file now. base: the project's file when the state's was last written. current: the state's
    file. A key that the user changed since (current differs from base) stays; any other follows the project.
    derived: sub-keys that `make up` knows (cluster identity, image list); they win, one level deep.
    """
    merged = dict(current)
    for key in {*committed, *base}:
        if current.get(key) == base.get(key):
            if key in committed:
                merged[key] = committed[key]
            else:
                merged.pop(key, None)
    for key, values in derived.items():
        known = merged.get(key)
        merged[key] = {**(known if isinstance(known, dict) else {}), **values}
    return merged


def refresh(committed: Path, target: Path, derived: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the state's stack file; the engine's own top-level keys (encryptionsalt) stay."""
    base_file = target.with_suffix(".base.yaml")
    project = _config(committed)
    document: dict[str, Any] = yaml.safe_load(target.read_text()) if target.exists() else {}
    base = _config(base_file) if base_file.exists() else {}
    current = _without(document.get("config", {}), derived, project, base)
    document["config"] = merge(project, base, current, derived)
    _write(target, yaml.safe_dump(document, sort_keys=True))
    _write(base_file, committed.read_text())


def _without(
    current: Mapping[str, Any], derived: Mapping[str, Mapping[str, Any]], *sources: Mapping[str, Any]
) -> dict[str, Any]:
    """`current` less derived sub-keys that neither source names, so that they do not read as the user's change."""
    cleaned = dict(current)
    for key, values in derived.items():
        if isinstance(cleaned.get(key), dict):
            named = {name for source in sources if isinstance(source.get(key), dict) for name in source[key]}
            cleaned[key] = {k: v for k, v in cleaned[key].items() if k not in values or k in named}
    return cleaned


def _config(path: Path) -> dict[str, Any]:
    return dict((yaml.safe_load(path.read_text()) or {}).get("config", {}))


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_text(text)
    temporary.replace(path)
