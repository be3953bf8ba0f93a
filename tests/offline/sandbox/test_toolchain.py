"""Go is found and checked, and its failures say what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from sandbox.programs.toolchain import check_go, explain, go_environment, module_directory
from tests.offline.sandbox.fakes import program

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home


def failure(output: str) -> ProgramError:
    """A failed `go build`."""
    return ProgramError(["go", "build"], "exited with 1", output)


def test_missing_go_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"Go is not on PATH.*\n  next: install Go 1.26 or newer"):
        check_go("1.26")


@pytest.mark.parametrize("found", ["go1.25.9", "go1.9", "devel +abc"])
def test_old_or_unknown_go_is_refused(fake_bin: Path, found: str) -> None:
    program(fake_bin, "go", f"echo '{found}'")
    with pytest.raises(SandboxError) as caught:
        check_go("1.26")
    assert caught.value.what == f"Go is {found}; 1.26 or newer is needed"


@pytest.mark.parametrize("found", ["go1.26", "go1.26.0", "go1.27rc1", "go2.0"])
def test_go_of_the_minimum_or_newer_is_accepted(fake_bin: Path, found: str) -> None:
    program(fake_bin, "go", f"echo {found}")
    check_go("1.26")


@pytest.mark.parametrize(
    "cause",
    [
        "dial tcp 192.0.2.1:443: connect: connection refused",
        "dial tcp: lookup proxy.example on 192.0.2.53:53: no such host",
        "read: connection reset by peer",
        "net/http: TLS handshake timeout",
        "module lookup disabled by GOPROXY=off",
    ],
)
def test_unreachable_proxy_is_named_with_its_cause(cause: str) -> None:
    error = explain("etcd", failure(f"go: downloading a\ngo: example.org/a@v1: {cause}\n"))
    assert error.what == (f"etcd was not built: the Go module proxy cannot be reached (go: example.org/a@v1: {cause})")
    assert "check the network and GOPROXY" in error.remedy


@pytest.mark.parametrize("words", ["no space left on device", "disk quota exceeded"])
def test_full_disk_is_named(words: str) -> None:
    error = explain("etcd", failure(f"write /h/cache/go/build/ab: {words}"))
    assert error.what == "etcd was not built: the disk is full"
    assert "free space under PLUMBLINE_HOME" in error.remedy


def test_compiler_error_is_shown_as_it_is() -> None:
    error = explain("etcd", failure("main.go:3: undefined: x"))
    assert "etcd was not built" in error.what
    assert "main.go:3: undefined: x" in error.what


def test_go_uses_caches_of_our_own_and_keeps_the_users_proxy(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", "https://proxy.example")
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    env = go_environment(home)
    assert (env["GOPROXY"], env["GOMODCACHE"]) == ("https://proxy.example", f"{home.root}/cache/go/mod")
    assert "-mod=readonly" in env["GOFLAGS"]


def test_module_with_another_sum_is_refused(home: Home, fake_bin: Path) -> None:
    program(fake_bin, "go", f"echo '{json.dumps({'Dir': '/m', 'Sum': 'h1:other'})}'")
    with pytest.raises(SandboxError, match=r"module example\.org/m@v1 has sum h1:other, pinned is h1:right"):
        module_directory(home, "example.org/m@v1", expected_sum="h1:right", cwd=fake_bin)


def test_module_pinned_by_go_sum_needs_no_sum_here(home: Home, fake_bin: Path) -> None:
    program(fake_bin, "go", f"echo '{json.dumps({'Dir': '/m', 'Sum': 'h1:any'})}'")
    assert str(module_directory(home, "example.org/m@v1", expected_sum="", cwd=fake_bin)) == "/m"
