"""A recovery kit is a directory of files with fixed names; what is opened with one: tests/offline/recovery."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli import recovery_secrets
from cli.recovery_secrets import target, words
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from pathlib import Path

WHERE = {"endpoint": "https://s3.backup.example.org", "bucket": "points", "region": "eu-1"}


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """With what it must have."""
    for name in ("accessKey", "secretKey", "recovery-key"):
        (tmp_path / name).write_text("canary", encoding="utf-8")
    (tmp_path / "target.json").write_text(json.dumps(WHERE), encoding="utf-8")
    return tmp_path


def test_program_is_told_of_files_and_of_no_secret(kit: Path) -> None:
    reader = {"access_key_file": f"{kit}/accessKey", "secret_key_file": f"{kit}/secretKey"}
    assert target(kit) == {**WHERE, "reader": reader}
    given = words(kit / "config.json", kit, kit / "out", "20261130T072000Z-1f2e3d4c")
    assert given == [
        *("--config", f"{kit}/config.json", "open-secrets", "--point", "20261130T072000Z-1f2e3d4c"),
        *("--private", f"{kit}/recovery-key", "--into", f"{kit}/out"),
    ]
    assert "--latest-verified" in words(kit / "config.json", kit, kit / "out", "latest-verified")
    assert "canary" not in json.dumps([target(kit), given])


def test_what_else_was_kept_is_used(kit: Path) -> None:
    for name in ("ca.crt", "signing-key"):
        (kit / name).touch()
    (kit / "signing-key.sha256").write_text("0a" * 32 + "  -\n", encoding="utf-8")
    found = target(kit)
    assert (found["ca_file"], found["signing_key_file"]) == (f"{kit}/ca.crt", f"{kit}/signing-key")
    assert found["signing_key_sha256"] == "0a" * 32


def test_fingerprint_that_is_empty_is_not_left_out(kit: Path) -> None:
    (kit / "signing-key.sha256").write_text("\n", encoding="utf-8")
    assert target(kit)["signing_key_sha256"] == ""


@pytest.mark.parametrize("content", ["", "[]", "endpoint: x"])
def test_target_that_is_no_object_is_refused(kit: Path, content: str) -> None:
    (kit / "target.json").write_text(content, encoding="utf-8")
    with pytest.raises(SandboxError, match="is no JSON object"):
        target(kit)


@pytest.mark.parametrize("name", recovery_secrets.NEEDED)
def test_kit_that_lacks_something_is_refused(kit: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (kit / name).unlink()
    assert recovery_secrets.recovery_secrets(kit, kit / "out", recovery_secrets.LATEST) == 3
    assert capsys.readouterr().err.startswith(f"error: recovery kit {kit} has no {name}\n  next: ")
    assert not (kit / "out").exists()
