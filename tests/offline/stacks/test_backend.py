"""A durable stack refuses a state backend that dies with the machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pulumi
import pytest

from components.errors import DeployError
from stacks.backend import backend_url, check_backend
from tests.offline.stacks.examples import settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", seen.append)
    return seen


def test_environment_decides_before_the_login(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").write_text(json.dumps({"current": "https://api.pulumi.com"}))
    environment = {"PULUMI_HOME": str(tmp_path), "PULUMI_BACKEND_URL": "s3://state"}
    assert backend_url(environment) == "s3://state"


def test_login_decides_without_the_environment(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").write_text(json.dumps({"current": "file://~"}))
    assert backend_url({"PULUMI_HOME": str(tmp_path)}) == "file://~"


@pytest.mark.parametrize("text", [None, "{", "[]", '{"current": ""}'])
def test_nobody_logged_in_is_no_backend(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "credentials.json").write_text(text)
    assert backend_url({"PULUMI_HOME": str(tmp_path)}) is None


@pytest.mark.parametrize(("stack", "url"), [("kind", "file:///state"), ("prod", "s3://state"), ("prod", "https://x")])
def test_accepted_backends(monkeypatch: pytest.MonkeyPatch, warnings: list[str], stack: str, url: str) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", url)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    check_backend(settings(stack))
    assert warnings == []


def test_durable_update_with_a_file_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "file:///state")
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    with pytest.raises(DeployError, match=r"stack prod is durable, but its state is in file:///state.*`pulumi login"):
        check_backend(settings("prod"))


def test_durable_preview_with_a_file_backend_only_warns(monkeypatch: pytest.MonkeyPatch, warnings: list[str]) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "file:///state")
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    check_backend(settings("prod"))
    assert len(warnings) == 1
    assert "accepted: a shared backend" in warnings[0]
