"""What is built: programs.toml and the pinned modules beside it, read into frozen records."""

from __future__ import annotations

import hashlib
import platform
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

HERE = Path(__file__).parent
MODULES = HERE / "modules"
BUILD_FLAGS = ("-trimpath", "-buildvcs=false")
STRIP = ("-s", "-w")


@dataclass(frozen=True)
class ModuleFile:
    """A file of a pinned module that the build needs beside the source: copied as it is, or compacted as JSON."""

    module: str
    path: str
    to: str
    sum: str = ""
    set_version: bool = False


@dataclass(frozen=True)
class Program:
    """One pinned module and the binaries built from it. purpose: who needs them, users or live tests alone."""

    name: str
    version: str
    why: str
    outputs: dict[str, str]
    tags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    copies: tuple[ModuleFile, ...] = ()
    generates: tuple[ModuleFile, ...] = ()
    purpose: Literal["use", "tests"] = "use"

    @property
    def source(self) -> Path:
        """Directory with go.mod, go.sum and, for our own commands, the source."""
        return MODULES / self.name

    def digest(self) -> str:
        """First 12 hex digits of the hash over every input of the build."""
        sha = hashlib.sha256()
        for path in sorted(p for p in self.source.rglob("*") if p.is_file()):
            sha.update(path.relative_to(self.source).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        parts = (self.version, self.outputs, self.tags, self.ldflags, self.copies, self.generates, BUILD_FLAGS, STRIP)
        sha.update(repr((*parts, platform.system(), platform.machine())).encode())
        return sha.hexdigest()[:12]


@cache
def catalogue() -> tuple[str, dict[str, Program]]:
    """The lowest accepted Go version, and every program by name in the order of programs.toml."""
    raw = tomllib.loads((HERE / "programs.toml").read_text())
    programs = {
        name: Program(
            name=name,
            version=entry["version"],
            why=entry["why"],
            outputs=dict(entry["outputs"]),
            tags=tuple(entry.get("tags", ())),
            ldflags=tuple(entry.get("ldflags", ())),
            copies=tuple(ModuleFile(**item) for item in entry.get("copies", ())),
            generates=tuple(ModuleFile(**item) for item in entry.get("generates", ())),
            purpose=entry.get("for", "use"),
        )
        for name, entry in raw["program"].items()
    }
    return str(raw["minimum_go"]), programs


def names(*, tests: bool = False) -> list[str]:
    """Programs that a user's cluster needs, in the order of programs.toml. tests: with those of live tests too."""
    return [name for name, program in catalogue()[1].items() if tests or program.purpose == "use"]
