"""What makes the figures worthless. Times are never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.recovery.figures import Measured, Report


def problems(report: Report) -> list[str]:
    """One line for each reason; empty when the figures stand for something."""
    return [line for store in report.stores for line in _store(store)]


def _store(store: Measured) -> Iterator[str]:
    if store.count != store.wanted:
        yield f"{store.name}: {store.count} {store.unit} are in it, {store.wanted} were to be"
    for step in store.steps:
        for line in step.problems:
            yield f"{store.name}: {step.name}: {line}"
