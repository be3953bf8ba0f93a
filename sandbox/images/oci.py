"""OCI image archives written without a registry or a daemon: deterministic layers, one index, one manifest."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # the kernel's name → Go's, which images use
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"


@dataclass(frozen=True)
class Entry:
    """One entry of a layer: bytes, a file to copy, a symlink target, or (none of these) a directory."""

    path: str
    mode: int = 0o755
    content: bytes | None = None
    file: Path | None = None
    link: str | None = None


@dataclass(frozen=True)
class Settings:
    """How a container of the image starts. stop_signal: what asks it to end, where that is not SIGTERM."""

    entrypoint: tuple[str, ...]
    user: str = "65534:65534"
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    stop_signal: str = ""


def write_layer(entries: Sequence[Entry], target: Path) -> None:
    """Write an uncompressed layer; equal entries give equal bytes (owner 0, time 0, order as given)."""
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for entry in entries:
            info = tarfile.TarInfo(entry.path)
            info.mode = entry.mode
            if entry.link is not None:
                info.type, info.linkname = tarfile.SYMTYPE, entry.link
                tar.addfile(info)
            elif entry.file is not None:
                info.size = entry.file.stat().st_size
                with entry.file.open("rb") as handle:
                    tar.addfile(info, handle)
            elif entry.content is not None:
                info.size = len(entry.content)
                tar.addfile(info, io.BytesIO(entry.content))
            else:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)


def file_digest(path: Path) -> str:
    """`sha256:…` of a file."""
    with path.open("rb") as handle:
        return "sha256:" + hashlib.file_digest(handle, "sha256").hexdigest()


def write_archive(reference: str, layers: Sequence[Path], settings: Settings, target: Path) -> str:
    """Write an OCI archive for `ctr images import` and return the image id (digest of its configuration)."""
    digests = [file_digest(layer) for layer in layers]
    config = _json(
        {
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {
                "User": settings.user,
                "Entrypoint": list(settings.entrypoint),
                "Env": [f"{k}={v}" for k, v in sorted(settings.env.items())],
                "Labels": dict(sorted(settings.labels.items())),
                "WorkingDir": "/",
                **({"StopSignal": settings.stop_signal} if settings.stop_signal else {}),
            },
            "rootfs": {"type": "layers", "diff_ids": digests},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": _descriptor(CONFIG_TYPE, config),
            "layers": [
                {"mediaType": LAYER_TYPE, "digest": digest, "size": layer.stat().st_size}
                for digest, layer in zip(digests, layers, strict=True)
            ],
        }
    )
    entry = _descriptor(MANIFEST_TYPE, manifest) | {
        "annotations": {
            "io.containerd.image.name": reference,
            "org.opencontainers.image.ref.name": reference.rsplit(":", 1)[1],
        }
    }
    with tarfile.open(target, "w") as tar:
        _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        _add(tar, "index.json", _json({"schemaVersion": 2, "manifests": [entry]}))
        for blob in (config, manifest):
            _add(tar, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
        for digest, layer in zip(digests, layers, strict=True):
            tar.add(layer, f"blobs/sha256/{digest.removeprefix('sha256:')}", filter=_plain)
    return "sha256:" + hashlib.sha256(config).hexdigest()


def _json(value: Any) -> bytes:  # noqa: ANN401  any JSON value
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    return {
        "mediaType": media_type,
        "digest": "sha256:" + hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = info.mtime = 0
    info.mode = 0o644  # not the umask of whoever builds
    info.uname = info.gname = ""
    return info
