"""A key that cannot be read is told by its file and never by its content; what surrounds it counts where it must."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recovery import secret_files
from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from pathlib import Path

ACCEPTED = "accepted is a file that this program may read, with the key of the lock in it and nothing else"


@pytest.mark.parametrize(
    ("content", "plain", "blanks"),
    [
        (b"key", "key", "key"),
        (b"key\n", "key", "key"),
        (b"key\n\n", None, "key"),
        (b" key \r\n", " key \r", "key"),
        ("schlüssel".encode(), "schlüssel", "schlüssel"),
        (b"k" * 4096, "k" * 4096, "k" * 4096),
    ],
)
def test_what_belongs_to_a_key(tmp_path: Path, content: bytes, plain: str | None, blanks: str) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    assert secret_files.read(path, "it", blanks=True) == blanks
    assert secret_files.read_bytes(path, "it") == content
    if plain is not None:
        assert secret_files.read(path, "it") == plain
    else:
        with pytest.raises(RecoveryError, match="more than one line"):
            secret_files.read(path, "it")


def test_a_key_of_several_lines_is_taken_where_it_may_be_one(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("one\ntwo\n")
    assert secret_files.read(path, "it", lines=True) == "one\ntwo"


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (None, r"cannot be read \(No such file or directory\)"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"CANARY\xff", "is not UTF-8"),
        (b"CANARY\ntwo", "holds more than one line of text"),
        (b"CANARY\0", "holds more than one line of text"),
        (b"CANARY" * 683, "has more than 4096 bytes"),
    ],
)
def test_what_is_no_key_is_told_and_not_shown(tmp_path: Path, content: bytes | None, wrong: str) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecoveryError, match=f"{path} {wrong}; {ACCEPTED}.*; write it there or mount") as found:
        secret_files.read(path, "the key of the lock")
    assert "CANARY" not in f"{found.value!r} {found.value.__cause__!r}"


def test_a_directory_in_its_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecoveryError, match=r"cannot be read \(Is a directory\)"):
        secret_files.read_bytes(tmp_path, "it")
