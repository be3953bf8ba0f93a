"""Programs are built once, whole or not at all, and failures say what to do."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from sandbox.errors import SandboxError
from sandbox.exclusive import exclusively
from sandbox.programs import build, spec
from sandbox.programs.spec import ModuleFile
from sandbox.progress import Progress
from tests.offline.sandbox.fakes import GO, module, program, silent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.programs.spec import Program

GIB = 2**30


class Usage(NamedTuple):
    """What `shutil.disk_usage` returns."""

    total: int
    used: int
    free: int


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is large enough, whatever this machine has."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(200 * GIB, 0, 100 * GIB))


@pytest.fixture
def go(fake_bin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake Go on PATH. Returns the file that notes its calls."""
    log = tmp_path / "go.log"
    log.touch()
    monkeypatch.setenv("FAKE_GO_LOG", str(log))
    program(fake_bin, "go", GO)
    return log


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Program]:
    """Two programs to build."""
    modules = tmp_path / "modules"
    monkeypatch.setattr(spec, "MODULES", modules)
    programs = {name: module(modules, name) for name in ("alpha", "beta")}
    monkeypatch.setattr(build, "catalogue", lambda: ("1.26", programs))
    return programs


@pytest.fixture
def ensure(home: Home, catalogue: dict[str, Program]) -> Callable[..., str]:
    """Builds what is missing and returns what was printed."""

    def call(*names: str) -> str:
        progress, stream = silent()
        build.ensure(home, names or tuple(catalogue), progress)
        return stream.getvalue()

    return call


def left_half_made(home: Home) -> list[str]:
    """Remains of builds."""
    return [p.name for p in home.programs.glob(".building-*")]


@pytest.mark.usefixtures("go")
def test_programs_are_built_into_the_cache(home: Home, ensure: Callable[..., str]) -> None:
    ensure()
    assert build.binary(home, "alpha").read_text() == "program\n"
    assert left_half_made(home) == []


def test_second_call_runs_nothing(go: Path, ensure: Callable[..., str]) -> None:
    ensure()
    go.write_text("")
    assert ensure() == ""
    assert go.read_text() == ""


def test_only_what_is_missing_is_built(go: Path, ensure: Callable[..., str]) -> None:
    ensure("alpha")
    go.write_text("")
    ensure()
    assert re.findall(r"example.org/(\w+)$", go.read_text(), re.M) == ["beta"]


@pytest.mark.usefixtures("go")
def test_changed_pin_is_built_anew(catalogue: dict[str, Program], ensure: Callable[..., str]) -> None:
    ensure("alpha")
    (catalogue["alpha"].source / "go.sum").write_text("alpha v1.0.1 h1:other\n")
    assert "program 1 of 1: alpha 1.0.0" in ensure("alpha")


@pytest.mark.usefixtures("go")
def test_progress_names_program_place_and_time(ensure: Callable[..., str]) -> None:
    printed = ensure()
    assert "  ▸ program 1 of 2: alpha 1.0.0\n" in printed
    assert re.search(r"  ✓ program 2 of 2: beta 1\.0\.0: done in \d+\.\d s\n", printed)


def test_flags_and_tags_reach_the_compiler(
    go: Path, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gamma = module(tmp_path / "gamma-modules", "gamma", tags=("one", "two"), ldflags=("-X a.b=1",))
    monkeypatch.setattr(spec, "MODULES", tmp_path / "gamma-modules")
    monkeypatch.setattr(build, "catalogue", lambda: ("1.26", {"gamma": gamma}))
    build.ensure(home, ["gamma"], silent()[0])
    assert "build -trimpath -buildvcs=false -ldflags -s -w -X a.b=1 -tags one,two -o" in go.read_text()


def test_failed_build_leaves_nothing(fake_bin: Path, home: Home, ensure: Callable[..., str]) -> None:
    program(fake_bin, "go", '[ "$1" = env ] && echo go1.30 && exit; echo "undefined: x" >&2; exit 1')
    with pytest.raises(SandboxError, match="undefined: x"):
        ensure("alpha")
    assert left_half_made(home) == []
    assert [p.name for p in build.missing(home, ["alpha"])] == ["alpha"]


def test_build_after_a_failure_succeeds(fake_bin: Path, go: Path, home: Home, ensure: Callable[..., str]) -> None:
    program(fake_bin, "go", '[ "$1" = env ] && echo go1.30 && exit; exit 1')
    with pytest.raises(SandboxError):
        ensure("alpha")
    program(fake_bin, "go", GO)
    ensure("alpha")
    assert build.missing(home, ["alpha"]) == []
    assert go.read_text() != ""


@pytest.mark.usefixtures("go")
def test_remains_of_a_killed_build_are_removed(home: Home, ensure: Callable[..., str]) -> None:
    for name in ("alpha", "gone-from-the-catalogue"):
        remains = home.programs / f".building-{name}" / "bin"
        remains.mkdir(parents=True)
        (remains / "alpha").write_text("half")
    ensure("alpha")
    assert left_half_made(home) == []
    assert build.binary(home, "alpha").read_text() == "program\n"


def test_unreachable_proxy_says_what_to_do(fake_bin: Path, ensure: Callable[..., str]) -> None:
    program(fake_bin, "go", '[ "$1" = env ] && echo go1.30 && exit; echo "dial tcp: no such host" >&2; exit 1')
    with pytest.raises(SandboxError, match=r"Go module proxy cannot be reached[\s\S]*check the network and GOPROXY"):
        ensure("alpha")


@pytest.mark.usefixtures("go")
def test_too_little_disk_is_told_before_anything_is_built(
    home: Home, ensure: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100 * GIB, 93 * GIB, 7 * GIB))
    with pytest.raises(SandboxError) as caught:
        ensure()
    assert caught.value.what == f"{home.root} has 7.0 GiB free; building 2 programs needs 8 GiB for a while"
    assert "PLUMBLINE_HOME" in caught.value.remedy


