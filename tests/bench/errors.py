"""What ends a bench: the message says what was measured or found, and what to do next."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class BenchError(Exception):
    """The bench cannot run, or measured nothing that means anything."""


def exit_code(problems: Iterable[str]) -> int:
    """1 with a line for each reason why the figures stand for nothing, 0 without one."""
    found = list(problems)
    for line in found:
        print(f"error: {line}", file=sys.stderr)
    return 1 if found else 0
