"""Polling: the one way in which a check waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from smoke import limits
from smoke.access.errors import UnreachableError
from smoke.model import CheckFailedError, Problem

Probe = Callable[[], list[Problem]]
Answer = TypeVar("Answer")


def settle(
    probe: Probe,
    within: float,
    *,
    every: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Repeat `probe` until it finds no problem; `within` and `every` are seconds; `every` is
    the usual interval if not given.

    The probe runs at least once, and once more at the deadline. A server that cannot be reached counts as a problem
    of that attempt, never as a pass.

    Raises CheckFailedError with the last problems, at once when one of them is terminal.
    """
    pause = limits.POLL_EVERY if every is None else every
    begin = clock()
    judged: list[Problem] = []
    while True:
        problems, reached = _attempt(probe)
        if not problems:
            return
        judged = problems if reached else judged
        waited = clock() - begin
        if any(problem.terminal for problem in problems):
            raise CheckFailedError(problems, "stopped at once: this state does not heal by waiting")
        if waited >= within:
            earlier = [] if reached else judged
            raise CheckFailedError(problems + earlier, f"no better within {waited:.0f} s, the deadline")
        sleep(min(pause, within - waited))


def fetch(ask: Callable[[], Answer], within: float | None = None) -> Answer:
    """The answer to one question, asked again for `within` seconds while the server cannot be reached.

    Raises CheckFailedError with the last error.
    """
    answers: list[Answer] = []

    def probe() -> list[Problem]:
        answers.append(ask())
        return []

    settle(probe, limits.QUICK if within is None else within)
    return answers[-1]


def demand(problems: list[Problem]) -> None:
    """Raise CheckFailedError if there are problems: for facts that no waiting changes."""
    if problems:
        raise CheckFailedError(problems)


def _attempt(probe: Probe) -> tuple[list[Problem], bool]:
    """The problems of one attempt, and whether the server answered at all."""
    try:
        problems = probe()
    except UnreachableError as error:
        return [Problem(error.subject, str(error), "an answer")], False
    if not isinstance(problems, list):
        # None would read as "no problems": a probe without a return statement must not be green.
        raise TypeError(f"a probe must return a list of problems, not {type(problems).__name__}")
    return problems, True
