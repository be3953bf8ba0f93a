"""Packages are asked for in the machine's own sources, and followed to what is wanted of their needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox import debs
from sandbox.errors import SandboxError
from tests.offline.sandbox.fakes import program

if TYPE_CHECKING:
    from pathlib import Path

# As apt-cache prints it: a package, then its needs; alternatives with a bar, virtual packages in angle brackets.
APT_CACHE = r"""
for last; do
  case "$last" in
    python3-minimal) printf 'python3-minimal\n  PreDepends: python3.11-minimal\n  Depends: dpkg\n';;
    python3.11-minimal) printf 'python3.11-minimal\n  Depends: libc6\n |Depends: zlib1g\n  Depends: <v>\n    other\n';;
    dpkg) printf 'dpkg\n  Depends: tar\n';;
    libc6) printf 'libc6\n  Depends: libgcc-s1\n  Conflicts: evil\n';;
    libgcc-s1) printf 'libgcc-s1\n  Depends: libc6\n';;
    zlib1g) printf 'zlib1g\n  Depends: libc6:any\n';;
  esac
done
"""


@pytest.fixture
def sources(fake_bin: Path, tmp_path: Path) -> debs.Packages:
    """Sources of a few packages."""
    program(fake_bin, "apt-get", "exit 0")
    program(fake_bin, "apt-cache", APT_CACHE)
    return debs.read_sources(tmp_path / "debs")


def test_direct_needs_are_those_that_are_real(sources: debs.Packages) -> None:
    assert sources.depends(["python3.11-minimal"]) == ["libc6", "zlib1g"]
    assert sources.depends(["zlib1g"]) == ["libc6"]


def test_closure_holds_all_needs_once(sources: debs.Packages) -> None:
    everything = ["dpkg", "libc6", "libgcc-s1", "python3-minimal", "python3.11-minimal", "tar", "zlib1g"]
    assert sources.closure(["python3-minimal"], lambda _: True) == everything


def test_what_is_not_wanted_is_left_out_with_its_own_needs(sources: debs.Packages) -> None:
    found = sources.closure(["python3-minimal"], lambda name: name != "dpkg")
    assert found == ["libc6", "libgcc-s1", "python3-minimal", "python3.11-minimal", "zlib1g"]


def test_package_that_nobody_has_is_told(sources: debs.Packages, fake_bin: Path) -> None:
    program(fake_bin, "apt-cache", 'echo "E: No packages found" >&2; exit 100')
    with pytest.raises(SandboxError, match=r"No packages found[\s\S]*check the network"):
        sources.depends(["python3-minimal"])


def test_machines_own_lists_are_not_touched(fake_bin: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program(fake_bin, "apt-get", f'echo "$*" >> {log}')
    debs.read_sources(tmp_path / "debs").download(["libc6"])
    assert all(f"Dir::State::lists={tmp_path}/debs/.lists" in line for line in log.read_text().splitlines())
    assert "/.lists" in log.read_text()
    assert log.read_text().splitlines()[1].endswith("-q download libc6")
