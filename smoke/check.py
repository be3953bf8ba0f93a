"""The decorator that ties a test of the suite to its claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., str])

ATTRIBUTE = "plumbline_check_id"


def check(check_id: str) -> Callable[[Test], Test]:
    """Mark a test as the proof of the claim `check_id` of the registry.

    The test returns what it saw, in words; it raises CheckFailedError, usually through `settle`. An id that is not in
    the registry is found when the suite is collected, and makes the run red.
    """

    def mark(test: Test) -> Test:
        setattr(test, ATTRIBUTE, check_id)
        return test

    return mark


def check_id_of(test: object) -> str | None:  # whatever pytest has collected
    """The id that `check` gave, or None."""
    found = getattr(test, ATTRIBUTE, None)
    return found if isinstance(found, str) else None
