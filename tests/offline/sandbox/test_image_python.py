"""The interpreter of images: what is taken of packages, that it runs on its own, and that it is whole or not there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sandbox.errors import SandboxError
from sandbox.images import python
from sandbox.images.python import UNWANTED, Runtime, keep, needed
from tests.offline.sandbox.fakes import program, silent

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

LIBRARIES = "usr/lib/x86_64-linux-gnu"
APT_CACHE = 'for last; do [ "$last" = python3-minimal ] && printf "  PreDepends: python%s-minimal\\n"; done; exit 0'
# Unpacks a C library, its loader (a script that says which libraries it was made to load) and an interpreter.
DPKG = """
[ "$1" = -W ] && echo "libc6 2.36-9" && exit
mkdir -p "$3/lib/x86_64-linux-gnu" "$3/usr/bin" "$3/usr/lib/python3.11/test"
echo "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36." > "$3/lib/x86_64-linux-gnu/libc.so.6"
printf '#!/bin/sh\\n%s\\n' "$LOADER" > "$3/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
chmod 755 "$3/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
touch "$3/usr/bin/python3.11" "$3/usr/lib/python3.11/json.py" "$3/usr/lib/python3.11/test/x.py"
"""


@pytest.fixture
def debian(fake_bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Debian machine whose packages run."""
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "debian", "VERSION_ID": "12"})
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setenv("LOADER", 'echo "$3/libc.so.6"')
    program(fake_bin, "apt-get", 'case "$*" in *" download "*) touch libc6_2.36_amd64.deb;; esac')
    program(fake_bin, "apt-cache", APT_CACHE % "3.11")
    program(fake_bin, "dpkg-deb", DPKG)


def unpacked(home: Home) -> list[str]:
    """What lies in the cache, the lock apart."""
    return [path.name for path in home.images.iterdir() if path.name != ".lock"]


@pytest.mark.parametrize(
    "place",
    [
        "usr/bin/python3.11",
        "usr/lib/python3.11/json/decoder.py",
        "usr/lib/python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so",
        "usr/lib/python3.13/http/server.py",
        "usr/lib/python3.11/sqlite3/dbapi2.py",
        "usr/lib/python3.11/lib-dynload/_sqlite3.cpython-311-x86_64-linux-gnu.so",
        f"{LIBRARIES}/libssl.so.3",
        f"{LIBRARIES}/libc.so.6",
        "usr/lib64/ld-linux-x86-64.so.2",
        "usr/lib/ld-linux-aarch64.so.1",
        "etc/python3.11/sitecustomize.py",
        "usr/share/doc/libc6/copyright",
    ],
)
def test_file_that_programs_need_is_kept(place: str) -> None:
    assert needed(place)


@pytest.mark.parametrize(
    "place",
    [
        "usr/lib/python3.11/test/support.py",
        "usr/lib/python3.11/ctypes/test/test_values.py",
        "usr/lib/python3.11/idlelib/idle.py",
        "usr/lib/python3.11/dbm/gnu.py",
        "usr/lib/python3.11/turtle.py",
        "usr/lib/python3.11/json/__pycache__/decoder.cpython-311.pyc",
        "usr/lib/python3.11/lib-dynload/readline.cpython-311-x86_64-linux-gnu.so",
        "usr/lib/python3.11/lib-dynload/_dbm.cpython-311-x86_64-linux-gnu.so",
        f"{LIBRARIES}/gconv/IBM037.so",
        "usr/share/doc/libc6/changelog.Debian.gz",
        "usr/share/man/man1/python3.11.1.gz",
        "usr/share/locale/de/LC_MESSAGES/x.mo",
        "usr/bin/ldd",
        "etc/passwd",
    ],
)
def test_file_that_no_program_needs_is_left_out(place: str) -> None:
    assert not needed(place)


@pytest.mark.parametrize("name", ["dpkg", "libreadline8t64", "libgdbm6", "libdb5.3", "media-types", "tzdata"])
def test_package_of_left_out_modules_is_not_fetched(name: str) -> None:
    assert UNWANTED.fullmatch(name)


@pytest.mark.parametrize(
    "name", ["libc6", "libsqlite3-0", "libssl3t64", "libzstd1", "zlib1g", "libffi8", "libpython3.13-minimal"]
)
def test_package_with_a_library_is_fetched(name: str) -> None:
    assert UNWANTED.fullmatch(name) is None


