"""What SwanLab's answers become: exactly what is compared."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

import pytest

from smoke.access.errors import RefusedError, UnreachableError
from smoke.access.swanlab import MediaItem, SwanLab, Target
from smoke.sdk.reading import SwanLabReader, read_back
from tests.offline.smoke.sdk.made import RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = Target("alice/p", "project-id", "run-id")


class Answers:
    """SwanLab's client, with what one run holds."""

    def __init__(self) -> None:
        self.types = {"loss": "FLOAT", "image": "IMAGE", "note": "TEXT", "__swanlab__.cpu.pct": "FLOAT"}
        self.points: dict[str, list[tuple[int, str]]] = {"loss": [(1, "0.25"), (0, "0.5")]}
        self.items = {"image": [MediaItem(1, "media/image/b.png", ""), MediaItem(0, "media/image/a.png", "")]}
        self.profile: dict[str, Any] = {"config": {"lr": {"value": 0.1, "desc": "", "sort": 0}, "plain": {"a": 1}}}
        self.deleted: list[Target] = []
        self.listed: list[dict[str, Any]] = []
        self.status = 404
        self.exists = True

    def user(self) -> str:
        return "alice"

    def target(self, project: str, run_id: str) -> Target:
        return Target(project, "project-id", run_id)

    def run(self, target: Target) -> dict[str, Any]:
        assert target.project == "alice/p"
        return {"cuid": "run-id", "state": "FINISHED", "profile": self.profile}

    def columns(self, target: Target) -> dict[str, str]:
        assert target == TARGET
        return self.types

    def series(self, target: Target, key: str) -> list[tuple[int, str]]:
        assert target == TARGET
        if key not in self.points:
            raise RefusedError("SwanLab", "HTTP", self.status)
        return self.points[key]

    def media(self, target: Target, key: str) -> Sequence[MediaItem]:
        assert target == TARGET
        return self.items.get(key, [])

    def media_bytes(self, target: Target, path: str) -> bytes:
        assert target == TARGET
        return f"bytes of {path}".encode()

    def log_lines(self, target: Target) -> list[str]:
        assert target == TARGET
        return ["line 0"]

    def project(self, _: str) -> dict[str, Any] | None:
        return {"cuid": "project-id"} if self.exists else None

    def runs(self, _: str) -> list[dict[str, Any]]:
        return self.listed

    def delete_run(self, target: Target) -> None:
        self.deleted.append(target)


@pytest.fixture
def answers() -> Answers:
    """A run with points, files and settings."""
    return Answers()


def reader(answers: Answers) -> SwanLabReader:
    """The reader over them."""
    return SwanLabReader(cast("SwanLab", answers))


def test_a_run_is_read_by_the_ids_behind_its_path(answers: Answers) -> None:
    read = read_back(reader(answers), RUN)
    assert read.keys == {"loss", "image", "note"}
    assert read.series == {"loss": ((0, "0.5"), (1, "0.25"))}
    assert read.media == {
        "image": tuple(sha256(f"bytes of media/image/{name}.png".encode()).hexdigest() for name in "ab")
    }
    assert (read.state, read.config, read.lines) == ("FINISHED", {"lr": 0.1, "plain": {"a": 1}}, ("line 0",))


def test_a_text_that_is_no_file_is_its_own_content(answers: Answers) -> None:
    answers.items["note"] = [MediaItem(0, "grüße", ""), MediaItem(1, "media/text/001-ab.txt", "")]
    found = reader(answers)
    found.keys(RUN)
    assert found.media(RUN, "note") == ["grüße".encode(), b"bytes of media/text/001-ab.txt"]


def test_a_column_without_points_is_empty_and_any_other_refusal_is_an_error(answers: Answers) -> None:
    assert reader(answers).series(RUN, "note") == []
    answers.status = 403
    with pytest.raises(RefusedError):
        reader(answers).series(RUN, "note")


def test_a_run_without_a_profile_has_no_settings(answers: Answers) -> None:
    answers.profile = {}
    assert reader(answers).config(RUN) == {}


def test_only_doomed_runs_are_removed(answers: Answers) -> None:
    answers.listed = [{"name": name, "cuid": f"id-{name}", "createdAt": "2026-01-01T00:00:00Z"} for name in ("a", "b")]
    asked: list[tuple[str, str]] = []

    def doomed(name: str, created: str) -> bool:
        asked.append((name, created))
        return name == "b"

    assert reader(answers).sweep("p", doomed) == 1
    assert answers.deleted == [Target("alice/p", "project-id", "id-b")]
    assert asked[0] == ("a", "2026-01-01T00:00:00Z")


def test_a_project_that_does_not_exist_holds_nothing(answers: Answers) -> None:
    answers.exists = False
    assert reader(answers).sweep("p", lambda *_: True) == 0


def test_a_read_that_fails_is_never_empty_data(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> list[str]:
        raise UnreachableError("SwanLab", "HTTP 500")

    monkeypatch.setattr(answers, "log_lines", broken)
    with pytest.raises(UnreachableError):
        read_back(reader(answers), RUN)
