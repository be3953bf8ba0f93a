"""Why a drill can neither write nor judge."""

from __future__ import annotations


class DrillError(Exception):
    """It cannot go on. The message says what is wrong, where, and what to do next."""


class JournalError(DrillError):
    """The journal is not what `write` leaves, so that it says nothing."""
