"""Experiments: what was logged is what was read back, every value and step of it."""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from smoke import limits
from smoke.model import Problem
from smoke.sdk import planned
from smoke.sdk.compare import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from smoke.sdk.model import DriverResult, LoggedFile, LoggedRun, ReadBack

Point = tuple[int, str]

PROJECT: Final = "plumbline-sentinel"
PREFIX: Final = "sentinel-"
"""What the names of runs begin with that these checks log; others of the project are the regression's."""
FINISHED: Final = "FINISHED"
ODD: Final[dict[str, dict[str, str]]] = {
    "exact": {"nan": "nan", "inf": "inf", "-inf": "-inf"},
    "nan": {"nan": "nan", "inf": "nan", "-inf": "nan"},
    "unsigned_inf": {"nan": "nan", "inf": "inf", "-inf": "inf"},
}
"""Outcome of scenario `nan_inf` of the matrix → how what is no finite number comes back."""


def whole(result: DriverResult, version: str, plan: Mapping[str, Any]) -> list[Problem]:
    """The driver did all that its plan asks for, with the pinned SDK."""
    problems = [Problem("driver", f"raised {raised}", "no exception", terminal=True) for raised in result.raised]
    if result.sdk != version:
        problems.append(Problem("SDK of the driver", result.sdk, f"{version}, the pinned one", terminal=True))
    if len(result.runs) != 1 or not result.runs[0].finished:
        seen = f"ended at stage {result.stage!r} with {len(result.runs)} runs"
        problems.append(Problem("driver", seen, "one run, finished", terminal=True))
        return problems
    short = [*planned.short(plan, result.runs[0]), *([] if result.runs[0].config else ["no setting was logged"])]
    return problems + [Problem("driver", words, "all that its plan asks for", terminal=True) for words in short]


def intact(run: LoggedRun, seen: ReadBack, odd: str) -> list[Problem]:
    """All of a run is there, equal. odd: a key of ODD, as the matrix declares it for the SDK."""
    problems = [p for key, points in run.logged.items() for p in series(key, points, seen.series.get(key, ()), odd)]
    problems += [p for key, files in run.media.items() for p in media(key, files, seen.media.get(key, ()))]
    problems += columns(frozenset({*run.logged, *run.media}), seen.keys)
    problems += [p for key, value in run.config.items() for p in _setting(key, value, seen.config)]
    problems += lines(run.lines, seen.lines)
    if seen.state != FINISHED:
        problems.append(Problem("state of the run", seen.state, FINISHED))
    return problems


def series(key: str, logged: Sequence[Point], read: Sequence[Point], odd: str = "exact") -> list[Problem]:
    """Every step once, with the very value."""
    expected = {step: ODD[odd].get(text, text) for step, text in logged}
    found: dict[int, str] = {}
    extra = []
    for step, text in read:
        if step not in expected or step in found:
            extra.append(step)
        else:
            found[step] = text
    missing = [step for step in expected if step not in found]
    different = [step for step, text in found.items() if not _equal(text, expected[step])]
    told = [_told("missing", missing), _told("extra", extra), _told("different", different)]
    told += [f"step {step} is {found[step]!r} instead of {expected[step]!r}" for step in different[:1]]
    if not (missing or extra or different):
        return []
    return [Problem(f"key {key}", "; ".join(part for part in told if part), f"all {len(expected)} steps, equal")]


def media(key: str, logged: Sequence[LoggedFile], read: Sequence[str]) -> list[Problem]:
    """The bytes of every file, in order of step. read: their sha256."""
    expected = [file.sha256 for file in sorted(logged, key=lambda file: file.step)]
    if list(read) == expected:
        return []
    missing = [file.step for file in logged if file.sha256 not in read]
    parts = [f"{len(read)} files", _told("missing or different", missing)]
    return [Problem(f"files of key {key}", "; ".join(part for part in parts if part), f"the {len(expected)} logged")]


def columns(logged: frozenset[str], read: frozenset[str]) -> list[Problem]:
    """The run has the keys that were logged, and no other."""
    return [
        Problem(f"keys that are {what}", ", ".join(sorted(keys)[: limits.STEPS_SHOWN]), "none")
        for what, keys in (("missing", logged - read), ("extra", read - logged))
        if keys
    ]


def lines(logged: Sequence[str], read: Sequence[str]) -> list[Problem]:
    """Every printed line is there as often as it was printed, in order. The SDK's own lines may lie between."""
    wanted = frozenset(logged)
    found = [line.rstrip() for line in read if line.rstrip() in wanted]
    if found == list(logged):
        return []
    missing, extra = Counter(logged) - Counter(found), Counter(found) - Counter(logged)
    if not missing and not extra:
        return [Problem("terminal log", "all lines, in another order", "the order in which they were printed")]
    seen = f"{missing.total()} of {len(logged)} lines missing, {extra.total()} twice"
    first = next(iter(missing or extra))
    return [Problem("terminal log", f"{seen}; the first: {first!r}", f"all {len(logged)} lines")]


def unchanged(before: ReadBack, after: ReadBack) -> list[Problem]:
    """What was read once is read again."""
    kept = {"state": (before.state, after.state), "config": (before.config, after.config)}
    kept |= {"lines": (before.lines, after.lines), "keys": (before.keys, after.keys)}
    problems = [Problem(name, "changed", "as before") for name, (old, new) in kept.items() if old != new]
    for key, points in before.series.items():
        problems += series(key, points, after.series.get(key, ()))
    for key, files in before.media.items():
        if after.media.get(key) != files:
            problems.append(
                Problem(f"files of key {key}", f"{len(after.media.get(key, ()))}", f"the {len(files)} before")
            )
    return problems


def amount(run: LoggedRun) -> str:
    """How much was compared, in words."""
    points = sum(len(found) for found in run.logged.values())
    files = sum(len(found) for found in run.media.values())
    return (
        f"{points} points of {len(run.logged)} keys, {files} files, {len(run.lines)} lines, {len(run.config)} settings"
    )


def left_behind(name: str, created: str, now: float, age: float) -> bool:
    """Whether a run is one of ours that was made more than `age` seconds ago. created: ISO 8601. now: Unix time."""
    if not name.startswith(PREFIX):
        return False
    try:
        return datetime.fromisoformat(created).timestamp() < now - age
    except ValueError:
        # A time that is not understood says nothing of its age: not ours to guess.
        return False


def steps(found: Iterable[int]) -> str:
    """Steps in words, neighbours as ranges: `1-3, 7`; of many only the first ranges."""
    ranges: list[list[int]] = []
    for step in sorted(set(found)):
        if ranges and step == ranges[-1][1] + 1:
            ranges[-1][1] = step
        else:
            ranges.append([step, step])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[: limits.STEPS_SHOWN]]
    return ", ".join([*shown, "…"] if len(ranges) > limits.STEPS_SHOWN else shown)


def _told(what: str, found: list[int]) -> str:
    return f"{len(found)} {what} (steps {steps(found)})" if found else ""


def _equal(read: str, expected: str) -> bool:
    one, other = number(read), number(expected)
    if one is None or other is None:
        return read == expected
    return one == other or (math.isnan(one) and math.isnan(other))


def _setting(key: str, value: object, read: Any) -> list[Problem]:  # noqa: ANN401  # a mapping of whatever was set
    if key not in read:
        return [Problem(f"setting {key}", "missing", repr(value))]
    return [] if read[key] == value else [Problem(f"setting {key}", repr(read[key]), repr(value))]
