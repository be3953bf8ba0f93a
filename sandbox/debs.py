"""Debian packages of the machine's own sources: asked for, downloaded and unpacked, never installed."""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.errors import SandboxError
from sandbox.process import ProgramError, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

REAL_DEPENDS: Final = re.compile(r"^\s+\|?(?:Pre)?Depends: ([a-z0-9][a-z0-9+.-]*)(?::any)?$", re.M)


def release() -> str:
    """Distribution, its version and the kind of machine, as part of a directory's name: `debian12-x86_64`."""
    found = platform.freedesktop_os_release()
    return f"{found['ID']}{found.get('VERSION_ID', '')}-{platform.machine()}"


def require(purpose: str) -> None:
    """Raise SandboxError unless the machine can unpack Debian packages. purpose: `the … takes its … from`."""
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise SandboxError(
                f"{program} is not here; {purpose} Debian packages",
                "use a Debian or Ubuntu machine, or an existing cluster: make up STACK=kind",
            )


@dataclass(frozen=True)
class Packages:
    """The machine's package sources, read into a directory of our own: apt's own state stays as it is."""

    directory: Path
    options: tuple[str, ...]
    update_errors: str

    def depends(self, names: Sequence[str]) -> list[str]:
        """Packages that `names` depend on directly, virtual ones left out."""
        argv = ["apt-cache", *self.options, "depends", "--no-recommends", "--no-suggests", *names]
        return list(dict.fromkeys(REAL_DEPENDS.findall(self._run(argv, timeout=120))))

    def closure(self, roots: Iterable[str], wanted: Callable[[str], bool]) -> list[str]:
        """Roots and all that they need, in alphabetical order; what is not `wanted` is left out with its own needs."""
        found: set[str] = set()
        front = sorted(set(roots))
        while front:
            found.update(front)
            front = [name for name in self.depends(front) if name not in found and wanted(name)]
        return sorted(found)

    def download(self, names: Sequence[str]) -> None:
        """Download the archives into `directory`. Raises SandboxError."""
        self._run(["apt-get", *self.options, "-q", "download", *names], timeout=600)

    def _run(self, argv: Sequence[str], *, timeout: float) -> str:
        try:
            return run(argv, timeout=timeout, cwd=self.directory).stdout
        except ProgramError as error:
            raise SandboxError(
                f"Debian packages cannot be downloaded: {error}\n{self.update_errors}",
                "check the network and the apt sources (apt-get update), then run the same command again",
            ) from error


def read_sources(directory: Path) -> Packages:
    """Read the machine's package sources anew. directory: made here; archives are downloaded into it."""
    lists, archives = directory / ".lists", directory / ".archives"
    for path in (lists / "partial", archives / "partial"):
        path.mkdir(parents=True)
    options = (
        *("-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache::archives={archives}"),
        *(
            "-o",
            f"Dir::Cache::pkgcache={directory}/.pkgcache",
            "-o",
            f"Dir::Cache::srcpkgcache={directory}/.srcpkgcache",
        ),
        *("-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3"),
    )
    # A third-party source that is down makes `update` fail while Debian's own is fine: the download decides.
    update = run(["apt-get", *options, "-q", "update"], timeout=300, check=False)
    return Packages(directory, options, update.stderr.strip()[-500:])


def unpack(debs: Path, tree: Path) -> dict[str, str]:
    """Unpack every archive of `debs` into `tree`. Returns package → version."""
    versions = {}
    for deb in sorted(debs.glob("*.deb")):
        run(["dpkg-deb", "-x", str(deb), str(tree)], timeout=120)
        name, version = run(
            ["dpkg-deb", "-W", "--showformat=${Package} ${Version}", str(deb)], timeout=60
        ).stdout.split()
        versions[name] = version
    return versions
