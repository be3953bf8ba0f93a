"""The copy that lies in a working directory, and what a killed run leaves of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from recovery.stores.configured import put

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_its_owners_alone_whatever_the_mask_says(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        put(tmp_path / "a.json", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "a.json").read_bytes() == b"new"
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o600


def test_what_ends_in_the_middle_leaves_the_old_file_and_the_next_run_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    put(path, b"old and long")
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.replace", _killed)
        with pytest.raises(KeyboardInterrupt):
            put(path, b"new")
    assert path.read_bytes() == b"old and long"
    put(path, b"newer")
    assert path.read_bytes() == b"newer"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def _killed(*_: object) -> None:
    raise KeyboardInterrupt
