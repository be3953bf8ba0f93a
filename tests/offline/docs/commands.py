"""Commands of the documentation: classified by a marker, run as a reader would type them, compared with what is shown.

A block of language `console` has a marker in the line above it:

    <!-- test: offline -->          run by `make check`: no root, no network, no cluster, nothing changed
    <!-- test: live NAME -->        run by the live tests, in the order of the pages; starts and ends with a green stack
    <!-- test: shown REASON -->     not run, for the reason given

`exit=N` behind the first two expects that exit code of the last command. Lines with `$ ` are commands, `> ` continues
one. Every other line must be printed, in this order; `…` stands for any text, alone on a line for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.offline.docs.markdown import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.docs.markdown import Block

LANGUAGE = "console"
MARKER = re.compile(
    r"(?P<kind>offline|live)(?: (?P<name>[a-z][a-z-]*))?(?: exit=(?P<code>\d+))?|(?P<shown>shown) (?P<reason>\S.*)"
)
_ELSEWHERE = {".out/local": ".out/{state}", "state/local": "state/{state}"}
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
    """What the live tests run, in this order, with `complaints(example, state=…)`.

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


def complaints(wanted: Example, *, state: str | None = None, root: Path = ROOT, timeout: float = 60) -> list[str]:
    """Run the commands in one shell from the checkout; what differs from the page, empty if nothing does.

    state: name of the cluster state that stands for `local`, in the environment and in paths. timeout: seconds.
    """
    environment = {k: v for k, v in os.environ.items() if k not in ("PLUMBLINE_STATE", "PULUMI_STACK", "MAKEFLAGS")}
    if state is not None:
        environment["PLUMBLINE_STATE"] = state
    script = "\n".join(("set -eu", *(elsewhere(command, state) for command in wanted.commands)))
    try:
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [f"{wanted.where}: did not end within {timeout:g} s"]
    found = []
    if done.returncode != wanted.exit_code:
        found.append(f"{wanted.where}: exit code {done.returncode}, the page says {wanted.exit_code}")
    missing = first_missing([elsewhere(line, state) for line in wanted.output], done.stdout.splitlines())
    if missing is not None:
        found.append(f"{wanted.where}: the page shows {missing!r}, which was not printed (in this place)")
    return [*found, f"printed:\n{done.stdout[-_PRINTED:]}"] if found else []


def elsewhere(text: str, state: str | None) -> str:
    """The text with the paths of stack `local` changed to those of another state."""
    for path, pattern in _ELSEWHERE.items() if state is not None else ():
        text = re.sub(rf"{re.escape(path)}(?![\w-])", pattern.format(state=state), text)
    return text


def first_missing(wanted: list[str], printed: list[str]) -> str | None:
    """The first wanted line that is not printed after the ones before it; None if all are."""
    rest = iter(line.strip() for line in printed)
    for line in wanted:
        if line == "…":
            continue
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in line.split("…")))
        if not any(pattern.fullmatch(" ".join(p.split())) or pattern.fullmatch(p) for p in rest):
            return line
    return None
