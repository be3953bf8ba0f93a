"""Python for images: interpreter and standard library of the machine's own distribution, and the few packages that
our programs in containers need.

The distribution's interpreter may be of another version than the one that runs us, so nothing of our own environment
is copied: libraries come from its packages, third-party packages as wheels for exactly that interpreter.
"""

from __future__ import annotations

import hashlib
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
from sandbox.images.layers import CERTIFICATES, CODE_ROOT, Layer, directories, key
from sandbox.images.oci import Entry
from sandbox.process import ProgramError, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.home import Home
    from sandbox.progress import Progress

LOCK: Final = Path(__file__).parents[2] / "requirements.lock"
MINIMUM: Final = (3, 11)
WHEELS: Final = ("grpcio", "protobuf", "typing-extensions")
ALSO: Final = ("libgcc-s1", "libstdc++6")  # grpcio and protobuf are linked with C++'s library
# Packages that only tools of Debian and the modules of LEFT_OUT need.
UNWANTED: Final = re.compile(
    r"(dpkg|tar|install-info|readline-common|mailcap|media-types|mime-support|netbase|tzdata|debconf.*"
    r"|lib(readline|db5|ncurses|tinfo|nsl|tirpc|sqlite3|gdbm|perl).*)"
)
# Modules of the standard library that are not in the image: tests, graphics, and what UNWANTED would be needed for.
LEFT_OUT: Final = frozenset(
    {
        *("curses", "dbm", "sqlite3", "readline", "nis", "tkinter", "turtle", "turtledemo", "idlelib"),
        *("test", "lib2to3", "ensurepip", "distutils", "pydoc_data"),
    }
)
EXTENSIONS_LEFT_OUT: Final = re.compile(r"_?(curses|curses_panel|dbm|gdbm|sqlite3|readline|nis|tkinter|test.*|xx.*)")
PACKAGES_ROOT: Final = "opt/packages"
ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": f"/{CODE_ROOT}:/{PACKAGES_ROOT}",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "SSL_CERT_FILE": f"/{CERTIFICATES}",
}
# Imports what our programs need, and prints every library that this took.
PROOF: Final = """
import asyncio, bz2, ctypes, grpc, google.protobuf, http.server, json, lzma, ssl, uuid, zlib
from google._upb import _message
print(*{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}, sep="\\n")
"""


@dataclass(frozen=True)
class Runtime:
    """Files of the interpreter (`tree`) and of the third-party packages (`packages`), laid out as in the image."""

    root: Path

    @property
    def tree(self) -> Path:
        """Root of the interpreter's files: everything is below usr and etc."""
        return self.root / "tree"

    @property
    def packages(self) -> Path:
        """Third-party packages, for PYTHONPATH."""
        return self.root / "packages"

    def versions(self) -> dict[str, str]:
        """Debian package → version; `python` → `3.11`; `wheels` → hash of the pinned requirements."""
        return dict(json.loads((self.root / "versions.json").read_text()))

    def layers(self) -> tuple[Layer, Layer]:
        """The interpreter's layer, which links lib and bin as Debian does, and the packages' layer."""
        versions, shape = self.versions(), Path(__file__).read_text()
        links = tuple(Entry(name, 0o777, link=f"usr/{name}") for name in ("lib", "lib64"))
        python = Entry("usr/bin/python3", 0o777, link=f"python{versions['python']}")
        interpreter = Layer(
            key("python", json.dumps(versions, sort_keys=True), shape), (*_entries(self.tree, ""), *links, python)
        )
        third_party = Layer(
            key("packages", versions["python"], versions["wheels"], shape), _entries(self.packages, PACKAGES_ROOT)
        )
        return interpreter, third_party


