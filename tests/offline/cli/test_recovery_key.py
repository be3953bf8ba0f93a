"""The embedded stack has a recovery key of its own, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.recovery_key import PRIVATE, PUBLIC, public_key
from recovery.seal import public_of

if TYPE_CHECKING:
    from pathlib import Path


def test_key_is_made_once_and_belongs_to_its_private_half(tmp_path: Path) -> None:
    first = public_key(tmp_path)
    assert first == public_of((tmp_path / PRIVATE).read_text(encoding="utf-8").strip())
    assert oct((tmp_path / PRIVATE).stat().st_mode & 0o777) == "0o600"
    assert public_key(tmp_path) == first


def test_private_half_of_a_killed_run_gives_way(tmp_path: Path) -> None:
    first = public_key(tmp_path)
    (tmp_path / PUBLIC).unlink()
    second = public_key(tmp_path)
    assert second != first
    assert second == public_of((tmp_path / PRIVATE).read_text(encoding="utf-8").strip())
