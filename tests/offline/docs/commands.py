"""Commands of the documentation: classified by a marker, run as a reader would type them, compared with what is shown.

A block of language `console` has a marker in the line above it:

    <!-- test: offline -->          run by `make check`: no root, no network, no cluster, nothing changed
    <!-- test: live NAME -->        run by the live tests, in the order of the pages; starts and ends with a green stack
    <!-- test: shown REASON -->     not run, for the reason given

`exit=N` behind the first two expects that exit code of the last command. Lines with `$ ` are commands, `> ` continues
one. Every other line must be printed, in this order; `…` stands for any text, alone on a line for any lines.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.process import ProgramError, run
from tests.offline.docs.markdown import ROOT, blocks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sandbox.process import Finished
    from tests.offline.docs.markdown import Block

LANGUAGE = "console"
MARKER = re.compile(
    r"(?P<kind>offline|live)(?: (?P<name>[a-z][a-z-]*))?(?: exit=(?P<code>\d+))?|(?P<shown>shown) (?P<reason>\S.*)"
)
_ELSEWHERE = {".out/local": ".out/{state}", "state/local": "state/{state}"}
_SECONDS = {"offline": 180.0, "live": 900.0}
_PRINTED = 1500


@dataclass(frozen=True, kw_only=True)
class Example:
    """A console block that is run. name: of a live one, unique; empty for an offline one."""

    where: str
    kind: str
    name: str
    exit_code: int
    commands: tuple[str, ...]
    output: tuple[str, ...] = field(default=())


def classify(block: Block) -> str | None:
    """What is wrong with the marker of a console block, None if nothing is."""
    found = MARKER.fullmatch(block.marker or "")
    if found is None:
        return f"{block.where}: marker {block.marker!r}; accepted: offline, live NAME, shown REASON"
    if found["kind"] == "live" and not found["name"]:
        return f"{block.where}: a live block needs a name"
    if found["kind"] == "offline" and found["name"]:
        return f"{block.where}: an offline block has no name"
    if not any(line.startswith("$ ") for line in block.lines):
        return f"{block.where}: no line starts with `$ `"
    return None


def console() -> list[Block]:
    """Every console block of the documentation."""
    return [block for block in blocks() if block.language == LANGUAGE]


def examples(kind: str) -> tuple[Example, ...]:
    """Blocks of a kind (`offline`, `live`) in the order of the pages; blocks with a bad marker are left out."""
    good = [block for block in console() if classify(block) is None]
    return tuple(example(block) for block in good if (block.marker or "").split()[0] == kind)


def live_commands() -> tuple[Example, ...]:
    """What the live tests run, in this order: `assert complaints(example, state=STATE) == []` for each.

    Each example starts with a running stack that smoke calls green (the first one starts it), and ends with one.
    """
    return examples("live")


def example(block: Block) -> Example:
    """A block whose marker is good, taken apart."""
    found = MARKER.fullmatch(block.marker or "")
    assert found is not None
    commands: list[str] = []
    output: list[str] = []
    for line in block.lines:
        if line.startswith("$ "):
            commands.append(line.removeprefix("$ "))
        elif line.startswith("> "):
            commands[-1] += "\n" + line.removeprefix("> ")
        elif line.strip():
            output.append(line.strip())
    return Example(
        where=block.where,
        kind=str(found["kind"] or found["shown"]),
        name=found["name"] or "",
        exit_code=int(found["code"] or 0),
        commands=tuple(commands),
        output=tuple(output),
    )


def complaints(
    wanted: Example,
    *,
    state: str | None = None,
    root: Path = ROOT,
    timeout: float | None = None,
    printed: Mapping[str, str] | None = None,
) -> list[str]:
    """Run the commands in one shell from the checkout; what differs from the page, empty if nothing does.

    state: name of the cluster state that stands for `local`, in the environment and in paths. timeout: seconds, by
    kind if not given. printed: command → what it printed when it ran well before. The commands that a block begins
    with are not run a second time if they are in it; behind one that is not, everything may have changed.
    """
    before = tuple(itertools.takewhile((printed or {}).__contains__, wanted.commands))
    shown = "".join((printed or {})[command] for command in before)
    left = [elsewhere(command, state) for command in wanted.commands[len(before) :]]
    try:
        done = _typed(left, state, root, timeout or _SECONDS[wanted.kind])
    except ProgramError as error:
        return [f"{wanted.where}: {error}"]
    shown += done.stdout
    found = []
    if done.code != wanted.exit_code:
        found.append(f"{wanted.where}: exit code {done.code}, the page says {wanted.exit_code}")
    missing = first_missing([elsewhere(line, state) for line in wanted.output], shown.splitlines())
    if missing is not None:
        found.append(f"{wanted.where}: the page shows {missing!r}, which was not printed (in this place)")
    return [*found, f"printed:\n{shown[-_PRINTED:]}"] if found else []


def _typed(commands: list[str], state: str | None, root: Path, timeout: float) -> Finished:
    """One shell, both streams in one, nobody at the keyboard; ends at the first command that fails."""
    # Below `make test`, make would print the directories that it enters: a reader types at a shell.
    hidden = ("PLUMBLINE_STATE", "PULUMI_STACK", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    if state is not None:
        environment["PLUMBLINE_STATE"] = state
    script = "\n".join(("exec 2>&1", "set -eu", *commands))
    return run(["bash", "-c", script], timeout=timeout, env=environment, cwd=root, check=False)


def elsewhere(text: str, state: str | None) -> str:
    """The text with the paths of stack `local` changed to those of another state."""
    for path, pattern in _ELSEWHERE.items() if state is not None else ():
        text = re.sub(rf"{re.escape(path)}(?![\w-])", pattern.format(state=state), text)
    return text


def first_missing(wanted: list[str], printed: list[str]) -> str | None:
    """The first wanted line that is not printed after the ones before it; None if all are."""
    rest = iter([_plain(line) for line in printed])
    for line in wanted:
        if line == "…":
            continue
        pattern = re.compile(".*".join(re.escape(_plain(part)) for part in line.split("…")))
        if not any(pattern.fullmatch(found) for found in rest):
            return line
    return None


def _plain(text: str) -> str:
    """Columns of tables move with their content: blanks count as one."""
    return " ".join(text.split())
