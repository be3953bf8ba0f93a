"""Configuration of programs that read it once, when they start: files that nobody can change under a running one.

The ConfigMap is named by the hash of its file and immutable. Who wants other files makes another one, which their pods
must name, and so start anew. It can be deleted and made again under its name, with whatever it then holds; so pods also
carry the uid of the one that they were made for (components/kube.py), and smoke compares all three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.objects import Manifest, config_map
from components.rendered import Rendered, revision

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN_REVISION: Final = "revision-of-this-file"
"""Stands in a file in place of the revision while that is worked out."""
LARGEST: Final = 2**20
"""Bytes of files that Kubernetes takes in one ConfigMap."""


def render(file: str, text: str) -> Rendered:
    """One file, which says its own revision wherever `text` says OWN_REVISION."""
    own = revision_of({file: text})
    return Rendered(files={file: text.replace(OWN_REVISION, own)}, revision=own)


def revision_of(files: Mapping[str, str]) -> str:
    """`r` and the hash of names and contents.

    A letter first: YAML takes some rows of hex digits for numbers, `12e3` for one.
    """
    return f"r{revision(files)}"


def fixed_name(name: str, own: str) -> str:
    """Name of the ConfigMap. own: its revision."""
    return f"{name}-{own}"


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


def volume(name: str, own: str) -> Manifest:
    """The volume `config` of a pod that mounts it. own: its revision."""
    return {"name": "config", "configMap": {"name": fixed_name(name, own)}}
