"""Configuration that a program reads once: pods were made for the ConfigMap that is there, which is as rendered."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

OWN_REVISION: Final = "revision-of-this-file"
"""What a file says in place of its revision while that is worked out."""
UID: Final = "plumbline/config-uid"
VOLUME: Final = "config"
_DIGITS: Final = 12


def revision(files: Mapping[str, str], own: str) -> str:
    """The revision of files, as components count it. own: the one that they are thought to have, and to say."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{files[name].replace(own, OWN_REVISION)}\0".encode())
    return f"r{digest.hexdigest()[:_DIGITS]}"


def mounted(pod: Json) -> str | None:
    """Name of the ConfigMap that the pod reads its configuration from."""
    volumes = pod["spec"].get("volumes") or []
    names = [one["configMap"]["name"] for one in volumes if one["name"] == VOLUME and "configMap" in one]
    return str(names[0]) if names else None


def fixed(who: str, pods: list[Json], config_maps: Mapping[str, Json | None], expected: str) -> list[Problem]:
    """Pods mount the promised files, which are unchanged, and none is older than they are.

    config_maps: name → what is there, for every name that a pod mounts. expected: the promised revision.
    """
    problems = [one for name, found in config_maps.items() for one in _as_rendered(name, found, expected)]
    for pod in pods:
        name = mounted(pod)
        subject = f"{who}, pod {pod['metadata']['name']}"
        found = config_maps.get(name) if name else None
        if found is None:
            problems.append(Problem(subject, f"configured by {name or 'no ConfigMap'}", "by one that is there"))
        elif (pod["metadata"].get("annotations") or {}).get(UID) != found["metadata"]["uid"]:
            seen = f"made for another ConfigMap {name} than the one that is there, which somebody made again"
            problems.append(Problem(subject, seen, "made for the one that is there"))
    return problems


def _as_rendered(name: str, found: Json | None, expected: str) -> list[Problem]:
    subject = f"ConfigMap {name}"
    if found is None:
        return [Problem(subject, "missing", f"revision {expected}")]
    seen = revision(found.get("data") or {}, expected)
    problems = [] if seen == expected else [Problem(subject, f"files of revision {seen}", f"of revision {expected}")]
    if found.get("immutable") is not True:
        problems.append(Problem(subject, "can be changed", "immutable: true"))
    return problems
