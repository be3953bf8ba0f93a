"""Builds image archives into the cache and writes `images.json` (role → reference, image id)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.images.oci import write_archive, write_layer
from sandbox.images.roles import build_roles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.hosttools import HostTools
    from sandbox.images.roles import Layer, Role
    from sandbox.progress import Progress


@dataclass(frozen=True)
class BuiltImage:
    """An archive in the cache. `image_id` is the digest of its configuration, which the kubelet reports."""

    reference: str
    image_id: str
    archive: Path


def ensure(home: Home, tools: HostTools, progress: Progress) -> dict[str, BuiltImage]:
    """Role name → image, building only what the cache lacks. The caller holds the machine's lock."""
    home.images.mkdir(parents=True, exist_ok=True)
    for remains in home.images.glob("*.part"):  # written by a process that was killed
        remains.unlink()
    return {role.name: _image(home, role, progress) for role in build_roles(home, tools)}


def write_index(images: Mapping[str, BuiltImage], target: Path) -> None:
    """Write images.json atomically: `{role: {"reference": …, "image_id": …}}`."""
    content = {name: {"reference": i.reference, "image_id": i.image_id} for name, i in sorted(images.items())}
    temporary = target.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=2) + "\n")
    temporary.replace(target)


def _image(home: Home, role: Role, progress: Progress) -> BuiltImage:
    reference = role.reference()
    stem = reference.rsplit("/", 1)[1].replace(":", "_")
    archive, record = home.images / f"{stem}.tar", home.images / f"{stem}.json"
    if not (archive.exists() and record.exists()):
        with progress.step(f"image {role.name} {role.version}"):
            layers = [_layer(home, layer) for layer in role.layers]
            temporary = archive.with_suffix(".part")
            image_id = write_archive(reference, layers, role.settings, temporary)
            temporary.replace(archive)
            temporary.write_text(json.dumps({"image_id": image_id}))
            temporary.replace(record)  # last: its presence says the archive is whole
    return BuiltImage(reference, str(json.loads(record.read_text())["image_id"]), archive)


def _layer(home: Home, layer: Layer) -> Path:
    path = home.images / f"layer-{layer.key[:16]}.tar"
    if not path.exists():
        temporary = path.with_suffix(".part")
        write_layer(layer.entries, temporary)
        temporary.replace(path)
    return path
