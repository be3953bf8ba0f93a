"""A home whose programs are scripts: the engine notes how it was called and answers what a test wants."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cli.engine import engine_directory
from sandbox.programs import build
from sandbox.programs.spec import catalogue
from tests.offline.sandbox.fakes import program

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home

# Notes arguments and environment, then answers by the words of the command (what follows --non-interactive).
ENGINE = """
[ "$1" = --non-interactive ] && shift
here=$(dirname "$0")
echo "$*" >> "$here/calls"
env > "$here/environment"
pwd > "$here/directory"
answer="$here/answers/$(echo "$1 $2" | tr ' /' '__')"
[ -f "$answer" ] && cat "$answer"
[ -f "$here/code" ] && exit "$(cat "$here/code")"
exit 0
"""


class FakeEngine:
    """The engine's stand-in in the cache of `home`."""

    def __init__(self, home: Home) -> None:
        """Install every pinned program as a script that does nothing, and the engine as one that notes its calls."""
        for entry in catalogue()[1].values():
            for output in entry.outputs:
                program(build.directory(home, entry) / "bin", output, ENGINE if output == "pulumi" else "exit 0")
        self.directory = engine_directory(home)

    def answer(self, words: str, content: object) -> None:
        """Let the command that begins with these two words print this as JSON."""
        answers = self.directory / "answers"
        answers.mkdir(exist_ok=True)
        (answers / words.replace(" ", "_")).write_text(json.dumps(content))

    def fail(self, code: int) -> None:
        """Let every command exit so."""
        (self.directory / "code").write_text(str(code))

    @property
    def calls(self) -> list[str]:
        """Command lines so far."""
        noted = self.directory / "calls"
        return noted.read_text().splitlines() if noted.exists() else []

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the last call."""
        lines = (self.directory / "environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    @property
    def working_directory(self) -> str:
        """Working directory of the last call."""
        return (self.directory / "directory").read_text().strip()


def write(path: Path, text: str) -> Path:
    """Write a file and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
