"""The Go toolchain: found, checked, and its failures put into words."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.errors import SandboxError
from sandbox.process import ProgramError, run

if TYPE_CHECKING:
    from sandbox.home import Home

UNREACHABLE = re.compile(
    r"dial tcp|no such host|connection refused|i/o timeout|network is unreachable|proxyconnect|TLS handshake timeout"
    r"|module lookup disabled|unrecognized import path|server misbehaving|connection reset"
)
NO_SPACE = re.compile(r"no space left on device|disk quota exceeded")


def go_environment(home: Home) -> dict[str, str]:
    """Environment of every `go` call: caches of our own, no C compiler; the user's proxy settings stay."""
    env = dict(os.environ)
    env.update(
        GOMODCACHE=str(home.go / "mod"),
        GOCACHE=str(home.go / "build"),
        GOFLAGS="-mod=readonly -modcacherw",
        GOWORK="off",
        CGO_ENABLED="0",
        GOOS="linux",
    )
    return env


def check_go(minimum: str) -> None:
    """Raise SandboxError unless a Go of at least `minimum` is on PATH."""
    remedy = f"install Go {minimum} or newer and put it on PATH"
    if shutil.which("go") is None:
        raise SandboxError("Go is not on PATH; the cluster's programs are built from source", remedy)
    found = run(["go", "env", "GOVERSION"], timeout=60).stdout.strip()
    match = re.match(r"go(\d+)\.(\d+)", found)
    if match is None or tuple(map(int, match.groups())) < tuple(map(int, minimum.split("."))):
        raise SandboxError(f"Go is {found or 'of an unknown version'}; {minimum} or newer is needed", remedy)


def explain(program: str, error: ProgramError) -> SandboxError:
    """The user's view of a failed `go` call."""
    if UNREACHABLE.search(error.output):
        cause = next(line for line in error.output.splitlines() if UNREACHABLE.search(line)).strip()
        return SandboxError(
            f"{program} was not built: the Go module proxy cannot be reached ({cause[:300]})",
            "check the network and GOPROXY, then run the same command again; what is built already stays",
        )
    if NO_SPACE.search(error.output):
        return SandboxError(
            f"{program} was not built: the disk is full",
            "free space under PLUMBLINE_HOME, then run the same command again; what is built already stays",
        )
    return SandboxError(f"{program} was not built: {error}", "read the compiler's words above; the pins may be broken")


def module_directory(home: Home, module: str, *, expected_sum: str, cwd: Path) -> Path:
    """Download `path@version` and return its directory.

    expected_sum: `h1:` sum to compare with; empty where the go.sum in `cwd` pins the module already.
    Raises SandboxError on another sum.
    """

    answer: dict[str, Any] = json.loads(
        run(["go", "mod", "download", "-json", module], timeout=900, env=go_environment(home), cwd=cwd).stdout
    )
    if expected_sum and answer.get("Sum") != expected_sum:
        raise SandboxError(
            f"module {module} has sum {answer.get('Sum')}, pinned is {expected_sum}",
            "do not use this module: find out why its content changed",
        )
    return Path(answer["Dir"])
