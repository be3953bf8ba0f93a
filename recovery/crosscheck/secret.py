"""Files that hold a user or a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> str:
    """Its text without the newline at the end. Raises RecoveryError naming the file, never what it holds."""
    try:
        text = path.read_text("utf-8").removesuffix("\n")
    except OSError as error:
        raise RecoveryError(f"{path} cannot be read ({error.strerror}); mount the file with the account") from error
    except UnicodeDecodeError:
        raise RecoveryError(f"{path} is not UTF-8; it must hold one line of text") from None
    if not text:
        raise RecoveryError(f"{path} is empty; it must hold one line of text")
    return text
