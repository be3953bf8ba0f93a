"""Configuration of programs that read it once, when they start: files that nobody can change under a running one.

The ConfigMap is named by the hash of its file and immutable. Who wants other files makes another one, which their pods
must name, and so start anew. It can be deleted and made again under its name, with whatever it then holds; so pods also
carry the uid of the one that they were made for (components/kube.py), and smoke compares all three.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.objects import Manifest, config_map

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN_REVISION: Final = "revision-of-this-file"
"""Stands in a file in place of the revision while that is worked out."""
_DIGITS: Final = 12
LARGEST: Final = 2**20
"""Bytes of files that Kubernetes takes in one ConfigMap."""


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """files: file name → text, as they lie in one directory. revision: `r` and 12 hex digits, which change with them.

    A letter first: YAML takes some rows of hex digits for numbers, `12e3` for one.
    """

    files: dict[str, str]
    revision: str


def render(file: str, text: str) -> Rendered:
    """One file, which says its own revision wherever `text` says OWN_REVISION."""
    revision = revision_of({file: text})
    return Rendered(files={file: text.replace(OWN_REVISION, revision)}, revision=revision)


def revision_of(files: Mapping[str, str]) -> str:
    """Hash of names and contents, each ended by a zero byte, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{files[name]}\0".encode())
    return f"r{digest.hexdigest()[:_DIGITS]}"


def fixed_name(name: str, revision: str) -> str:
    """Name of the ConfigMap."""
    return f"{name}-{revision}"


def fixed_config_map(name: str, namespace: str, object_labels: dict[str, str], rendered: Rendered) -> Manifest:
    """The ConfigMap of these files. name: how the names of all its revisions begin.

    Raises DeployError for more than a ConfigMap takes: the API server would say so when half of the stack is changed.
    """
    size = sum(len(text.encode()) for text in rendered.files.values())
    if size > LARGEST:
        raise DeployError(
            f"ConfigMap {name}: {', '.join(rendered.files)} of {size} bytes; accepted are {LARGEST}. Each pattern of "
            "your own is in it about twenty times: join several into one with `|`, or write them shorter."
        )
    found = config_map(fixed_name(name, rendered.revision), namespace, object_labels, rendered.files, {})
    return {**found, "immutable": True}


def volume(name: str, revision: str) -> Manifest:
    """The volume `config` of a pod that mounts it."""
    return {"name": "config", "configMap": {"name": fixed_name(name, revision)}}
