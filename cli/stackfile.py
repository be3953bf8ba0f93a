"""The stack file of `local`: made from the committed one, kept with the state, never overwriting what the user set.

The engine writes an encryption salt into the file, and `make up` the cluster's identity: neither belongs into git.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import yaml

from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def merge(
    committed: Mapping[str, Any], base: Mapping[str, Any], current: Mapping[str, Any], derived: Mapping[str, Any]
) -> dict[str, Any]:
    """Config of the state's file.

    committed: the project's file now. base: the project's file when the state's was last written. current: the state's
    file. A value that the user changed since (current differs from base) stays; any other follows the project, at every
    depth of nested settings. derived: sub-keys that `make up` knows (cluster identity, image list); they win.
    """
    merged = _follow(committed, base, current)
    for key, values in derived.items():
        known = merged.get(key)
        merged[key] = {**(known if isinstance(known, dict) else {}), **values}
    return merged


def _follow(committed: Mapping[str, Any], base: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(current)
    for key in {*committed, *base}:
        sides = [side[key] for side in (committed, base, current) if isinstance(side.get(key), dict)]
        if len(sides) == 3:  # noqa: PLR2004  nested settings on every side
            merged[key] = _follow(*sides)
        elif current.get(key) == base.get(key):
            if key in committed:
                merged[key] = committed[key]
            else:
                merged.pop(key, None)
    return merged


def refresh(committed: Path, target: Path, derived: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the state's stack file; the engine's own top-level keys (encryptionsalt) stay."""
    base_file = target.with_suffix(".base.yaml")
    document = _document(target) if target.exists() else {}
    # Without a file of ours nothing was changed in it, whatever the last merge began from.
    known = (base_file, target) if document else ()
    settings = (
        config(committed),
        *(config(path) if path in known and path.exists() else {} for path in (base_file, target)),
    )
    project, base, current = (_without(s, derived) for s in settings)
    document["config"] = merge(project, base, current, derived)
    _write(target, yaml.safe_dump(document, sort_keys=True))
    _write(base_file, committed.read_text())


def config(path: Path) -> dict[str, Any]:
    """The settings of a stack file. Raises SandboxError when it is missing or is no such file."""
    found = _document(path).get("config") or {}
    if not isinstance(found, dict):
        raise SandboxError(f"{path}: `config` is no mapping of keys to values", "write `config:` and keys below it")
    return found


def _without(settings: Mapping[str, Any], derived: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Settings less derived sub-keys: what `make up` wrote must not read as the user's change."""
    cleaned = dict(settings)
    for key, values in derived.items():
        if isinstance(cleaned.get(key), dict):
            cleaned[key] = {k: v for k, v in cleaned[key].items() if k not in values}
            if not cleaned[key]:
                del cleaned[key]
    return cleaned


def _document(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text()) or {}
    except FileNotFoundError as error:
        raise SandboxError(f"there is no stack file {path}", "run make up, or write the file") from error
    except yaml.YAMLError as error:
        raise SandboxError(
            f"{path} is not YAML: {error}", "correct the file, then run the same command again"
        ) from error
    if not isinstance(found, dict):
        raise SandboxError(f"{path} is no mapping", "write `config:` and keys below it")
    return found


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_text(text)
    temporary.replace(path)
