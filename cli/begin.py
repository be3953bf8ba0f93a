"""How the program hears of its end, from its first moment on. Imports nothing that takes time."""

from __future__ import annotations

import signal
import sys
from typing import Final

INTERRUPTED: Final = 130


def listen() -> None:
    """make's SIGTERM ends us as Ctrl-C does: locks released, half-built directories removed.

    Not by raising SIGINT: a shell starts background commands with SIGINT ignored.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def interrupted() -> int:
    """Say how to go on; the exit code."""
    print("interrupted; run the same command again to go on where it stopped", file=sys.stderr)
    return INTERRUPTED
