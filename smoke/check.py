"""The decorator that ties a test of the suite to its claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from smoke.stack import Stack

Test = TypeVar("Test", bound=Callable[..., str])

ATTRIBUTE = "plumbline_check_id"
BEGIN = "plumbline_begin"


def check(check_id: str, *, begin: Callable[[Stack], None] | None = None) -> Callable[[Test], Test]:
    """Mark a test as the proof of the claim `check_id` of the registry.

    The test returns what it saw, in words; it raises CheckFailedError, usually through `settle`. An id that is not in
    the registry is found when the suite is collected, and makes the run red. begin: starts what takes long, as soon as
    the cluster is known to be the right one and only if the check is going to run; doing it twice must do nothing.
    """

    def mark(test: Test) -> Test:
        setattr(test, ATTRIBUTE, check_id)
        setattr(test, BEGIN, begin)
        return test

    return mark


def check_id_of(test: object) -> str | None:  # whatever pytest has collected
    """The id that `check` gave, or None."""
    found = getattr(test, ATTRIBUTE, None)
    return found if isinstance(found, str) else None


def begin_of(test: object) -> Callable[[Stack], None] | None:  # whatever pytest has collected
    """What `check` was given to begin early, or None."""
    found: Callable[[Stack], None] | None = getattr(test, BEGIN, None)
    return found
