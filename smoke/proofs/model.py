"""What a proof is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.model import Problem

LABEL = "plumbline.dev/sentinel"
"""On every Kubernetes object that smoke creates."""


class Proof(Protocol):
    """A proof in stages. All methods may raise AccessError."""

    subject: str
    """What it writes, for people who must remove it by hand."""

    def begin(self) -> None:
        """Remove what earlier runs have left, then write. Does nothing the second time."""

    def advance(self) -> list[Problem]:
        """One attempt at the stage that is due: why it is not passed yet, or nothing once all are."""

    def end(self) -> None:
        """Remove what was written. Does nothing the second time, or before the begin."""


def advanced(stages: list[Callable[[], list[Problem]]]) -> list[Problem]:
    """Try the stages in order and drop those that pass: why the first that does not is not passed yet, or nothing."""
    while stages:
        problems = stages[0]()
        if problems:
            return problems
        stages.pop(0)
    return []
