"""Which images are built here, from what. Each role is a base layer that all share plus a layer of its own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import certifi

from sandbox.images.oci import Entry, Settings
from sandbox.process import run
from sandbox.programs.build import binary
from sandbox.programs.spec import catalogue

if TYPE_CHECKING:
    from sandbox.home import Home
    from sandbox.hosttools import HostTools

PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
GROUP = b"root:x:0:\nnobody:x:65534:\n"
NSSWITCH = b"hosts: files dns\n"


@dataclass(frozen=True)
class Layer:
    """A layer and the key that changes when, and only when, its content does."""

    key: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Role:
    """An image: name, version in its tag, layers from the bottom up, how it starts."""

    name: str
    version: str
    layers: tuple[Layer, ...]
    settings: Settings

    def digest(self) -> str:
        """First 8 hex digits of the hash over every input."""
        return _hash(self.version, repr(self.settings), *(layer.key for layer in self.layers))[:8]

    def reference(self) -> str:
        """`plumbline.local/<role>:<version>-<hash8>`: says that it was built here, never an upstream's name."""
        return f"plumbline.local/{self.name}:{self.version}-{self.digest()}"


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _base(tools: HostTools) -> Layer:
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
        Entry("etc/ssl/certs/ca-certificates.crt", 0o644, file=Path(certifi.where())),
    )
    shape = repr([(e.path, e.mode, e.content, e.link) for e in entries])  # copied files count by version
    key = _hash("base", tools.versions()["busybox-static"], certifi.__version__, shape)
    return Layer(key, entries)


def _programs(home: Home, *names: str) -> Layer:
    """Binaries of one pinned module, in /bin."""
    owner = next(p for p in catalogue()[1].values() if names[0] in p.outputs)
    return Layer(
        _hash("programs", owner.name, owner.digest(), *names),
        tuple(Entry(f"bin/{name}", file=binary(home, name)) for name in names),
    )


def build_roles(home: Home, tools: HostTools) -> tuple[Role, ...]:
    """Every role that the embedded cluster and the bundle need here."""
    versions = tools.versions()
    base = _base(tools)
    programs = catalogue()[1]
    catatonit = next(p for p in (tools.tree / "usr/bin/catatonit", tools.tree / "bin/catatonit") if p.exists())
    pause = Layer(_hash("pause", versions["catatonit"]), (Entry("catatonit", file=catatonit),))
    return (
        Role("pause", _tag(versions["catatonit"]), (pause,), Settings(("/catatonit", "-P"))),
        Role("volume-helper", _tag(versions["busybox-static"]), (base,), Settings(("/bin/sh",), user="0:0")),
        Role(
            "prometheus",
            programs["prometheus"].version,
            (base, _programs(home, "prometheus", "promtool")),
            Settings(("/bin/prometheus",), labels={"org.opencontainers.image.title": "prometheus, built by Plumbline"}),
        ),
    )


def _tag(version: str) -> str:
    """A Debian version as an image tag: epochs and revisions hold characters that a tag must not."""
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in version)
