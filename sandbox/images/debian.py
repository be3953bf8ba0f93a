"""Programs of images that are the distribution's own: PostgreSQL, Redis, nginx, each with the libraries that it loads.

Packages of the machine's own sources are unpacked, never installed. Of each set only the files that its image needs
are kept, and of all libraries those that the kept programs name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox import debs
from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.images import trees
from sandbox.images.layers import Layer, key
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sandbox.home import Home
    from sandbox.progress import Progress

# What packages need to be installed, and not to run: management scripts, translations, a compiler of queries.
UNWANTED: Final = re.compile(
    r"(postgresql(-client)?-common|locales(-all)?|ssl-cert|libllvm.*|c?debconf.*|.*perl.*|iproute2|adduser|sensible-utils"
    r"|init-system-helpers|sysvinit-utils|lsb-base|libelogind0|dpkg|tar|readline-common|libsasl2-modules.*|openssl.*)"
)
ALWAYS: Final = r"usr/lib64/ld-linux[^/]*|usr/lib/ld-linux[^/]*|usr/lib/[^/]+-linux-gnu[^/]*/ld-linux[^/]*"
RESOLVED: Final = re.compile(r"=> (\S+) \(0x")
MISSING: Final = re.compile(r"(\S+) => not found")
BINARIES: Final = ("bin", "sbin")
ELF: Final = b"\x7fELF"


@dataclass(frozen=True)
class ProgramSet:
    """What one image takes of the distribution.

    packages: with all that they need. main: pattern of the package whose version is the image's.
    files: pattern of the places that are kept, besides libraries. programs: place pattern and argument, to prove that
    each starts.
    """

    name: str
    packages: tuple[str, ...]
    main: str
    files: str
    programs: tuple[tuple[str, str], ...]


POSTGRES: Final = ProgramSet(
    "postgres",
    ("postgresql", "postgresql-client", "libc-bin", "tzdata"),
    r"postgresql-\d+",
    # llvmjit is the compiler's other half: without its library it fails each query, without itself none.
    r"usr/lib/postgresql/\d+/bin/[^/]+|usr/lib/postgresql/\d+/lib/(?!llvmjit)[^/]+\.so"
    r"|usr/share/postgresql/\d+/(?!man/).+|usr/lib/locale/C\.utf8/.+|usr/share/zoneinfo/(?!right/|posix/|localtime$).+"
    r"|usr/share/doc/(postgresql-[^/]+|libc-bin|tzdata)/copyright",
    tuple((rf"usr/lib/postgresql/\d+/bin/{name}", "--version") for name in ("postgres", "initdb", "psql", "pg_dump")),
)
REDIS: Final = ProgramSet(
    "redis",
    ("redis-server", "redis-tools"),
    r"redis-server",
    r"usr/bin/redis-(server|cli|check-rdb|check-aof|benchmark)|usr/share/doc/redis-[^/]+/copyright",
    (("usr/bin/redis-server", "--version"), ("usr/bin/redis-cli", "--version")),
)
NGINX: Final = ProgramSet(
    "nginx",
    ("nginx", "nginx-common"),
    r"nginx",
    r"usr/sbin/nginx|etc/nginx/(mime\.types|[a-z]+_params)|usr/share/doc/nginx[^/]*/copyright",
    (("usr/sbin/nginx", "-v"),),
)
SETS: Final = (POSTGRES, REDIS, NGINX)


@dataclass(frozen=True)
class Debian:
    """Every set, unpacked: a directory of files for each, laid out as in its image."""

    root: Path

    def tree(self, wanted: ProgramSet) -> Path:
        """Files of a set."""
        return self.root / wanted.name

    def versions(self) -> dict[str, str]:
        """Debian package → version, of all that was unpacked."""
        return dict(json.loads((self.root / "versions.json").read_text()))

    def version(self, wanted: ProgramSet) -> str:
        """Version of the package that the set is about. Raises SandboxError when it is not there."""
        return main_version(self.versions(), wanted)

    def program_directories(self, wanted: ProgramSet) -> list[str]:
        """Directories of the set's programs, below /, for PATH."""
        tree = self.tree(wanted)
        found = {path.parent.relative_to(tree).as_posix() for path in trees.files(tree) if path.parent.name in BINARIES}
        return sorted(found - {"usr/bin"})

    def layer(self, wanted: ProgramSet) -> Layer:
        """A set's layer, which links lib as Debian does."""
        versions = json.dumps(self.versions(), sort_keys=True)
        return Layer(
            key("debian", self.root.name, wanted.name, versions),
            (*trees.entries(self.tree(wanted), ""), *trees.LINKS),
        )


