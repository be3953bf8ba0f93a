"""Judges the rendered configurations with the collector itself, before anything is registered."""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.otel_collector.names import GATES, PROGRAM
from components.tool import TIMEOUT_SECONDS, judge, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TOOL = PROGRAM.removeprefix("/")
MOST: Final = 600
"""Characters that are shown of a refusal: the collector repeats whole statements, each of thousands of characters."""
_OF: Final = "OpenTelemetry Collector"
_LONGEST_QUOTE: Final = 80
_BEGIN: Final = 50
_NEXT: Final = "unable to parse OTTL statement"
_QUOTE: Final = re.compile(r'"(?:\\.|[^"\\])*"|`[^`]*`')


def lint(files: Mapping[str, str]) -> None:
    """Check files that one collector reads together, in their order. files: file name → text.

    It knows components, their settings, and the grammar of statements; not whether a backend can be reached.
    Raises DeployError with the collector's own words, or if it is missing or does not finish.
    """
    with _written(files) as directory:
        judge(TOOL, _OF, _arguments(files), directory, TIMEOUT_SECONDS, readable)


def refusal(files: Mapping[str, str]) -> str:
    """All that the collector says against the files of lint(), empty for nothing."""
    with _written(files) as directory:
        done = run(TOOL, _OF, _arguments(files), directory)
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


def readable(output: str) -> str:
    """Of a refusal what a person can read: the first lines, of what is quoted in them the begin, and how much is left.

    At most about MOST characters.
    """
    lines = [shortened(line, MOST) for line in output.replace(f"; {_NEXT}", f"\n{_NEXT}").splitlines() if line.strip()]
    shown: list[str] = []
    for line in lines:
        if shown and sum(map(len, shown)) + len(line) > MOST:
            break
        shown.append(line)
    left = len(lines) - len(shown)
    return "\n".join([*shown, *([f"… and {left} more of its lines"] if left else [])])


def shortened(line: str, most: int) -> str:
    """A line with the begin alone of each long quote. What is still longer loses its middle: reasons stand at the end.

    most: characters.
    """
    cut = _QUOTE.sub(_begin_of, line)
    return cut if len(cut) <= most else f"{cut[: most // 2]}…{cut[-most // 2 + 1 :]}"


def gates() -> list[str]:
    """The flag with the feature gates that the configuration needs."""
    return [f"--feature-gates={','.join(GATES)}"]


def _begin_of(quote: re.Match[str]) -> str:
    text = quote.group()
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_BEGIN]}…{text[0]}"


def _arguments(files: Mapping[str, str]) -> list[str]:
    return ["validate", *(f"--config={file}" for file in files), *gates()]


@contextmanager
def _written(files: Mapping[str, str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="plumbline-lint-") as name:
        directory = Path(name)
        for file, text in files.items():
            (directory / file).write_text(text, encoding="utf-8")
        yield directory
