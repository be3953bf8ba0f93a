"""The root secret: where it may be, how a wrong one is refused, and that nobody sees it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from components.errors import DeployError
from components.secrets import derive, fingerprint
from stacks.root_secret import check_root_secret, check_same_root, root_secret
from stacks.settings import parse
from tests.offline.components.pulumi_mocks import record
from tests.offline.stacks.examples import as_pulumi_has_it, completed, settings

if TYPE_CHECKING:
    from pathlib import Path

    from stacks.settings import Settings

CANARY = "canary-" + "x" * 25
"""32 characters, the fewest that are accepted."""


def with_secrets(**keys: Any) -> Settings:  # noqa: ANN401  # any key of the section
    return settings("kind", None, secrets=keys)


def refusal(found: Settings) -> str:
    with pytest.raises(DeployError) as caught:
        check_root_secret(found)
    assert caught.value.__cause__ is None or "canary" not in str(caught.value.__cause__)
    return str(caught.value)


def seen_by_pulumi(found: Settings) -> tuple[str, bool]:
    """The value, and whether it is marked as a secret."""
    values: list[str] = []
    marks: list[bool] = []

    def program() -> None:
        root = root_secret(found)
        root.apply(values.append)
        mark: pulumi.Output[bool] = pulumi.Output.from_input(root.is_secret())
        mark.apply(marks.append)

    record(program)
    return values[0], marks[0]


def test_root_of_the_settings_or_of_a_file_is_the_same_secret(tmp_path: Path) -> None:
    """A file ends with a line feed, and so may what is piped into `pulumi config set`."""
    path = tmp_path / "root-secret"
    path.write_text(f"{CANARY}\n")
    for found in (with_secrets(root=CANARY), with_secrets(root=f"{CANARY}\n"), with_secrets(root_file=str(path))):
        check_root_secret(found)
        assert seen_by_pulumi(found) == (CANARY, True)


def claim_of(root: str | None, phase: str = "Bound") -> dict[str, Any]:
    annotations = {} if root is None else {"plumbline/root": fingerprint(root)}
    return {"metadata": {"name": "c", "annotations": annotations}, "status": {"phase": phase}}


def test_root_that_the_data_does_not_know_is_refused_without_being_shown() -> None:
    found = with_secrets(root=CANARY)
    other = "canary-" + "y" * 25
    with pytest.raises(DeployError, match="is not the one that the data in here knows") as caught:
        check_same_root(found, "here", {"mine": claim_of(CANARY), "b": claim_of(other), "a": claim_of(other)})
    assert "(claims a b)" in str(caught.value)
    assert "kubectl -n here annotate pvc a b plumbline/root-" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_root_is_not_judged_where_nothing_says_what_the_data_knows() -> None:
    other = "y" * 32
    live = {"mine": claim_of(CANARY), "new": claim_of(None), "empty": claim_of(other, "Pending")}
    check_same_root(with_secrets(root=CANARY), "here", {**live, "gone": claim_of(other, "Lost")})
    check_same_root(settings("kind"), "here", {})


def test_fingerprint_tells_roots_apart_and_shows_neither_root_nor_password() -> None:
    one, other = fingerprint(CANARY), fingerprint(CANARY[:-1] + "y")
    assert re.fullmatch("[0-9a-f]{16}", one)
    assert one != other
    assert one not in derive(CANARY, "fingerprint", 1)


def test_stack_without_one_is_told_how_to_make_it() -> None:
    message = refusal(settings("kind"))
    assert "stack kind derives passwords and has no root secret; nothing was changed" in message
    assert "pulumi config set --secret --path 'plumbline:secrets.root' --stack kind" in message
    assert "keep a copy" in message


@pytest.mark.parametrize("root", ["", "   ", CANARY[:-1]])
def test_root_that_is_too_short_is_refused_without_being_shown(root: str, tmp_path: Path) -> None:
    path = tmp_path / "root-secret"
    path.write_text(root)
    places = {"plumbline:secrets.root": with_secrets(root=root)}
    places[f"plumbline:secrets.root_file {path}"] = with_secrets(root_file=str(path))
    for place, found in places.items():
        message = refusal(found)
        assert f"{place} has {len(root.strip())} bytes; accepted: 32 or more; nothing was changed" in message
        assert "put it back from a copy" in message
        assert "canary" not in message


def test_length_is_counted_in_bytes() -> None:
    check_root_secret(with_secrets(root="ü" * 16))
    assert "has 30 bytes" in refusal(with_secrets(root="ü" * 15))


def test_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "gone", "No such file or directory"), (tmp_path, "Is a directory")):
        message = refusal(with_secrets(root_file=str(path)))
        assert f"plumbline:secrets.root_file {path} cannot be read ({why}); nothing was changed" in message
        assert "a new one would lock the stack out of its own databases" in message


def test_file_that_is_no_text_is_refused_without_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "root-secret"
    path.write_bytes(b"canary\xff" + b"x" * 40)
    message = refusal(with_secrets(root_file=str(path)))
    assert f"plumbline:secrets.root_file {path} is no text in UTF-8; nothing was changed" in message
    assert "canary" not in message


def test_two_of_them_are_refused() -> None:
    config = completed("kind") | {"plumbline:secrets": {"root": CANARY, "root_file": "/r"}}
    with pytest.raises(
        DeployError, match=re.escape("both plumbline:secrets.root and plumbline:secrets.root_file")
    ) as e:
        parse("kind", as_pulumi_has_it(config))
    assert "canary" not in str(e.value)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("canary-of-a-secret-in-the-wrong-place", "plumbline:secrets in stack kind"),
        ({"root": ["canary"]}, "plumbline:secrets.root in stack kind"),
        ({"roots": "canary"}, "unknown setting plumbline:secrets.roots in stack kind; did you mean `root`?"),
    ],
)
def test_secret_in_the_wrong_place_is_refused_without_being_shown(section: object, words: str) -> None:
    with pytest.raises(DeployError) as caught:
        parse("kind", as_pulumi_has_it(completed("kind") | {"plumbline:secrets": section}))
    assert words in str(caught.value)
    assert "canary" not in str(caught.value)


def test_settings_do_not_show_it_when_they_are_printed() -> None:
    found = with_secrets(root=CANARY)
    assert "canary" not in f"{found!r} {found} {found.model_dump()} {found.model_dump_json()}"