def test_both_layouts_of_debian_give_one_tree(tmp_path: Path) -> None:
    trees = []
    for prefix in ("", "usr/"):
        source, target = tmp_path / f"from-{len(prefix)}", tmp_path / f"to-{len(prefix)}"
        (source / f"{prefix}lib/x86_64-linux-gnu").mkdir(parents=True)
        (source / f"{prefix}lib64").mkdir()
        (source / f"{prefix}lib/x86_64-linux-gnu/libc.so.6").write_text("c")
        (source / f"{prefix}lib64/ld-linux-x86-64.so.2").symlink_to("../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
        keep(source, target)
        trees.append([p.relative_to(target).as_posix() for p in sorted(target.rglob("*")) if not p.is_dir()])
    assert trees[0] == trees[1] == [f"{LIBRARIES}/libc.so.6", "usr/lib64/ld-linux-x86-64.so.2"]


def test_layer_is_laid_out_as_the_interpreter_expects(tmp_path: Path) -> None:
    runtime = Runtime(tmp_path)
    (runtime.tree / "usr/bin").mkdir(parents=True)
    (runtime.tree / "usr/bin/python3.11").write_text("")
    (runtime.tree / "usr/bin/python3.11").chmod(0o755)
    (tmp_path / "versions.json").write_text(json.dumps({"python": "3.11"}))
    layer = runtime.layer()
    assert {(e.path, e.link) for e in layer.entries if e.link} == {
        ("lib", "usr/lib"),
        ("lib64", "usr/lib64"),
        ("usr/bin/python3", "python3.11"),
    }
    assert [(e.path, e.mode) for e in layer.entries if e.file] == [("usr/bin/python3.11", 0o755)]


@pytest.mark.parametrize("changed", [{"libssl3": "3.0.1"}, {"python": "3.12"}], ids=["library", "interpreter"])
def test_key_of_the_layer_changes_with_versions(tmp_path: Path, changed: dict[str, str]) -> None:
    versions = {"python": "3.11", "libssl3": "3.0.0"}
    keys = set()
    for content in (versions, dict(versions), versions | changed):
        (tmp_path / "versions.json").write_text(json.dumps(content))
        keys.add(Runtime(tmp_path).layer().key)
    assert len(keys) == 2


@pytest.mark.usefixtures("debian")
def test_runtime_is_unpacked_with_its_versions(home: Home) -> None:
    runtime = python.ensure(home, silent()[0])
    assert {"libc6": "2.36-9", "python": "3.11"}.items() <= runtime.versions().items()
    assert sorted(p.name for p in runtime.root.iterdir()) == ["tree", "versions.json"]
    assert not (runtime.tree / "usr/lib/python3.11/test").exists()


@pytest.mark.usefixtures("debian")
def test_second_call_does_nothing(home: Home, fake_bin: Path) -> None:
    python.ensure(home, silent()[0])
    program(fake_bin, "apt-get", "exit 1")
    progress, stream = silent()
    python.ensure(home, progress)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize(
    ("loader", "message"),
    [
        ("echo libexpat.so.1 is missing >&2; exit 127", "does not run:.*libexpat"),
        ("echo /lib/x86_64-linux-gnu/libexpat.so.1", "took /lib/x86_64-linux-gnu/libexpat.so.1 from this machine"),
    ],
    ids=["missing", "taken from the machine"],
)
def test_library_that_is_not_unpacked_shows_at_once(
    home: Home, monkeypatch: pytest.MonkeyPatch, loader: str, message: str
) -> None:
    monkeypatch.setenv("LOADER", loader)
    with pytest.raises(SandboxError, match=f"(?s){message}"):
        python.ensure(home, silent()[0])
    assert unpacked(home) == []


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize(("version", "told"), [("3.10", "is 3.10"), ("2", "is of no version")])
def test_distribution_with_an_old_python_is_refused(home: Home, fake_bin: Path, version: str, told: str) -> None:
    program(fake_bin, "apt-cache", APT_CACHE % version)
    with pytest.raises(SandboxError, match=rf"Python {told}; images need 3\.11 or newer"):
        python.ensure(home, silent()[0])


def test_machine_without_debian_packages_is_sent_elsewhere(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "fedora", "VERSION_ID": "42"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"apt-get is not here; the Python of the images[\s\S]*STACK=kind"):
        python.ensure(home, silent()[0])
