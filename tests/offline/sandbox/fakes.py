"""Fake programs, modules and tools that the sandbox's tests put where the real ones would be."""

from __future__ import annotations

import io
import json
import os
import time
from typing import TYPE_CHECKING

from sandbox.cluster.facts import Machine, read_process
from sandbox.hosttools import HostTools
from sandbox.programs.spec import Program
from sandbox.progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 60.0  # seconds after which a test gives up waiting; no result depends on it

# Answers to `go env GOVERSION`, and writes each binary that it is asked for. Every call is noted in $FAKE_GO_LOG.
GO = """
echo "$*" >> "$FAKE_GO_LOG"
case "$1" in
  env) echo "${FAKE_GO_VERSION:-go1.30.1}";;
  build)
    while [ "$1" != "-o" ]; do shift; done
    echo program > "$2"; chmod 755 "$2";;
esac
"""


def program(directory: Path, name: str, body: str) -> Path:
    """Write an executable shell script."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def module(modules: Path, name: str, **fields: object) -> Program:
    """Write a pinned module and return the program that is built from it."""
    source = modules / name
    source.mkdir(parents=True)
    (source / "go.mod").write_text(f"module {name}\n")
    (source / "go.sum").write_text(f"{name} v1.0.0 h1:sum\n")
    arguments: dict[str, object] = {"version": "1.0.0", "why": "a test", "outputs": {name: f"example.org/{name}"}}
    return Program(name=name, **(arguments | fields))  # type: ignore[arg-type]  # fields of the record, by name


def silent() -> tuple[Progress, io.StringIO]:
    """A progress whose lines can be read, without signs of life."""
    stream = io.StringIO()
    return Progress(stream=stream, heartbeat=3600), stream


def machine(**fields: object) -> Machine:
    """A machine on which everything holds."""
    facts: dict[str, object] = {
        "system": "Linux",
        "is_root": True,
        "cgroup": "v2",
        "may_raise_oom_score": True,
        "free_gib": 100.0,
        "memory_gib": 16.0,
    }
    return Machine(**(facts | fields))  # type: ignore[arg-type]  # fields of the record, by name


def host_tools(root: Path) -> HostTools:
    """Unpacked tools with a shell that lists two applets, and a pause process."""
    tools = HostTools(root)
    program(tools.tree / "bin", "busybox", 'printf "busybox\\nls\\nsh\\n"')
    program(tools.tree / "usr/bin", "catatonit", "exit 0")
    (root / "versions.json").write_text(json.dumps({"busybox-static": "1:1.35.0-4", "catatonit": "0.1.7-1+b2"}))
    return tools


def wait_until_ended(pid: int) -> bool:
    """Whether the process is gone before patience ends."""
    deadline = time.monotonic() + PATIENCE
    while read_process(pid) is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def wait_for_file(path: Path) -> str:
    """Content of a file that another process writes; raises TimeoutError when it never comes."""
    deadline = time.monotonic() + PATIENCE
    while not (path.exists() and path.read_text().strip()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} was not written")
        time.sleep(0.02)
    return path.read_text().strip()


def path_with(directory: Path) -> str:
    """PATH with `directory` first."""
    return f"{directory}{os.pathsep}{os.environ['PATH']}"
