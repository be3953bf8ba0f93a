"""Words that nobody else uses. They have no digits, which what hides numbers of cards might take for one."""

from __future__ import annotations

import secrets
from typing import Final

LETTERS: Final = "bcdfghjklmnpqrstvwxz"
HEXADECIMAL: Final = "abcdef"
LENGTH: Final = 10


def word() -> str:
    """A word of this run alone."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def identifier(digits: int) -> str:
    """Hexadecimal digits, letters alone. A trace id has 32 of them, a span id 16."""
    return "".join(secrets.choice(HEXADECIMAL) for _ in range(digits))


def uid() -> str:
    """As the uid of an object of Kubernetes looks."""
    return "-".join(identifier(digits) for digits in (8, 4, 4, 4, 12))
