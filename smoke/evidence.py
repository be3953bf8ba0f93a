"""How a failure is put into words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smoke import limits
from smoke.access.errors import AccessError
from smoke.model import CheckFailedError, Problem
from smoke.redact import bounded

if TYPE_CHECKING:
    from _pytest._code import Traceback


def describe(error: BaseException, traceback: Traceback) -> str:
    """What was seen and expected, one line per problem; for an unexpected exception also where it came from."""
    if isinstance(error, CheckFailedError):
        return bounded("\n".join([*_lines(error.problems), *([error.note] if error.note else [])]))
    if isinstance(error, AccessError):
        return bounded(str(Problem(error.subject, str(error), "an answer")))
    last = traceback[-1]
    where = f"{Path(str(last.path)).name}:{last.lineno + 1}"
    return bounded(f"{type(error).__name__} at {where}: {error}")


def _lines(problems: list[Problem]) -> list[str]:
    shown = [str(problem) for problem in problems[: limits.PROBLEMS_SHOWN]]
    more = len(problems) - len(shown)
    return [*shown, f"… and {more} more problems"] if more > 0 else shown