@pytest.mark.usefixtures("go")
def test_old_go_is_told_before_anything_is_built(
    home: Home, ensure: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GO_VERSION", "go1.21.0")
    with pytest.raises(SandboxError, match=r"Go is go1\.21\.0"):
        ensure()
    assert not home.programs.exists()


@pytest.mark.usefixtures("go")
def test_second_builder_is_refused(home: Home, ensure: Callable[..., str]) -> None:
    with exclusively(home.programs, "building"), pytest.raises(SandboxError, match="another process is building"):
        ensure()


def test_first_failure_ends_the_other_build(fake_bin: Path, home: Home, ensure: Callable[..., str]) -> None:
    beta_hangs = 'for last; do :; done; [ "$last" = example.org/beta ] && exec sleep 300; exit 1'
    program(fake_bin, "go", f'[ "$1" = env ] && echo go1.30 && exit; {beta_hangs}')
    with pytest.raises(SandboxError, match="alpha was not built"):
        ensure()
    assert left_half_made(home) == []


@pytest.mark.usefixtures("go")
def test_go_caches_are_removed_once_all_that_is_needed_is_built(home: Home, ensure: Callable[..., str]) -> None:
    (home.go / "mod").mkdir(parents=True)
    ensure("alpha")
    build.prune(home, ["alpha", "beta"], Progress())
    assert home.go.exists()
    build.prune(home, ["alpha"], Progress())
    assert not home.go.exists()


@pytest.mark.usefixtures("go")
def test_programs_that_nobody_asked_for_now_stay(home: Home, ensure: Callable[..., str]) -> None:
    home.go.mkdir(parents=True)
    ensure("alpha", "beta")
    build.prune(home, ["alpha"], Progress())
    assert build.binary(home, "beta").exists()


@pytest.mark.usefixtures("go")
def test_go_caches_stay_when_asked(home: Home, ensure: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_KEEP_GO_CACHE", "1")
    home.go.mkdir(parents=True)
    ensure("alpha")
    build.prune(home, ["alpha"], Progress())
    assert home.go.exists()


@pytest.mark.usefixtures("go")
def test_go_caches_that_another_process_uses_stay(home: Home, ensure: Callable[..., str]) -> None:
    home.go.mkdir(parents=True)
    ensure("alpha")
    with exclusively(home.programs, "building programs"):
        build.prune(home, ["alpha"], Progress())
    assert home.go.exists()


@pytest.mark.usefixtures("catalogue")
def test_program_that_is_not_built_is_named(home: Home) -> None:
    with pytest.raises(SandboxError, match=r"alpha is not built\n  next: run make programs"):
        build.binary(home, "alpha")


@pytest.mark.usefixtures("catalogue")
def test_unknown_program_is_named(home: Home) -> None:
    with pytest.raises(SandboxError, match="no program builds gamma"):
        build.binary(home, "gamma")


def test_files_of_other_modules_are_put_beside_the_source(
    fake_bin: Path, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = tmp_path / "content"
    content.mkdir()
    (content / "launcher").write_text("#!/bin/sh\n")
    (content / "schema.json").write_text('{ "name": "k8s" }\n')
    answer = json.dumps({"Dir": str(content), "Sum": "h1:right"})
    # The compiler's stand-in keeps the generated file, which would be gone with the source.
    keep = 'while [ "$1" != "-o" ]; do shift; done; cp embed.json "$2"'
    program(fake_bin, "go", f"case $1 in env) echo go1.30;; mod) echo '{answer}';; build) {keep};; esac")
    copied = ModuleFile("example.org/m@v1", "launcher", "bin/launcher", sum="h1:right")
    data = ModuleFile("example.org/m@v1", "schema.json", "crds/schema.json", sum="h1:right")
    made = ModuleFile("example.org/m@v1", "schema.json", "embed.json", set_version=True)
    delta = module(tmp_path / "modules", "delta", copies=(copied, data), generates=(made,))
    monkeypatch.setattr(spec, "MODULES", tmp_path / "modules")
    monkeypatch.setattr(build, "catalogue", lambda: ("1.26", {"delta": delta}))
    build.ensure(home, ["delta"], silent()[0])
    directory = build.directory(home, delta)
    assert (directory / "bin/delta").read_text() == '{"name":"k8s","version":"1.0.0"}'
    assert (directory / "bin/launcher").stat().st_mode & 0o777 == 0o755
    assert (directory / "crds/schema.json").read_text() == '{ "name": "k8s" }\n'
    assert (directory / "crds/schema.json").stat().st_mode & 0o777 == 0o644