def ensure(home: Home, progress: Progress) -> Runtime:
    """Unpack the interpreter and its packages unless they are there.

    Raises SandboxError: not Debian, package sources or index unreachable, Python too old, a file that does not run.
    """
    wanted = pinned(LOCK.read_text(), WHEELS)
    sources = (Path(__file__).read_text(), Path(debs.__file__).read_text(), wanted)
    digest = hashlib.sha256("\0".join(sources).encode()).hexdigest()[:12]
    runtime = Runtime(home.images / f"python-{debs.release()}-{digest}")
    if (runtime.root / "versions.json").exists():
        return runtime
    debs.require("the Python of the images comes from")
    with exclusively(home.images, "unpacking Python for images"):
        if not (runtime.root / "versions.json").exists():  # it may have been another process that ended just now
            _make(runtime, wanted, progress)
    return runtime


def pinned(lock: str, names: Sequence[str]) -> str:
    """The requirements of `names` in a lock file, with their hashes. Raises SandboxError when one is missing."""
    found = []
    for name in names:
        entry = re.search(rf"^{re.escape(name)}==\S+ \\\n(?:    --hash=\S+(?: \\)?\n)+", lock + "\n", re.M)
        if entry is None:
            raise SandboxError(f"requirements.lock does not pin {name} with hashes", "run make lock")
        found.append(entry[0])
    return "".join(found)


def _make(runtime: Runtime, wanted: str, progress: Progress) -> None:
    work = runtime.root.with_name(f".unpacking-{runtime.root.name}")
    shutil.rmtree(work, ignore_errors=True)
    made = Runtime(work)
    try:
        with progress.step("Python for images"):
            sources = debs.read_sources(work / "debs")
            python = _distribution_python(sources)
            roots = (f"python{python}-minimal", f"libpython{python}-stdlib", *ALSO)
            sources.download(sources.closure(roots, lambda name: UNWANTED.fullmatch(name) is None))
            versions = debs.unpack(work / "debs", work / "unpacked")
            keep(work / "unpacked", made.tree)
            _install(made, python, wanted)
            _prove(made, python)
            for name in ("debs", "unpacked"):
                shutil.rmtree(work / name)
            versions |= {"python": python, "wheels": hashlib.sha256(wanted.encode()).hexdigest()[:12]}
            (work / "versions.json").write_text(json.dumps(versions, indent=2, sort_keys=True))
            work.rename(runtime.root)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _distribution_python(sources: debs.Packages) -> str:
    """Version of the distribution's own python3, such as `3.11`."""
    names = sources.depends(["python3-minimal"])
    version = next((m[1] for m in map(re.compile(r"python(3\.\d+)-minimal").fullmatch, names) if m), "of no version")
    if tuple(int(n) for n in re.findall(r"\d+", version)) < MINIMUM:
        raise SandboxError(
            f"this distribution's Python is {version}; images need 3.11 or newer",
            "use Debian 12, Ubuntu 24.04 or newer, or an existing cluster: make up STACK=kind",
        )
    return version


def keep(unpacked: Path, tree: Path) -> None:
    """Move what the image needs of unpacked packages into `tree`; lib, lib64 and bin come below usr (merged /usr)."""
    for path in sorted(p for p in unpacked.rglob("*") if p.is_symlink() or p.is_file()):
        relative = path.relative_to(unpacked).as_posix()
        place = f"usr/{relative}" if relative.split("/")[0] in ("lib", "lib64", "bin") else relative
        if needed(place):
            target = tree / place
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)


def needed(place: str) -> bool:
    """Whether a file of a package belongs into the image. place: path below /, with everything of lib below usr."""
    library = re.fullmatch(r"usr/lib/python3(?:\.\d+)?/(.+)", place)
    if library:
        return _needed_module(library[1])
    kept = (
        r"usr/bin/python3\.\d+|etc/python3\.\d+/.+"
        r"|usr/lib/[^/]+-linux-gnu[^/]*/[^/]+\.so[^/]*|usr/lib(64)?/ld-linux[^/]*"
        r"|usr/share/doc/[^/]+/copyright"
    )
    return re.fullmatch(kept, place) is not None


