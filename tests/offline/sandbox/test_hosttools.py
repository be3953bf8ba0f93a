"""Programs of the host are unpacked beside the user's own, whole or not at all."""

from __future__ import annotations

import json
import sysconfig
from typing import TYPE_CHECKING

import pytest

from sandbox import hosttools
from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.process import run
from tests.offline.sandbox.fakes import program, silent

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

# `apt-get download` leaves one archive; `dpkg-deb -x` unpacks a tree with what the wrappers lead to.
APT = 'echo "$*" >> "$LOG"; case "$*" in *" download "*) touch containerd_1.6_amd64.deb;; esac'
LEGACY = "usr/sbin/xtables-legacy-multi"
NFT = "usr/sbin/xtables-nft-multi"


def dpkg(works: str) -> str:
    """A fake dpkg-deb whose packages hold both iptables; `works` is the one that this kernel likes."""
    tools = "usr/bin/containerd usr/bin/ctr usr/sbin/runc usr/sbin/ipset"
    return f"""
    [ "$1" = -W ] && echo "containerd 1.6.20~ds1-1" && exit
    mkdir -p "$3/usr/sbin" "$3/usr/bin"
    for f in {tools} {LEGACY} {NFT}; do
      case $f in {works}|usr/bin/*|*/runc|*/ipset) code=0;; *) code=1;; esac
      printf '#!/bin/sh\\necho %s "$@"\\nexit %s\\n' "$f" "$code" > "$3/$f"; chmod 755 "$3/$f"
    done"""


@pytest.fixture
def debian(fake_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian machine. Returns the file that notes the calls of apt-get."""
    release = {"ID": "debian", "VERSION_ID": "12"}
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: release)
    monkeypatch.setenv("LOG", str(tmp_path / "apt.log"))
    program(fake_bin, "apt-get", APT)
    program(fake_bin, "dpkg-deb", dpkg(LEGACY))
    return tmp_path / "apt.log"


def unpacked(home: Home) -> list[str]:
    """What lies in the cache, the lock apart."""
    return [path.name for path in home.host_tools.iterdir() if path.name != ".lock"]


@pytest.mark.usefixtures("debian")
def test_tools_are_unpacked_with_their_versions(home: Home) -> None:
    tools = hosttools.ensure(home, silent()[0])
    assert tools.versions() == {"containerd": "1.6.20~ds1-1"}
    assert run([str(tools.bin / "ctr"), "version"], timeout=20).stdout == "usr/bin/ctr version\n"


def test_second_call_downloads_nothing(home: Home, debian: Path) -> None:
    hosttools.ensure(home, silent()[0])
    debian.unlink()
    progress, stream = silent()
    hosttools.ensure(home, progress)
    assert stream.getvalue() == ""
    assert not debian.exists()


def test_nothing_is_installed(home: Home, debian: Path) -> None:
    hosttools.ensure(home, silent()[0])
    assert " install" not in debian.read_text()


@pytest.mark.usefixtures("debian")
def test_programs_find_their_own_libraries(home: Home) -> None:
    tools = hosttools.ensure(home, silent()[0])
    multiarch = sysconfig.get_config_var("MULTIARCH")
    assert f"LD_LIBRARY_PATH={tools.tree}/usr/lib/{multiarch}:" in (tools.bin / "runc").read_text()


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize("works", [LEGACY, NFT])
def test_iptables_is_the_one_that_works_with_this_kernel(home: Home, fake_bin: Path, works: str) -> None:
    program(fake_bin, "dpkg-deb", dpkg(works))
    tools = hosttools.ensure(home, silent()[0])
    assert run([str(tools.bin / "ip6tables-save")], timeout=20).stdout == f"{works} ip6tables-save\n"


@pytest.mark.usefixtures("debian")
def test_kernel_without_a_packet_filter_is_told(home: Home, fake_bin: Path) -> None:
    program(fake_bin, "dpkg-deb", dpkg("neither"))
    with pytest.raises(SandboxError, match="neither iptables backend works with this kernel"):
        hosttools.ensure(home, silent()[0])


@pytest.mark.usefixtures("debian")
def test_unreachable_package_sources_say_what_to_do(home: Home, fake_bin: Path) -> None:
    program(fake_bin, "apt-get", 'echo "Could not resolve deb.example" >&2; exit 100')
    with pytest.raises(SandboxError, match=r"cannot be downloaded[\s\S]*deb\.example[\s\S]*check the network"):
        hosttools.ensure(home, silent()[0])
    assert unpacked(home) == []


@pytest.mark.usefixtures("debian")
def test_remains_of_a_killed_run_are_no_obstacle(home: Home) -> None:
    tools = hosttools.ensure(home, silent()[0])
    half = tools.root.with_name(f".unpacking-{tools.root.name}")
    tools.root.rename(half)
    hosttools.ensure(home, silent()[0])
    assert unpacked(home) == [tools.root.name]


@pytest.mark.usefixtures("debian")
def test_second_process_that_unpacks_is_refused(home: Home) -> None:
    with exclusively(home.host_tools, "unpacking"), pytest.raises(SandboxError, match="another process is unpacking"):
        hosttools.ensure(home, silent()[0])


def test_machine_without_debian_packages_is_sent_elsewhere(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"apt-get is not here[\s\S]*STACK=kind"):
        hosttools.ensure(home, silent()[0])


@pytest.mark.usefixtures("debian")
def test_tools_of_another_release_are_kept_apart(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    first = hosttools.ensure(home, silent()[0])
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "debian", "VERSION_ID": "13"})
    second = hosttools.ensure(home, silent()[0])
    assert first.root != second.root
    assert json.loads((second.root / "versions.json").read_text()) == first.versions()
