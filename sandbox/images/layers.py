"""Layers that roles are made of, each with the key that names its content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import certifi

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
    above = ("bin", "dev", "etc", "etc/ssl", "etc/ssl/certs", "proc", "root", "sys", "usr", "usr/bin", "var")
    entries = (
        *(Entry(path) for path in above),
        Entry("tmp", 0o1777),
        Entry("bin/busybox", file=busybox),
        *(Entry(f"bin/{name}", 0o777, link="busybox") for name in sorted(set(applets) - {"busybox"})),
        *_settings(),
    )
    return Layer(key("base", tools.versions()["busybox-static"], certifi.__version__, _shape(entries)), entries)


def bare() -> Layer:
    """Accounts, certificate authorities and /tmp: without a shell, and without any other program."""
    above = ("dev", "etc", "etc/ssl", "etc/ssl/certs", "proc", "sys", "var")
    entries = (*(Entry(path) for path in above), Entry("tmp", 0o1777), *_settings())
    return Layer(key("bare", certifi.__version__, _shape(entries)), entries)


def _settings() -> tuple[Entry, ...]:
    return (
        Entry("etc/passwd", 0o644, content=PASSWD),
        Entry("etc/group", 0o644, content=GROUP),
        Entry("etc/nsswitch.conf", 0o644, content=NSSWITCH),
        Entry(CERTIFICATES, 0o644, file=Path(certifi.where())),
    )


def _shape(entries: tuple[Entry, ...]) -> str:
    """What the key takes of the entries: copied files count by version."""
    return repr([(e.path, e.mode, e.content, e.link) for e in entries])


def programs(home: Home, *names: str) -> Layer:
    """Binaries of one pinned module, in /bin."""
    owner = next(p for p in catalogue()[1].values() if names[0] in p.outputs)
    return Layer(
        key("programs", owner.name, owner.digest(), *names),
        tuple(Entry(f"bin/{name}", file=binary(home, name)) for name in names),
    )


def program_at(home: Home, name: str, path: str) -> Layer:
    """One binary of a pinned module, at a path of its own."""
    owner = next(p for p in catalogue()[1].values() if name in p.outputs)
    entries = (*directories([path]), Entry(path, file=binary(home, name)))
    return Layer(key("program at", owner.name, owner.digest(), name, path), entries)


def accounts(name: str, number: int) -> Layer:
    """An account beside those of the base: programs ask who runs them. number: of the user and of its group."""
    entries = (
        Entry("etc/passwd", 0o644, content=PASSWD + f"{name}:x:{number}:{number}:{name}:/tmp:/bin/false\n".encode()),
        Entry("etc/group", 0o644, content=GROUP + f"{name}:x:{number}:\n".encode()),
    )
    return Layer(key("accounts", repr([(entry.path, entry.content) for entry in entries])), (Entry("etc"), *entries))


def directories(paths: Iterable[str]) -> tuple[Entry, ...]:
    """An entry for each directory above the paths, parents first."""
    above = {parent.as_posix() for path in paths for parent in Path(path).parents}
    return tuple(Entry(path) for path in sorted(above - {"."}))
