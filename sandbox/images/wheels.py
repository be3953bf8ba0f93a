"""Third-party Python packages of images, as wheels for the interpreter that images have.

A set is what one kind of program needs: each is a layer of its own, so that a large one burdens no other image.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox import debs
from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.images import trees
from sandbox.images.layers import Layer, key
from sandbox.images.oci import Entry
from sandbox.images.python import PACKAGES_ROOT, prove
from sandbox.process import ProgramError, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sandbox.home import Home
    from sandbox.images.python import Runtime
    from sandbox.progress import Progress

CHECKOUT: Final = Path(__file__).parents[2]
LOCK: Final = CHECKOUT / "requirements.lock"
ENTRY: Final = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+) \\\n((?:    --hash=\S+(?: \\)?\n)+)((?:    #.*\n)*)", re.M)
NOTES: Final = ("RECORD", "INSTALLER", "REQUESTED")  # they say how it was installed, and could differ from run to run
OLDEST: Final = 17  # of glibc 2.x: what `manylinux2014` means


@dataclass(frozen=True)
class WheelSet:
    """Packages of one kind of program.

    roots: packages of the lock, which come with all that they need; none: everything that the lock has.
    without: packages that the roots can do without, left out with their own needs.
    imports: modules that must load. programs: files below bin that the wheels bring, for a set without modules.
    """

    name: str
    roots: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    programs: tuple[str, ...] = ()
    lock: Path = LOCK


@dataclass(frozen=True)
class Wheels:
    """An installed set. `packages` is for PYTHONPATH."""

    root: Path

    @property
    def packages(self) -> Path:
        """Third-party packages, laid out as in the image."""
        return self.root / "packages"

    def versions(self) -> dict[str, str]:
        """Package → version."""
        return dict(json.loads((self.root / "versions.json").read_text()))

    def layer(self) -> Layer:
        """The packages, below /opt/packages. The name of the directory is the hash of what is in it."""
        return Layer(key("packages", self.root.name, PACKAGES_ROOT), trees.entries(self.packages, PACKAGES_ROOT))

    def program(self, name: str) -> Layer:
        """One program of the set alone, in /bin."""
        entry = Entry(f"bin/{name}", file=self.packages / "bin" / name)
        return Layer(key("program of wheels", self.root.name, name), (Entry("bin"), entry))


def ensure(home: Home, runtime: Runtime, wanted: WheelSet, progress: Progress) -> Wheels:
    """Install the set unless it is there. Raises SandboxError: index unreachable, not pinned, a module that fails."""
    requirements = pinned(wanted.lock, wanted.roots, wanted.without)
    inputs = (Path(__file__).read_text(), requirements, repr((wanted.imports, wanted.programs)), runtime.root.name)
    wheels = Wheels(home.images / f"wheels-{wanted.name}-{debs.release()}-{key(*inputs)[:12]}")
    if (wheels.root / "versions.json").exists():
        return wheels
    with exclusively(home.images, f"installing Python packages for images ({wanted.name})"):
        if not (wheels.root / "versions.json").exists():  # it may have been another process that ended just now
            _make(wheels, runtime, wanted, requirements, progress)
    return wheels


def pinned(lock: Path, roots: Iterable[str], without: frozenset[str] = frozenset()) -> str:
    """Requirements with their hashes: roots and all that they need, by the notes `via` of the lock.

    Without roots, the whole lock. Raises SandboxError when a root is missing or has no hashes.
    """
    found = {match[1]: match for match in ENTRY.finditer(lock.read_text() + "\n")}
    names = set(roots) or set(found)
    for name in sorted(names - set(found)):
        raise SandboxError(f"{lock.name} does not pin {name} with hashes", "run make lock")
    if not names:
        raise SandboxError(f"{lock.name} pins nothing with hashes", "restore it from the repository")
    needs = _needs({name: match[4] for name, match in found.items()})
    front = names
    while front:
        front = {need for name in front for need in needs.get(name, ())} - names - without
        names = names | front
    return "".join(f"{name}=={found[name][2]} \\\n{found[name][3]}" for name in sorted(names))


def _needs(notes: Mapping[str, str]) -> dict[str, set[str]]:
    """Package → what it needs directly. notes: package → comment that names who needs it."""
    needs: dict[str, set[str]] = {}
    for name, note in notes.items():
        for parent in re.findall(r"^    #\s+(?:via )?([a-z0-9][a-z0-9._-]*)$", note, re.M):
            needs.setdefault(parent, set()).add(name)
    return needs


def _make(wheels: Wheels, runtime: Runtime, wanted: WheelSet, requirements: str, progress: Progress) -> None:
    work = wheels.root.with_name(f".unpacking-{wheels.root.name}")
    shutil.rmtree(work, ignore_errors=True)
    made = Wheels(work)
    try:
        with progress.step(f"Python packages for images: {wanted.name}"):
            work.mkdir(parents=True)
            _install(made, runtime, requirements)
            prove(runtime, [made.packages], wanted.imports)
            for name in wanted.programs:
                _prove_program(made, name)
            versions = {match[1]: match[2] for match in ENTRY.finditer(requirements)}
            (work / "versions.json").write_text(json.dumps(versions, indent=2, sort_keys=True))
            work.rename(wheels.root)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _install(wheels: Wheels, runtime: Runtime, requirements: str) -> None:
    """Install the pinned wheels for the interpreter and C library of images, whatever runs pip."""
    file = wheels.root / "requirements.txt"
    file.write_text(requirements)
    python = runtime.versions()["python"]
    argv = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    argv += ["--no-deps", "--no-compile", "--only-binary=:all:", "--require-hashes"]
    argv += ["--implementation", "cp", "--python-version", python]
    argv += ["--abi", f"cp{python.replace('.', '')}", "--abi", "abi3", "--abi", "none"]
    argv += [part for name in _platforms(runtime) for part in ("--platform", name)]
    try:
        run([*argv, "--target", str(wheels.packages), "-r", str(file)], timeout=900)
    except ProgramError as error:
        raise SandboxError(
            f"the Python packages of the images cannot be installed: {error}",
            "check the network and pip's index settings, then run the same command again",
        ) from error
    for path in [p for p in wheels.packages.rglob("*") if p.name in NOTES and p.parent.suffix == ".dist-info"]:
        path.unlink()
    file.unlink()


def _platforms(runtime: Runtime) -> list[str]:
    """Platforms whose wheels run on the C library of images, newest first."""
    content = (trees.libraries(runtime.tree) / "libc.so.6").read_bytes()
    glibc = re.search(rb"GNU C Library [^\n]* version 2\.(\d+)", content)
    newest, machine = int(glibc[1]) if glibc else OLDEST, platform.machine()
    return [*(f"manylinux_2_{n}_{machine}" for n in range(newest, OLDEST - 1, -1)), f"manylinux2014_{machine}"]


def _prove_program(wheels: Wheels, name: str) -> None:
    """Start a program, which must need no library: it has none in its image."""
    try:
        run([str(wheels.packages / "bin" / name), "version"], timeout=60, env={})
    except ProgramError as error:
        raise SandboxError(
            f"{name} of the Python packages does not run: {error}", "report it with the kind of this machine"
        ) from error