def main_version(versions: dict[str, str], wanted: ProgramSet) -> str:
    """Version of the package that the set is about. Raises SandboxError when it is not among them."""
    found = sorted(name for name in versions if re.fullmatch(wanted.main, name))
    if not found:
        raise SandboxError(
            f"this distribution has no package like {wanted.main}, which the image of {wanted.name} is made of",
            "use Debian 12, Ubuntu 24.04 or newer, or an existing cluster: make up STACK=kind",
        )
    return versions[found[-1]]


def ensure(home: Home, progress: Progress, sets: Sequence[ProgramSet] = SETS) -> Debian:
    """Unpack every set unless they are there.

    Raises SandboxError: not Debian, package sources unreachable, a library that no package brings.
    """
    sources = (Path(path).read_text() for path in (__file__, trees.__file__, debs.__file__))
    debian = Debian(home.images / f"debian-{debs.release()}-{key(*sources, repr(sets))[:12]}")
    if (debian.root / "versions.json").exists():
        return debian
    debs.require("PostgreSQL, Redis and nginx of the images come from")
    with exclusively(home.images, "unpacking PostgreSQL, Redis and nginx for images"):
        if not (debian.root / "versions.json").exists():  # it may have been another process that ended just now
            _make(debian, sets, progress)
    return debian


def _make(debian: Debian, sets: Sequence[ProgramSet], progress: Progress) -> None:
    work = debian.root.with_name(f".unpacking-{debian.root.name}")
    shutil.rmtree(work, ignore_errors=True)
    made = Debian(work)
    try:
        with progress.step("PostgreSQL, Redis and nginx for images"):
            sources = debs.read_sources(work / "debs")
            roots = [name for item in sets for name in item.packages]
            sources.download(sources.closure(roots, lambda name: UNWANTED.fullmatch(name) is None))
            versions = debs.unpack(work / "debs", work / "unpacked")
            trees.move(work / "all", trees.placed(work / "unpacked"))
            for item in sets:
                main_version(versions, item)
                select(work / "all", made.tree(item), item)
            for name in ("debs", "unpacked", "all"):
                shutil.rmtree(work / name)
            for item in sets:
                _prove(made.tree(item), item)
            (work / "versions.json").write_text(json.dumps(versions, indent=2, sort_keys=True))
            work.rename(debian.root)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def select(everything: Path, tree: Path, wanted: ProgramSet) -> None:
    """Link what a set needs of unpacked packages into a tree of its own: its files and the libraries that they load."""
    pattern = re.compile(f"{wanted.files}|{ALWAYS}")
    kept = [path for path in trees.files(everything) if pattern.fullmatch(path.relative_to(everything).as_posix())]
    for path in (*kept, *_libraries(everything, kept)):
        for step in _followed(path, everything):
            target = tree / step.relative_to(everything)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink() and not target.exists():
                os.link(step, target, follow_symlinks=False)


def _followed(path: Path, everything: Path) -> Iterable[Path]:
    """A path, and what it leads to if it is a link, up to the file. Links may be of either layout of Debian."""
    while True:
        yield path
        if not path.is_symlink():
            return
        aim = path.readlink()
        relative = (path.parent / aim).relative_to(everything) if not aim.is_absolute() else aim.relative_to("/")
        path = everything / trees.place(os.path.normpath(relative))


def _libraries(everything: Path, kept: Iterable[Path]) -> list[Path]:
    """Libraries that programs and modules load, by the names that they use. Raises SandboxError if one is missing."""
    found: set[Path] = set()
    for path in kept:
        if path.is_symlink() or path.name.startswith("ld-linux") or path.open("rb").read(4) != ELF:
            continue
        listed = trees.run_alone(everything, [str(path)], listing=True)
        lost = MISSING.findall(listed)
        if lost:
            raise SandboxError(
                f"{path.name} needs {', '.join(lost)}, which no unpacked package holds",
                "this release's packages differ from those known: report it, or use STACK=kind",
            )
        found |= {Path(name) for name in RESOLVED.findall(listed)}
    strangers = sorted(str(path) for path in found if not path.is_relative_to(everything))
    if strangers:
        raise SandboxError(
            f"the unpacked programs take {', '.join(strangers)} from this machine", "report it, or use STACK=kind"
        )
    return sorted(found)


def _prove(tree: Path, wanted: ProgramSet) -> None:
    """Start each program on the libraries of its own tree alone."""
    places = {path.relative_to(tree).as_posix(): path for path in trees.files(tree)}
    for pattern, argument in wanted.programs:
        found = [path for place, path in places.items() if re.fullmatch(pattern, place)]
        if not found:
            raise SandboxError(
                f"the packages of {wanted.name} hold no {pattern}", "this Debian release lays its files differently"
            )
        try:
            trees.run_alone(tree, [str(found[0]), argument])
        except ProgramError as error:
            raise SandboxError(
                f"{found[0].name}, unpacked for images, does not run: {error}", "report it, or use STACK=kind"
            ) from error
