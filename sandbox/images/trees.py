"""Unpacked packages as trees of files: laid out as in an image, and run on their own libraries alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.errors import SandboxError
from sandbox.images.layers import directories
from sandbox.images.oci import Entry
from sandbox.process import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

MERGED: Final = ("bin", "lib", "lib64", "sbin")  # directories that are links into usr
# Links that programs of Debian need: their loader is named by its path in /lib64 or /lib.
LINKS: Final = tuple(Entry(name, 0o777, link=f"usr/{name}") for name in ("lib", "lib64"))


def files(tree: Path) -> list[Path]:
    """Every file and link below `tree`, in the order of their paths."""
    return sorted(p for p in tree.rglob("*") if p.is_symlink() or p.is_file())


def place(relative: str) -> str:
    """Where a file of a package lies in an image. relative: its path in the package, of either layout of Debian."""
    return f"usr/{relative}" if relative.split("/", maxsplit=1)[0] in MERGED else relative


def move(tree: Path, wanted: Iterable[tuple[Path, str]]) -> None:
    """Move files to their places in `tree`. wanted: file and place, as `placed` yields them."""
    for path, where in wanted:
        target = tree / where
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)


def placed(unpacked: Path) -> Iterator[tuple[Path, str]]:
    """Every file of unpacked packages with its place in an image."""
    for path in files(unpacked):
        yield path, place(path.relative_to(unpacked).as_posix())


def entries(tree: Path, root: str) -> tuple[Entry, ...]:
    """Every file and link below `tree`, placed below `root` of the image, with the directories above."""
    found = []
    for path in files(tree):
        where = "/".join(part for part in (root, path.relative_to(tree).as_posix()) if part)
        if path.is_symlink():
            found.append(Entry(where, 0o777, link=str(path.readlink())))
        else:
            found.append(Entry(where, 0o755 if path.stat().st_mode & 0o100 else 0o644, file=path))
    return (*directories(entry.path for entry in found), *found)


def libraries(tree: Path) -> Path:
    """Directory of the C library and of those beside it. Raises SandboxError when there is none."""
    found = next(iter(sorted(tree.glob("usr/lib/*-linux-gnu*/libc.so.6"))), None)
    if found is None:
        raise SandboxError(
            "the unpacked packages hold no C library", "this Debian release lays its files differently: report it"
        )
    return found.parent


def run_alone(
    tree: Path, argv: Sequence[str], environment: Mapping[str, str] | None = None, *, listing: bool = False
) -> str:
    """Run a program of `tree` on the libraries of `tree` and return what it printed. Raises ProgramError.

    listing: only list the libraries that it would take, as `name => path`.
    """
    place_of_libraries = libraries(tree)
    loader = next(iter(sorted(place_of_libraries.glob("ld-linux*.so.*"))))
    command = [str(loader), "--inhibit-cache", "--library-path", str(place_of_libraries)]
    return run([*command, *(["--list"] if listing else []), *argv], timeout=120, env=environment or {}).stdout