def _needed_module(path: str) -> bool:
    parts = path.split("/")
    if parts[0] == "lib-dynload":
        return EXTENSIONS_LEFT_OUT.fullmatch(parts[1].split(".")[0]) is None
    return parts[0].removesuffix(".py") not in LEFT_OUT and not {"__pycache__", "tests", "test"} & set(parts)


def _library_directory(tree: Path) -> Path:
    found = next(iter(sorted(tree.glob("usr/lib/*-linux-gnu*/libc.so.6"))), None)
    if found is None:
        raise SandboxError(
            "the unpacked packages hold no C library", "this Debian release lays its files differently: report it"
        )
    return found.parent


def _install(runtime: Runtime, python: str, wanted: str) -> None:
    """Install the pinned wheels for the unpacked interpreter and C library, whatever runs pip."""
    requirements = runtime.root / "requirements.txt"
    requirements.write_text(wanted)
    glibc = re.search(
        rb"GNU C Library [^\n]* version 2\.(\d+)", (_library_directory(runtime.tree) / "libc.so.6").read_bytes()
    )
    newest = int(glibc[1]) if glibc else 17
    platforms = [f"manylinux_2_{minor}_{platform.machine()}" for minor in range(newest, 16, -1)]
    argv = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--quiet",
        "--no-deps",
        "--no-compile",
    ]
    argv += ["--only-binary=:all:", "--require-hashes", "--implementation", "cp", "--python-version", python]
    argv += ["--abi", f"cp{python.replace('.', '')}", "--abi", "abi3", "--abi", "none"]
    argv += [part for name in (*platforms, f"manylinux2014_{platform.machine()}") for part in ("--platform", name)]
    try:
        run([*argv, "--target", str(runtime.packages), "-r", str(requirements)], timeout=600)
    except ProgramError as error:
        raise SandboxError(
            f"the Python packages of the images cannot be installed: {error}",
            "check the network and pip's index settings, then run the same command again",
        ) from error
    for path in [p for p in runtime.packages.rglob("*") if p.name in ("RECORD", "INSTALLER", "REQUESTED")]:
        path.unlink()  # they say how it was installed, and could differ from run to run
    requirements.unlink()


def _prove(runtime: Runtime, python: str) -> None:
    """Run the interpreter on its own libraries alone: a missing one shows here, not in a container."""
    libraries = _library_directory(runtime.tree)
    loader = next(iter(sorted(libraries.glob("ld-linux*.so.*"))))
    interpreter = runtime.tree / f"usr/bin/python{python}"
    environment = {
        "PYTHONHOME": str(runtime.tree / "usr"),
        "PYTHONPATH": str(runtime.packages),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    argv = [str(loader), "--inhibit-cache", "--library-path", str(libraries), str(interpreter), "-P", "-c", PROOF]
    try:
        loaded = run(argv, timeout=120, env=environment).stdout.split()
    except ProgramError as error:
        raise _unusable(str(error)) from error
    strangers = sorted(path for path in loaded if not Path(path).is_relative_to(runtime.root.resolve()))
    if strangers:
        raise _unusable(f"it took {', '.join(strangers)} from this machine")


def _unusable(reason: str) -> SandboxError:
    return SandboxError(
        f"the Python that was unpacked for images does not run: {reason}",
        "this release's packages differ from those known: report it, or use STACK=kind",
    )


def _entries(tree: Path, root: str) -> tuple[Entry, ...]:
    """Every file and link below `tree`, placed below `root` of the image, with the directories above."""
    found = []
    for path in sorted(p for p in tree.rglob("*") if p.is_symlink() or p.is_file()):
        place = "/".join(part for part in (root, path.relative_to(tree).as_posix()) if part)
        if path.is_symlink():
            found.append(Entry(place, 0o777, link=str(path.readlink())))
        else:
            found.append(Entry(place, 0o755 if path.stat().st_mode & 0o100 else 0o644, file=path))
    return (*directories(entry.path for entry in found), *found)
