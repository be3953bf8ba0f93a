"""The interpreter of images: Python and its standard library, of the machine's own distribution.

It may be of another version than the one that runs us, so nothing of our own environment is copied: libraries come from
the distribution's packages, third-party packages as wheels for exactly this interpreter (`sandbox/images/wheels.py`).
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox import debs
from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.images import trees
from sandbox.images.layers import CERTIFICATES, CODE_ROOT, Layer, key
from sandbox.images.oci import Entry
from sandbox.process import ProgramError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.home import Home
    from sandbox.progress import Progress

MINIMUM: Final = (3, 11)
ALSO: Final = ("libgcc-s1", "libstdc++6")  # many wheels are linked with C++'s library
# Packages that only tools of Debian and the modules of LEFT_OUT need.
UNWANTED: Final = re.compile(
    r"(dpkg|tar|install-info|readline-common|mailcap|media-types|mime-support|netbase|tzdata|debconf.*"
    r"|lib(readline|db5|ncurses|tinfo|nsl|tirpc|gdbm|perl).*)"
)
# Modules of the standard library that are not in the image: tests, graphics, and what UNWANTED would be needed for.
LEFT_OUT: Final = frozenset(
    {
        *("curses", "dbm", "readline", "nis", "tkinter", "turtle", "turtledemo", "idlelib"),
        *("test", "lib2to3", "ensurepip", "distutils", "pydoc_data"),
    }
)
EXTENSIONS_LEFT_OUT: Final = re.compile(r"_?(curses|curses_panel|dbm|gdbm|readline|nis|tkinter|test.*|xx.*)")
PACKAGES_ROOT: Final = "opt/packages"
ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": f"/{CODE_ROOT}:/{PACKAGES_ROOT}",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "SSL_CERT_FILE": f"/{CERTIFICATES}",
}
# What programs of ours take of the standard library and that is linked with other libraries.
STANDARD: Final = ("asyncio", "bz2", "ctypes", "http.server", "json", "lzma", "sqlite3", "ssl", "uuid", "zlib")
# Imports what it is told, and prints every library that this took.
PROOF: Final = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}, sep="\\n")
"""


@dataclass(frozen=True)
class Runtime:
    """The interpreter's files (`tree`), laid out as in the image."""

    root: Path

    @property
    def tree(self) -> Path:
        """Root of the interpreter's files: everything is below usr and etc."""
        return self.root / "tree"

    def versions(self) -> dict[str, str]:
        """Debian package → version, and `python` → `3.11`."""
        return dict(json.loads((self.root / "versions.json").read_text()))

    def layer(self) -> Layer:
        """The interpreter's layer, which links lib as Debian does."""
        versions = self.versions()
        python = Entry("usr/bin/python3", 0o777, link=f"python{versions['python']}")
        shape = Path(__file__).read_text() + Path(trees.__file__).read_text()
        return Layer(
            key("python", json.dumps(versions, sort_keys=True), shape),
            (*trees.entries(self.tree, ""), *trees.LINKS, python),
        )


def ensure(home: Home, progress: Progress) -> Runtime:
    """Unpack the interpreter unless it is there.

    Raises SandboxError: not Debian, package sources unreachable, Python too old, a file that does not run.
    """
    sources = (Path(path).read_text() for path in (__file__, trees.__file__, debs.__file__))
    runtime = Runtime(home.images / f"python-{debs.release()}-{key(*sources)[:12]}")
    if (runtime.root / "versions.json").exists():
        return runtime
    debs.require("the Python of the images comes from")
    with exclusively(home.images, "unpacking Python for images"):
        if not (runtime.root / "versions.json").exists():  # it may have been another process that ended just now
            _make(runtime, progress)
    return runtime


def prove(runtime: Runtime, packages: Sequence[Path], names: Sequence[str]) -> None:
    """Import modules by this interpreter on its own libraries alone: a missing one shows here, not in a container.

    packages: directories of third-party packages. Raises SandboxError: it does not run, or took a library from here.
    """
    interpreter = runtime.tree / f"usr/bin/python{runtime.versions()['python']}"
    environment = {
        "PYTHONHOME": str(runtime.tree / "usr"),
        "PYTHONPATH": ":".join(map(str, packages)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    argv = [str(interpreter), "-P", "-c", PROOF, *names]
    with tempfile.TemporaryDirectory() as home:  # some packages want one when they are imported
        try:
            loaded = trees.run_alone(runtime.tree, argv, environment | {"HOME": home}).split()
        except ProgramError as error:
            raise _unusable(str(error)) from error
    ours = [path.resolve() for path in (runtime.root, *packages)]
    strangers = sorted(path for path in loaded if not any(Path(path).is_relative_to(place) for place in ours))
    if strangers:
        raise _unusable(f"it took {', '.join(strangers)} from this machine")


def _make(runtime: Runtime, progress: Progress) -> None:
    work = runtime.root.with_name(f".unpacking-{runtime.root.name}")
    shutil.rmtree(work, ignore_errors=True)
    made = Runtime(work)
    try:
        with progress.step("Python for images"):
            sources = debs.read_sources(work / "debs")
            python = _distribution_python(sources)
            roots = (f"python{python}-minimal", f"libpython{python}-stdlib", *ALSO)
            sources.download(sources.closure(roots, lambda name: UNWANTED.fullmatch(name) is None))
            versions = debs.unpack(work / "debs", work / "unpacked") | {"python": python}
            keep(work / "unpacked", made.tree)
            for name in ("debs", "unpacked"):
                shutil.rmtree(work / name)
            (work / "versions.json").write_text(json.dumps(versions, indent=2, sort_keys=True))
            prove(made, (), STANDARD)
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
    trees.move(tree, ((path, place) for path, place in trees.placed(unpacked) if needed(place)))


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


def _unusable(reason: str) -> SandboxError:
    return SandboxError(
        f"the Python that was unpacked for images does not run: {reason}",
        "this release's packages differ from those known: report it, or use STACK=kind",
    )
