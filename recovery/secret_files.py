"""Files that hold one key, user, password or address each: read when it is needed, and never quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST: Final = 4096
"""Bytes: more is no key, and a file without an end fills no memory."""


def read_bytes(path: Path, what: str) -> bytes:
    """Everything that a file holds. what: it should hold, for the message.

    Raises RecoveryError if it cannot be read or is larger than LARGEST.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise refused(path, f"cannot be read ({error.strerror or type(error).__name__})", what) from None
    if len(content) > LARGEST:
        raise refused(path, f"has more than {LARGEST} bytes", what)
    return content


def read(path: Path, what: str, *, blanks: bool = False, lines: bool = False) -> str:
    """The text of a file without the newline at its end. Raises RecoveryError naming the file, never what it holds.

    what: it should hold. blanks: may surround it and do not count. lines: whether it may be more than one.
    """
    content = read_bytes(path, what)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        # `from None`: the error shows what it could not decode.
        raise refused(path, "is not UTF-8", what) from None
    text = text.strip() if blanks else text.removesuffix("\n")
    if not text:
        raise refused(path, "is empty", what)
    if "\0" in text or ("\n" in text and not lines):
        raise refused(path, "holds more than one line of text", what)
    return text


def refused(path: Path, wrong: str, what: str) -> RecoveryError:
    """An error for what a file is not. wrong: with it, without any of its content."""
    return RecoveryError(
        f"{path} {wrong}; accepted is a file that this program may read, with {what} in it and nothing else (UTF-8, "
        f"{LARGEST} bytes at most); write it there or mount the secret, then run again"
    )
