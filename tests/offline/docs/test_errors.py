"""docs/troubleshoot.md quotes messages that exist, and leaves out no error and no check."""

from __future__ import annotations

import pytest

from smoke.registry import CHECK_IDS
from tests.offline.docs import names
from tests.offline.docs.markdown import Found, pages

PAGE = next(page for page in pages() if page.path == "docs/troubleshoot.md")


def quoted() -> list[Found]:
    """First cells of the tables of messages, without their backticks."""
    cells = [row[0] for row in PAGE.tables("Message")]
    return [Found(page=cell.page, line=cell.line, text=cell.text.strip("`")) for cell in cells]


def test_every_message_is_one_that_the_code_has() -> None:
    wrong = [
        f"{m.where}: no code says {m.text!r}" for m in quoted() if not any(names.says(m.text, t) for t in names.texts())
    ]
    assert wrong == []


def test_every_error_that_a_user_can_act_on_is_there() -> None:
    missing = [
        f"{at}: {text}" for at, text in names.raised().items() if not any(names.says(m.text, text) for m in quoted())
    ]
    assert missing == []


def test_there_are_errors_to_look_for() -> None:
    assert len(names.raised()) > 60


def test_every_check_is_there() -> None:
    assert sorted(row[0].text.strip("`") for row in PAGE.tables("Check")) == sorted(CHECK_IDS)


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("port … is in use", "port \0 is in use on \0; x"),
        ("… is in use", "port \0 is in use"),
        ("port … is in use on …; …", "port \0 is in use on \0; x"),
        ("no stack …", "error: no stack \0"),
    ],
)
def test_a_quote_matches_from_the_start_with_gaps(quote: str, said: str) -> None:
    assert names.says(quote, said)


@pytest.mark.parametrize("quote", ["is in use", "port … is free", "port … on … in use"])
def test_a_quote_that_nobody_says_is_seen(quote: str) -> None:
    assert not names.says(quote, "port \0 is in use on \0; x")
