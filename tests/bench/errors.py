"""What ends a bench: the message says what was measured or found, and what to do next."""

from __future__ import annotations


class BenchError(Exception):
    """The bench cannot run, or measured nothing that means anything."""
