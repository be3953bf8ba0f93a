"""The stack file of `local` follows the project, keeps what the user set, and holds what only `make up` knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from cli import stackfile
from cli.stackfile import merge
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from pathlib import Path

DERIVED = {"p:cluster": {"uid": "u-1", "context": "c"}}


@pytest.mark.parametrize(
    ("committed", "base", "current", "expected"),
    [
        ({"k": 2}, {"k": 1}, {"k": 1}, {"k": 2}),
        ({"k": 1}, {"k": 1}, {"k": 9}, {"k": 9}),
        ({"k": 2}, {"k": 1}, {"k": 9}, {"k": 9}),
        ({"k": 1}, {"k": 1}, {}, {}),
        ({"k": 1}, {}, {}, {"k": 1}),
        ({}, {"k": 1}, {"k": 1}, {}),
        ({}, {"k": 1}, {"k": 9}, {"k": 9}),
        ({}, {}, {"k": 9}, {"k": 9}),
        ({"k": 1}, {}, {"k": 9}, {"k": 9}),
    ],
    ids=[
        "the project's change follows",
        "the user's change stays",
        "the user's change wins over the project's",
        "what the user removed stays away",
        "a new key of the project comes",
        "a key that the project removed goes",
        "a removed key that the user changed stays",
        "the user's own key stays",
        "the user's own key wins over a new one",
    ],
)
def test_three_sides_are_merged_key_by_key(
    committed: dict[str, int], base: dict[str, int], current: dict[str, int], expected: dict[str, int]
) -> None:
    assert merge(committed, base, current, {}) == expected


def test_nested_settings_are_merged_value_by_value() -> None:
    base = {"p:prometheus": {"retention": "2d", "resources": {"cpu": "1", "memory": "1Gi"}}}
    current = {"p:prometheus": {"retention": "2d", "resources": {"cpu": "4", "memory": "1Gi"}}}
    committed = {"p:prometheus": {"retention": "7d", "resources": {"cpu": "2", "memory": "2Gi"}}}
    assert merge(committed, base, current, {}) == {
        "p:prometheus": {"retention": "7d", "resources": {"cpu": "4", "memory": "2Gi"}}
    }


def test_lists_are_one_value() -> None:
    assert merge({"k": [1, 2]}, {"k": [1]}, {"k": [9]}, {}) == {"k": [9]}


def test_derived_wins_one_level_deep() -> None:
    committed = {"p:cluster": {"context": "theirs", "kind": {"a": 1}}}
    merged = merge(committed, {}, {}, {"p:cluster": {"context": "ours"}})
    assert merged == {"p:cluster": {"context": "ours", "kind": {"a": 1}}}


def test_derived_replaces_what_is_no_mapping() -> None:
    assert merge({"p:cluster": "x"}, {}, {}, DERIVED) == DERIVED


class Files:
    """The committed file and the state's."""

    def __init__(self, directory: Path) -> None:
        """Nothing written yet."""
        self.committed, self.target = directory / "project.yaml", directory / "state" / "Pulumi.local.yaml"
        self.target.parent.mkdir()

    def refresh(self, config: dict[str, Any], derived: dict[str, dict[str, Any]] = DERIVED) -> dict[str, Any]:
        """Commit `config`, refresh, and return the settings in force."""
        self.committed.write_text(yaml.safe_dump({"config": config}))
        stackfile.refresh(self.committed, self.target, derived)
        return stackfile.config(self.target)

    def edit(self, change: dict[str, Any]) -> None:
        """Change the state's file as the engine or the user does."""
        document = yaml.safe_load(self.target.read_text())
        self.target.write_text(yaml.safe_dump(document | change))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Both files."""
    return Files(tmp_path)


def test_first_refresh_joins_project_and_derived(files: Files) -> None:
    assert files.refresh({"p:a": 1, "p:cluster": {"name": "local"}}) == {
        "p:a": 1,
        "p:cluster": {"name": "local", "uid": "u-1", "context": "c"},
    }


def test_second_refresh_changes_nothing(files: Files) -> None:
    files.refresh({"p:a": 1, "p:cluster": {"name": "local"}})
    before = files.target.read_text()
    files.refresh({"p:a": 1, "p:cluster": {"name": "local"}})
    assert files.target.read_text() == before


def test_encryption_salt_stays(files: Files) -> None:
    files.refresh({"p:a": 1})
    files.edit({"encryptionsalt": "v1:abc"})
    files.refresh({"p:a": 2})
    assert yaml.safe_load(files.target.read_text())["encryptionsalt"] == "v1:abc"


def test_users_change_stays_over_refreshes(files: Files) -> None:
    files.refresh({"p:a": 1, "p:b": 1})
    files.edit({"config": {"p:a": 9, "p:b": 1}})
    files.refresh({"p:a": 2, "p:b": 2})
    assert files.refresh({"p:a": 3, "p:b": 3}) == {"p:a": 9, "p:b": 3} | DERIVED


def test_new_identity_of_the_cluster_follows(files: Files) -> None:
    files.refresh({"p:a": 1})
    assert files.refresh({"p:a": 1}, {"p:cluster": {"uid": "u-2"}})["p:cluster"]["uid"] == "u-2"


def test_projects_change_beside_derived_keys_follows(files: Files) -> None:
    files.refresh({"p:cluster": {"context": "of-a-user", "name": "old"}})
    assert files.refresh({"p:cluster": {"context": "of-a-user", "name": "new"}})["p:cluster"] == {
        "context": "c",
        "name": "new",
        "uid": "u-1",
    }


def test_files_are_readable_by_their_owner_alone(files: Files) -> None:
    files.refresh({"p:a": 1})
    assert {path.stat().st_mode & 0o777 for path in files.target.parent.iterdir()} == {0o600}


def test_file_with_an_empty_config_is_no_error(files: Files) -> None:
    files.refresh({"p:a": 1})
    files.target.write_text("config:\nencryptionsalt: v1:abc\n")
    assert files.refresh({"p:a": 1, "p:b": 2}) == {"p:b": 2} | DERIVED  # p:a was removed by the user


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("config: [\n", "is not YAML"),
        ("- a\n", "is no mapping"),
        ("config: text\n", "`config` is no mapping"),
    ],
)
def test_file_that_is_no_stack_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "Pulumi.prod.yaml"
    path.write_text(text)
    with pytest.raises(SandboxError, match=rf"Pulumi\.prod\.yaml.*{words}"):
        stackfile.config(path)


def test_missing_stack_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"there is no stack file .*Pulumi\.local\.yaml\n  next: run make up"):
        stackfile.config(tmp_path / "Pulumi.local.yaml")


@pytest.mark.parametrize("loss", ["deleted", "emptied"])
def test_lost_stack_file_is_made_anew(files: Files, loss: str) -> None:
    project = {"plumbline:profile": "throwaway"}
    before = files.refresh(project)
    if loss == "deleted":
        files.target.unlink()
    else:
        files.target.write_text("")
    assert files.refresh(project) == before
