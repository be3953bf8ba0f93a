"""Mounts: what lies behind a path of a container, by the spec of its pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke.model import Problem

if TYPE_CHECKING:
    from stacks.contract import Claim

Json = dict[str, Any]


def volume_at(spec: Json, container: str, point: str) -> Json | None:
    """The volume that the container has mounted at this very path, or None."""
    mounts = next((c.get("volumeMounts") or [] for c in spec["containers"] if c["name"] == container), [])
    names = [mount["name"] for mount in mounts if mount["mountPath"].rstrip("/") == point.rstrip("/")]
    return next((volume for volume in spec.get("volumes") or [] if volume["name"] in names), None)


def config_map_at(spec: Json, container: str, point: str) -> str | None:
    """Name of the ConfigMap that the container has mounted at this path, or None."""
    name: str | None = ((volume_at(spec, container, point) or {}).get("configMap") or {}).get("name")
    return name


def config_map_of(spec: Json, container: str, path: str) -> str | None:
    """Name of the ConfigMap that a file of the container is from, or None if it is from anything else.

    Of several mounts the one that is nearest to the file counts. One that shows a part of its volume is anything else.
    """
    mounts = next((c.get("volumeMounts") or [] for c in spec["containers"] if c["name"] == container), [])
    above = [mount for mount in mounts if f"{path}/".startswith(f"{mount['mountPath'].rstrip('/')}/")]
    nearest = max(above, key=lambda mount: len(mount["mountPath"].rstrip("/")), default=None)
    if nearest is None or nearest.get("subPath") or nearest.get("subPathExpr"):
        return None
    return config_map_at(spec, container, nearest["mountPath"])


def is_claim(spec: Json, container: str, claim: Claim, subject: str) -> list[Problem]:
    """The contracted claim is what is mounted: a volume of the pod's own dies with the pod."""
    subject = f"{subject} at {claim.mounted_at}"
    volume = volume_at(spec, container, claim.mounted_at)
    wanted = f"claim {claim.name}"
    if volume is None:
        return [Problem(subject, "no volume in the pod's spec", wanted)]
    name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    if name == claim.name:
        return []
    kinds = ", ".join(sorted(set(volume) - {"name"})) or "no source"
    return [Problem(subject, f"claim {name}" if name else f"a volume of kind {kinds}", wanted)]
