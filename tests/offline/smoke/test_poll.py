"""Polling waits, keeps the last error, and never turns silence into success."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smoke import limits
from smoke.access.errors import RefusedError, UnreachableError
from smoke.model import CheckFailedError, Problem
from smoke.poll import demand, fetch, settle

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def _settle(probe: Callable[[], list[Problem]], within: float = 10) -> Clock:
    clock = Clock()
    settle(probe, within, every=3, clock=clock, sleep=clock.sleep)
    return clock


def _script(*steps: list[Problem] | Exception) -> Callable[[], list[Problem]]:
    remaining = list(steps)

    def probe() -> list[Problem]:
        step = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        if isinstance(step, Exception):
            raise step
        return step

    return probe


BAD = Problem("pod a", "Pending", "Running")
DOWN = UnreachableError("API server", "connection refused")


def test_passes_at_once_without_problems() -> None:
    assert _settle(_script([])).now == 0


def test_waits_until_the_problem_is_gone() -> None:
    assert _settle(_script([BAD], DOWN, [])).now == 6


def test_last_attempt_lies_at_the_deadline() -> None:
    with pytest.raises(CheckFailedError, match=r"pod a: seen Pending; expected Running\nno better within 10 s"):
        _settle(_script([BAD]))


def test_silence_until_the_deadline_is_a_failure() -> None:
    with pytest.raises(CheckFailedError, match="API server: seen connection refused; expected an answer"):
        _settle(_script(DOWN))


def test_failure_keeps_what_was_judged_before_the_silence() -> None:
    with pytest.raises(CheckFailedError) as caught:
        _settle(_script([BAD], DOWN))
    assert caught.value.problems == [Problem("API server", "connection refused", "an answer"), BAD]


def test_terminal_problem_ends_the_wait() -> None:
    clock = Clock()
    crash = Problem("container a", "CrashLoopBackOff", "running", terminal=True)
    with pytest.raises(CheckFailedError, match="stopped at once"):
        settle(_script([crash]), 100, clock=clock, sleep=clock.sleep)
    assert clock.now == 0


def test_refusal_is_not_retried() -> None:
    with pytest.raises(RefusedError):
        _settle(_script(RefusedError("pods", "HTTP 403", 403), []))


def test_fetch_asks_again_while_there_is_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "POLL_EVERY", 0.0)
    steps: list[str | Exception] = [DOWN, DOWN, "answer"]

    def ask() -> str:
        step = steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    assert fetch(ask, 5) == "answer"
    steps[:] = [DOWN]
    with pytest.raises(CheckFailedError, match="connection refused"):
        fetch(ask, 0)


def test_demand_raises_what_it_is_given() -> None:
    demand([])
    with pytest.raises(CheckFailedError, match="pod a: seen Pending"):
        demand([BAD])


def test_probe_without_a_result_is_an_error() -> None:
    with pytest.raises(TypeError, match="must return a list"):
        _settle(lambda: None)  # type: ignore[arg-type,return-value]  # wrong on purpose
