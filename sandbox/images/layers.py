"""Layers that roles are made of, each with the key that names its content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import certifi

from sandbox.errors import SandboxError
from sandbox.images.oci import Entry
from sandbox.process import run
from sandbox.programs.build import binary
from sandbox.programs.spec import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.home import Home
    from sandbox.hosttools import HostTools

PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
GROUP = b"root:x:0:\nnobody:x:65534:\n"
NSSWITCH = b"hosts: files dns\n"
CERTIFICATES: Final = "etc/ssl/certs/ca-certificates.crt"
CODE_ROOT: Final = "opt/plumbline"
CODE: Final = ("sandbox/__init__.py", "sandbox/workloads", "signals")  # what of the checkout runs in containers


@dataclass(frozen=True)
class Layer:
    """A layer and the key that changes when, and only when, its content does."""

    key: str
    entries: tuple[Entry, ...]


def key(*parts: str) -> str:
    """Hash over the parts, each apart from the next."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def base(tools: HostTools) -> Layer:
    """Shell, accounts, certificate authorities and /tmp."""
    busybox = next(p for p in (tools.tree / "bin/busybox", tools.tree / "usr/bin/busybox") if p.exists())
    applets = run([str(busybox), "--list"], timeout=30).stdout.split()
    directories = ("bin", "dev", "etc", "etc/ssl", "etc/ssl/certs", "proc", "root", "sys", "usr", "usr/bin", "var")
    entries = (
        *(Entry(path) for path in directories),
        Entry("tmp", 0o1777),
        Entry("bin/busybox", file=busybox),
        *(Entry(f"bin/{name}", 0o777, link="busybox") for name in sorted(set(applets) - {"busybox"})),
        Entry("etc/passwd", 0o644, content=PASSWD),
        Entry("etc/group", 0o644, content=GROUP),
        Entry("etc/nsswitch.conf", 0o644, content=NSSWITCH),
        Entry(CERTIFICATES, 0o644, file=Path(certifi.where())),
    )
    shape = repr([(e.path, e.mode, e.content, e.link) for e in entries])  # copied files count by version
    return Layer(key("base", tools.versions()["busybox-static"], certifi.__version__, shape), entries)


def programs(home: Home, *names: str) -> Layer:
    """Binaries of one pinned module, in /bin."""
    owner = next(p for p in catalogue()[1].values() if names[0] in p.outputs)
    return Layer(
        key("programs", owner.name, owner.digest(), *names),
        tuple(Entry(f"bin/{name}", file=binary(home, name)) for name in names),
    )


def code(checkout: Path) -> Layer:
    """The parts of the checkout that run in containers, below /opt/plumbline. The content itself is the key."""
    contents = {path: (checkout / path).read_bytes() for path in sorted(_code_files(checkout))}
    entries = (
        *directories(f"{CODE_ROOT}/{path}" for path in contents),
        *(Entry(f"{CODE_ROOT}/{path}", 0o644, content=content) for path, content in contents.items()),
    )
    digests = (part for path, content in contents.items() for part in (path, hashlib.sha256(content).hexdigest()))
    return Layer(key("code", CODE_ROOT, *digests), entries)


def _code_files(checkout: Path) -> Iterable[str]:
    for name in CODE:
        top = checkout / name
        for path in (top, *(top.rglob("*") if top.is_dir() else ())):
            relative = path.relative_to(checkout)
            if path.is_symlink():
                raise SandboxError(f"{relative} is a link; an image takes files alone", "put the file itself there")
            made = path.suffix == ".pyc" or any(part.startswith(".") for part in relative.parts)
            if path.is_file() and not made:
                yield relative.as_posix()


def directories(paths: Iterable[str]) -> tuple[Entry, ...]:
    """An entry for each directory above the paths, parents first."""
    above = {parent.as_posix() for path in paths for parent in Path(path).parents}
    return tuple(Entry(path) for path in sorted(above - {"."}))
