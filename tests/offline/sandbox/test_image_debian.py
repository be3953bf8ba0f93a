"""Programs of the distribution: which files an image gets, with which libraries, and that they run on those alone."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from sandbox.errors import SandboxError
from sandbox.images import debian, trees
from sandbox.images.debian import NGINX, POSTGRES, REDIS, SETS, UNWANTED, Debian, ProgramSet, main_version, select
from tests.offline.sandbox.fakes import program, silent

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

LIBRARIES = "usr/lib/x86_64-linux-gnu"
ECHO = ProgramSet("echo", ("echo",), r"echo-\d+", r"usr/bin/echo|usr/share/echo/.+", (("usr/bin/echo", "--version"),))
# As the loader lists it: the kernel's own, a library, the loader itself.
LISTED = """printf '\\tvdso (0x1)\\n\\t/lib64/ld.so (0x3)\\n'
printf '\\t%s => %s (0x2)\\n' liba.so.1 "$3/liba.so.1" libc.so.6 "$3/libc.so.6"
"""
DPKG = """
[ "$1" = -W ] && echo "echo-2 2.0-1" && exit
mkdir -p "$3/lib/x86_64-linux-gnu" "$3/usr/bin" "$3/usr/share/echo" "$3/usr/share/man"
touch "$3/lib/x86_64-linux-gnu/libc.so.6" "$3/lib/x86_64-linux-gnu/liba.so.1" "$3/lib/x86_64-linux-gnu/libb.so.1"
printf '\\177ELF' > "$3/usr/bin/echo"; chmod 755 "$3/usr/bin/echo"
touch "$3/usr/share/echo/words" "$3/usr/share/man/echo.1"
cp "$LOADER" "$3/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
"""


@pytest.fixture
def machine(fake_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian machine with a package `echo-2`. Returns the loader that it brings."""
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "debian", "VERSION_ID": "12"})
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    program(fake_bin, "apt-get", 'case "$*" in *" download "*) touch echo-2_2.0_amd64.deb;; esac')
    program(fake_bin, "apt-cache", "exit 0")
    program(fake_bin, "dpkg-deb", DPKG)
    loader = program(tmp_path / "made", "loader", LISTED)
    monkeypatch.setenv("LOADER", str(loader))
    return loader


def unpacked(home: Home) -> list[str]:
    """What lies in the cache, the lock apart."""
    return [path.name for path in home.images.iterdir() if path.name != ".lock"]


@pytest.mark.usefixtures("machine")
def test_set_holds_its_files_and_the_libraries_that_they_name(home: Home) -> None:
    made = debian.ensure(home, silent()[0], (ECHO,))
    tree = made.tree(ECHO)
    assert [path.relative_to(tree).as_posix() for path in trees.files(tree)] == [
        "usr/bin/echo",
        f"{LIBRARIES}/ld-linux-x86-64.so.2",
        f"{LIBRARIES}/liba.so.1",
        f"{LIBRARIES}/libc.so.6",
        "usr/share/echo/words",
    ]
    assert made.version(ECHO) == "2.0-1"
    assert made.program_directories(ECHO) == []


@pytest.mark.usefixtures("machine")
def test_second_call_does_nothing(home: Home, fake_bin: Path) -> None:
    debian.ensure(home, silent()[0], (ECHO,))
    program(fake_bin, "apt-get", "exit 1")
    progress, stream = silent()
    debian.ensure(home, progress, (ECHO,))
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('printf "\\tliba.so.1 => not found\\n"', "echo needs liba.so.1, which no unpacked package holds"),
        ('printf "\\tliba.so.1 => /usr/lib/liba.so.1 (0x1)\\n"', "take /usr/lib/liba.so.1 from this machine"),
        (f'[ "$4" = --list ] || exit 9; {LISTED}', "echo, unpacked for images, does not run"),
    ],
    ids=["missing", "taken from the machine", "does not start"],
)
def test_program_that_would_fail_in_its_container_shows_at_once(
    home: Home, machine: Path, body: str, message: str
) -> None:
    program(machine.parent, machine.name, body)
    with pytest.raises(SandboxError, match=message):
        debian.ensure(home, silent()[0], (ECHO,))
    assert unpacked(home) == []


def test_program_that_no_package_brings_is_told(home: Home, machine: Path) -> None:
    assert machine.exists()
    lacking = ProgramSet("echo", ("echo",), r"echo-\d+", "usr/share/echo/.+", (("usr/bin/echo", "--version"),))
    with pytest.raises(SandboxError, match="the packages of echo hold no usr/bin/echo"):
        debian.ensure(home, silent()[0], (lacking,))


