"""The browser of the tests is unpacked beside the user's own, whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox import browser
from sandbox.errors import SandboxError
from sandbox.process import run
from tests.offline.sandbox.fakes import program, silent

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

APT = 'echo "$*" >> "$LOG"; case "$*" in *" download "*) touch chromium-headless-shell_1_amd64.deb;; esac'
CACHE = """
case "$*" in
  *" chromium-headless-shell"*)
    printf 'a\\n  Depends: libc6\\n  Depends: libnss3\\n  Depends: x11-utils\\n  Depends: fonts-liberation\\n';;
esac"""
DPKG = """
[ "$1" = -W ] && echo "chromium-headless-shell 156.0" && exit
mkdir -p "$3/usr/lib/chromium"
printf '#!/bin/sh\\necho "$LD_LIBRARY_PATH $FONTCONFIG_FILE $@"\\n' > "$3/usr/lib/chromium/$NAME"
chmod 755 "$3/usr/lib/chromium/$NAME"
"""
# As glibc's prints it: without a path what the kernel brings, and the loader itself.
LDD = """
tree=$(dirname "$(dirname "$(dirname "$(dirname "$1")")")")
printf '\\tlinux-vdso.so.1 (0x1)\\n\\tlibc.so.6 => /lib/libc.so.6 (0x2)\\n\\t/lib64/ld-linux-x86-64.so.2 (0x3)\\n'
printf '\\tlibnss3.so => %s/usr/lib/libnss3.so (0x4)\\n' "$tree"
"""


@pytest.fixture
def debian(fake_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian machine. Returns the file that notes the calls of apt-get."""
    release = {"ID": "debian", "VERSION_ID": "12"}
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: release)
    monkeypatch.setenv("LOG", str(tmp_path / "apt.log"))
    monkeypatch.setenv("NAME", "chromium-headless-shell")
    for name, body in {"apt-get": APT, "apt-cache": CACHE, "dpkg-deb": DPKG, "ldd": LDD}.items():
        program(fake_bin, name, body)
    return tmp_path / "apt.log"


def unpacked(home: Home) -> list[str]:
    """What lies in the cache, the lock apart."""
    return [path.name for path in home.host_tools.iterdir() if path.name != ".lock"]


def test_browser_is_unpacked_and_finds_its_libraries_and_fonts(home: Home, debian: Path) -> None:
    found = browser.ensure(home, silent()[0])
    printed = run([str(found.bin / "chromium"), "--x"], timeout=20).stdout
    assert printed == f"{found.libraries} {found.root}/fonts.conf --x\n"
    assert f"<dir>{found.tree}/usr/share/fonts</dir>" in (found.root / "fonts.conf").read_text()
    assert " install" not in debian.read_text()


def test_of_what_it_needs_only_what_a_page_needs_is_fetched(home: Home, debian: Path) -> None:
    browser.ensure(home, silent()[0])
    (line,) = [line for line in debian.read_text().splitlines() if " download " in line]
    assert line.partition(" download ")[2].split() == ["chromium-headless-shell", "fonts-dejavu-core", "libnss3"]


def test_second_call_downloads_nothing(home: Home, debian: Path) -> None:
    browser.ensure(home, silent()[0])
    debian.unlink()
    browser.ensure(home, silent()[0])
    assert not debian.exists()


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize("path", ["/usr/lib/libnss3.so (0x4)", "not found"])
def test_library_that_no_package_brings_is_told(home: Home, fake_bin: Path, path: str) -> None:
    program(fake_bin, "ldd", f"printf '\\tlibnss3.so => {path}\\n'")
    with pytest.raises(SandboxError, match=r"needs libnss3\.so, which no unpacked package holds[\s\S]*on PATH as"):
        browser.ensure(home, silent()[0])
    assert unpacked(home) == []


@pytest.mark.usefixtures("debian")
def test_package_without_the_browser_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAME", "other")
    with pytest.raises(SandboxError, match="hold no chromium-headless-shell"):
        browser.ensure(home, silent()[0])


@pytest.mark.usefixtures("debian")
def test_browser_that_cannot_be_loaded_is_told(home: Home, fake_bin: Path) -> None:
    program(fake_bin, "ldd", "echo 'not a dynamic executable'; exit 1")
    with pytest.raises(SandboxError, match="does not run: ldd exited with 1: not a dynamic executable"):
        browser.ensure(home, silent()[0])


@pytest.mark.usefixtures("debian")
def test_another_distribution_is_told_what_to_install(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "ubuntu", "VERSION_ID": "24.04"})
    with pytest.raises(SandboxError, match=r"ubuntu24\.04-\S+ has no package[\s\S]*install a browser"):
        browser.ensure(home, silent()[0])
