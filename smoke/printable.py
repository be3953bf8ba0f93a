"""Text that every document can hold."""

from __future__ import annotations

import re

# Characters that XML 1.0 cannot hold, not even escaped; logs and labels contain them.
FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """The text, with a mark in place of each character that XML cannot hold."""
    return FORBIDDEN.sub("�", text)