def test_distribution_without_the_package_is_told() -> None:
    with pytest.raises(SandboxError, match=r"(?s)no package like postgresql-.*STACK=kind"):
        main_version({"postgresql-common": "248"}, POSTGRES)


def test_version_is_that_of_the_server() -> None:
    versions = {"postgresql-15": "15.20-0", "postgresql-client-15": "1", "postgresql": "15+248"}
    assert main_version(versions, POSTGRES) == "15.20-0"


def test_links_are_followed_to_the_file(tmp_path: Path) -> None:
    everything, tree = tmp_path / "all", tmp_path / "tree"
    libraries = everything / LIBRARIES
    libraries.mkdir(parents=True)
    (libraries / "libc.so.6").write_text("c")
    program(libraries, "ld-linux-x86-64.so.2", "exit 1")
    (everything / "usr/lib64").mkdir()
    # As Debian 12 has it, whose packages do not know that /lib is a link into usr.
    (everything / "usr/lib64/ld-linux-x86-64.so.2").symlink_to("/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
    (everything / "usr/bin").mkdir()
    (everything / "usr/bin/echo-real").write_text("echo")
    (everything / "usr/bin/echo").symlink_to("echo-real")
    select(everything, tree, ECHO)
    assert sorted(path.relative_to(tree).as_posix() for path in trees.files(tree)) == [
        "usr/bin/echo",
        "usr/bin/echo-real",
        f"{LIBRARIES}/ld-linux-x86-64.so.2",
        "usr/lib64/ld-linux-x86-64.so.2",
    ]
    assert (tree / "usr/bin/echo").readlink().name == "echo-real"


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        (POSTGRES, "usr/lib/postgresql/15/bin/postgres"),
        (POSTGRES, "usr/lib/postgresql/17/bin/pg_restore"),
        (POSTGRES, "usr/lib/postgresql/15/lib/plpgsql.so"),
        (POSTGRES, "usr/share/postgresql/15/postgres.bki"),
        (POSTGRES, "usr/share/postgresql/15/extension/plpgsql.control"),
        (POSTGRES, "usr/lib/locale/C.utf8/LC_CTYPE"),
        (POSTGRES, "usr/share/zoneinfo/Asia/Shanghai"),
        (REDIS, "usr/bin/redis-cli"),
        (NGINX, "usr/sbin/nginx"),
        (NGINX, "etc/nginx/mime.types"),
    ],
)
def test_file_that_a_program_needs_is_kept(wanted: ProgramSet, place: str) -> None:
    assert re.fullmatch(wanted.files, place)


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        (POSTGRES, "usr/lib/postgresql/15/lib/llvmjit.so"),
        (POSTGRES, "usr/lib/postgresql/15/lib/pgxs/src/Makefile.global"),
        (POSTGRES, "usr/lib/postgresql/15/lib/bitcode/postgres.index.bc"),
        (POSTGRES, "usr/share/postgresql/15/man/man1/psql.1.gz"),
        (POSTGRES, "usr/share/zoneinfo/localtime"),
        (POSTGRES, "usr/bin/ldd"),
        (REDIS, "etc/redis/redis.conf"),
        (NGINX, "etc/nginx/nginx.conf"),
        (NGINX, "etc/nginx/sites-available/default"),
    ],
)
def test_file_that_no_program_needs_is_left_out(wanted: ProgramSet, place: str) -> None:
    assert re.fullmatch(wanted.files, place) is None


@pytest.mark.parametrize("name", ["locales-all", "libllvm14", "postgresql-common", "perl", "debconf", "ssl-cert"])
def test_package_that_only_an_installation_needs_is_not_fetched(name: str) -> None:
    assert UNWANTED.fullmatch(name)


@pytest.mark.parametrize("name", ["libicu72", "libpq5", "libc6", "tzdata", "postgresql-15", "postgresql-client-15"])
def test_package_with_what_runs_is_fetched(name: str) -> None:
    assert UNWANTED.fullmatch(name) is None


def test_sets_have_names_of_their_own() -> None:
    assert len({item.name for item in SETS}) == len(SETS)


def test_layer_has_the_modes_and_the_links_that_programs_need(tmp_path: Path) -> None:
    made = Debian(tmp_path)
    (tmp_path / "versions.json").write_text('{"echo-2": "1"}')
    path = made.tree(ECHO) / "usr/bin/echo"
    path.parent.mkdir(parents=True)
    path.write_text("")
    path.chmod(0o755)
    os.utime(path, (1, 1))
    entries = made.layer(ECHO).entries
    assert [(e.path, e.mode) for e in entries if e.file] == [("usr/bin/echo", 0o755)]
    assert [(e.path, e.link) for e in entries if e.link] == [("lib", "usr/lib"), ("lib64", "usr/lib64")]
