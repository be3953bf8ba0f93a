"""Small volumes of their own for what must run out of room: really full, and gone afterwards whatever happens."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_MIB: Final = 1024**2
_PREFIX: Final = "plumbline-volume-"


@dataclass(frozen=True)
class Volume:
    """path: where it is mounted, readable for every account. kind: what it is made of."""

    path: Path
    kind: str

    def directory(self, name: str) -> Path:
        """A new directory in it."""
        path = self.path / name
        path.mkdir()
        return path

    @property
    def free(self) -> int:
        """Bytes that any account may still write."""
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def fill(self, leave: int = 0) -> Path:
        """Another tenant takes all room but `leave` bytes; the file that holds it. Deleting it gives the room back."""
        path = self.path / "another-tenant"
        with path.open("ab", buffering=0) as file, suppress(OSError):
            while (room := self.free - leave) > 0:
                file.write(b"\1" * min(room, _MIB))
        return path

    def names(self, leave: int) -> list[Path]:
        """Another tenant takes all inodes but so many: bytes are free, and there is room for no further file."""
        made = list[Path]()
        folder = self.directory("another-tenant")
        while os.statvfs(self.path).f_ffree > leave:
            made.append(folder / str(len(made)))
            made[-1].touch()
        return made


@contextmanager
def volume(image: Path, mebibytes: int, inodes: int = 20_000) -> Iterator[Volume]:
    """An ext4 file system in a file on a loop device; a tmpfs of that size where there are no loop devices.

    Its mount point is outside of pytest's own directories, which are closed to the account of PostgreSQL.
    """
    path = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        kind = _mount(image, path, mebibytes, inodes)
        try:
            path.chmod(0o755)
            yield Volume(path, kind)
        finally:
            _unmount(path)
    finally:
        image.unlink(missing_ok=True)
        path.rmdir()


def mounted() -> list[str]:
    """Volumes that are still mounted."""
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [line.split()[1] for line in lines if _PREFIX in line.split()[1]]


def _mount(image: Path, path: Path, mebibytes: int, inodes: int) -> str:
    with image.open("wb") as file:
        file.truncate(mebibytes * _MIB)
    # No blocks for root alone: PostgreSQL runs as somebody else, the rest as root, and full is to be full for both.
    _run("mkfs.ext4", "-q", "-F", "-m", "0", "-N", str(inodes), str(image))
    loop = subprocess.run(["mount", "-o", "loop", str(image), str(path)], capture_output=True, text=True, check=False)
    if loop.returncode == 0:
        return "ext4 on a loop device"
    _run("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,nr_inodes={inodes}", "tmpfs", str(path))
    return f"tmpfs, since there is no loop device ({loop.stderr.strip()})"


def _unmount(path: Path) -> None:
    """At once; while a program still has a file open there, as soon as it closes it."""
    if subprocess.run(["umount", str(path)], capture_output=True, check=False).returncode:
        _run("umount", "--lazy", str(path))


def _run(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv[0]}: {done.stderr}"
