"""Builds image archives into the cache and writes `images.json` (role → reference, image id, stand-in or not)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.images import materials
from sandbox.images.oci import write_archive, write_layer
from sandbox.images.roles import build_roles, roles_of_tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.hosttools import HostTools
    from sandbox.images.layers import Layer
    from sandbox.images.role import Role
    from sandbox.progress import Progress

OTHERS_KEPT: Final = 2  # archives of an image that this checkout does not use: of another checkout, or of yesterday
LARGE: Final = 200_000_000  # bytes; above it a layer, or an archive that is not used, is cheaper to build than to store


@dataclass(frozen=True)
class BuiltImage:
    """An archive in the cache. `image_id` is the digest of its configuration, which the kubelet reports.

    stand_in: whether the image imitates a program that cannot be had here.
    """

    reference: str
    image_id: str
    archive: Path
    stand_in: bool = False


def ensure(home: Home, tools: HostTools, progress: Progress, *, tests: bool = False) -> dict[str, BuiltImage]:
    """Role name → image, building only what the cache lacks. The caller holds the machine's lock.

    tests: with the roles that live tests alone need.
    """
    home.images.mkdir(parents=True, exist_ok=True)
    for remains in home.images.glob("*.part"):  # written by a process that was killed
        remains.unlink()
    made = materials.ensure(home, progress)
    roles = build_roles(home, tools, made)
    roles += roles_of_tests(home, tools, made) if tests else ()
    images = {role.name: _image(home, role, progress) for role in roles}
    _prune(home, roles, images.values())
    materials.prune(home, made)
    return images


def write_index(images: Mapping[str, BuiltImage], target: Path) -> None:
    """Write images.json atomically: `{role: {"reference": …, "image_id": …, "stand_in": …}}`."""
    content = {
        name: {"reference": i.reference, "image_id": i.image_id, "stand_in": i.stand_in}
        for name, i in sorted(images.items())
    }
    temporary = target.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=2) + "\n")
    temporary.replace(target)


def _image(home: Home, role: Role, progress: Progress) -> BuiltImage:
    reference = role.reference()
    stem = reference.rsplit("/", 1)[1].replace(":", "_")
    archive, record = home.images / f"{stem}.tar", home.images / f"{stem}.json"
    if not (archive.exists() and record.exists()):
        with progress.step(f"image {role.image or role.name} {role.version}"):
            layers = [_layer(home, layer) for layer in role.layers]
            temporary = archive.with_suffix(".part")
            image_id = write_archive(reference, layers, role.settings, temporary)
            temporary.replace(archive)
            temporary.write_text(json.dumps({"image_id": image_id}))
            temporary.replace(record)  # last: its presence says the archive is whole
    return BuiltImage(reference, str(json.loads(record.read_text())["image_id"]), archive, role.stand_in)


def _layer(home: Home, layer: Layer) -> Path:
    path = _layer_path(home, layer)
    if not path.exists():
        temporary = path.with_suffix(".part")
        write_layer(layer.entries, temporary)
        temporary.replace(path)
    return path


def _layer_path(home: Home, layer: Layer) -> Path:
    return home.images / f"layer-{layer.key[:16]}.tar"


def _prune(home: Home, roles: Sequence[Role], images: Iterable[BuiltImage]) -> None:
    """Bound the cache: each edit of our code makes new archives of some 60 MB.

    Whoever imports an archive holds the machine's lock since it made sure of it, so that nobody is between the two
    now; what another checkout misses next time it builds anew from files that stay.
    """
    layers = {_layer_path(home, layer) for role in roles for layer in role.layers}
    for path in set(home.images.glob("layer-*.tar")):
        if path not in layers or path.stat().st_size > LARGE:
            path.unlink()
    used = {image.archive for image in images}
    for role in roles:
        others = set(home.images.glob(f"{role.image or role.name}_*.tar")) - used
        small = [path for path in others if path.stat().st_size <= LARGE]
        kept = sorted(small, key=lambda path: path.stat().st_mtime_ns, reverse=True)[:OTHERS_KEPT]
        for archive in others - set(kept):
            archive.with_suffix(".json").unlink(missing_ok=True)  # first: without it the archive counts as half made
            archive.unlink()
