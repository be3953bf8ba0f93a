"""What ends a process before it serves."""

from __future__ import annotations


class StartError(RuntimeError):
    """The process must not start. Says why and what to do next."""
