"""What the regression of SDKs speaks of: expectations, what a driver logged, what was read back, what was seen."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from smoke.sdk.driver import MARKER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

# What may happen to any scenario, and is never expected.
HANG, CRASH, UNREADABLE, FOREIGN = "hang", "crash", "unreadable", "foreign"
ALWAYS: Final = {
    HANG: "the SDK did not come back in time",
    CRASH: "the SDK raised what no scenario asks for, or its process ended",
    UNREADABLE: "what was logged could not be read at all",
    FOREIGN: "the result is of another SDK, or of a run that logged less than planned: it answers no question",
}


class ResultError(Exception):
    """What a driver left is not its result."""


@dataclass(frozen=True)
class Expected:
    """outcome: one of the scenario's. source: where that is written down; `observed: …` where running showed it."""

    outcome: str
    source: str


@dataclass(frozen=True)
class Scenario:
    """One question to every version. script: which part of the driver answers it.

    outcomes: outcome → what it means; with ALWAYS, all that can be seen. expected: version → what must be seen.
    """

    name: str
    script: str
    question: str
    outcomes: Mapping[str, str]
    expected: Mapping[str, Expected]


@dataclass(frozen=True)
class Matrix:
    """The versions under test, oldest first, and what is asked of each."""

    versions: tuple[str, ...]
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True)
class LoggedFile:
    """A file that was logged. sha256: hexadecimal, of the bytes that the SDK made. size: bytes."""

    step: int
    sha256: str
    size: int


@dataclass(frozen=True)
class LoggedRun:
    """What a driver says of one run.

    label: `first` or `second`. path: `user/project/id`, empty when the run never began. logged: key → (step, repr of
    the float) in order. finished: whether finish() came back.
    """

    label: str
    project: str
    name: str
    path: str
    logged: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    media: Mapping[str, tuple[LoggedFile, ...]] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    finished: bool = False


@dataclass(frozen=True)
class DriverResult:
    """What a driver left. answers: of scenario `calls`. raised: `where: Type: message` of each stray exception."""

    sdk: str
    script: str
    stage: str
    answers: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[LoggedRun, ...] = ()
    raised: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """How a driver's process ended. result: None if it left none. tail: the end of what it printed."""

    result: DriverResult | None
    hang: bool = False
    code: int = 0
    tail: str = ""


@dataclass(frozen=True)
class ReadBack:
    """One run as it was read. series: key → (step, value as text) of every key that has points, in order of step.

    keys: all columns but those of the system. media: key → sha256 of each file, in order of step.
    """

    state: str
    keys: frozenset[str] = frozenset()
    series: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    media: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What a scenario showed. differences: in words, empty when there is nothing to say."""

    outcome: str
    differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One field of the table."""

    version: str
    scenario: str
    expected: Expected
    seen: Seen

    @property
    def right(self) -> bool:
        """Whether exactly what was expected was seen."""
        return self.seen.outcome == self.expected.outcome


@dataclass(frozen=True)
class Outcome:
    """The whole regression. faults: what went wrong beside the table, each of which is red."""

    subject: str
    verdicts: tuple[Verdict, ...] = ()
    faults: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def green(self) -> bool:
        """Whether all was asked and every answer is the expected one."""
        return bool(self.verdicts) and not self.faults and not self.interrupted and all(v.right for v in self.verdicts)


class Reader(Protocol):
    """Reads a run back, whoever logged it. A read that fails raises AccessError; it never looks like empty data."""

    def keys(self, run: LoggedRun) -> Collection[str]:
        """Every column but those of the system."""

    def series(self, run: LoggedRun, key: str) -> Sequence[tuple[int, str]]:
        """Every (step, value as text), neither sampled nor rounded; empty for a column without points."""

    def media(self, run: LoggedRun, key: str) -> Sequence[bytes]:
        """The bytes of every file of a key, in order of step."""

    def state(self, run: LoggedRun) -> str:
        """`RUNNING`, `FINISHED`, `CRASHED`, `ABORTED`."""

    def config(self, run: LoggedRun) -> Mapping[str, Any]:
        """The settings of the run, values alone."""

    def logs(self, run: LoggedRun) -> Sequence[str]:
        """What the run printed."""

    def sweep(self, project: str, doomed: Callable[[str, str], bool]) -> int:
        """Delete every run of a project of ours whose name and time of creation (ISO 8601) are doomed; how many."""


def parse_result(text: str) -> DriverResult:
    """A driver's result from its JSON. Raises ResultError."""
    try:
        found = json.loads(text)
        return DriverResult(
            sdk=found["sdk"],
            script=found["scenario"],
            stage=found["stage"],
            answers=dict(found["answers"]),
            runs=tuple(_run(run) for run in found["runs"]),
            raised=tuple(f"{one['where']}: {one['type']}: {one['message']}" for one in found["raised"]),
            warnings=tuple(found["warnings"]),
            printed=tuple(found["printed"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ResultError(f"this is not a driver's result ({type(error).__name__}: {error})") from error


def printed_result(output: str) -> DriverResult:
    """A driver's result from what its process, or its pod, has printed. Raises ResultError."""
    found: dict[int, str] = {}
    total = 0
    for line in output.splitlines():
        words = line.partition(MARKER)[2].split()
        if len(words) == 2 and words[0].count("/") == 1:  # noqa: PLR2004  # number/total and the part
            number, _, of = words[0].partition("/")
            found[int(number)], total = words[1], int(of)
    if not total or sorted(found) != list(range(1, total + 1)):
        raise ResultError(f"of {total or 'the'} {MARKER} lines {len(found)} were printed")
    try:
        packed = base64.b64decode("".join(found[number] for number in sorted(found)), validate=True)
        return parse_result(zlib.decompress(packed).decode())
    except (ValueError, zlib.error) as error:
        raise ResultError(f"the {MARKER} lines are damaged ({error})") from error


def _run(found: dict[str, Any]) -> LoggedRun:
    files = {
        key: tuple(LoggedFile(int(one["step"]), one["sha256"], int(one["bytes"])) for one in files)
        for key, files in found["media"].items()
    }
    return LoggedRun(
        label=found["label"],
        project=found["project"],
        name=found["name"],
        path=found["path"],
        logged={key: tuple((int(step), text) for step, text in points) for key, points in found["logged"].items()},
        media=files,
        config=found["config"],
        lines=tuple(found["lines"]),
        finished=bool(found["finished"]),
    )
