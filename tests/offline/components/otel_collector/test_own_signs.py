"""Signs of single patterns are in whatever those match, and only a few are in a text with one secret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from components.otel_collector import own_signs, patterns, signs
from components.otel_collector.record_text import MASK
from tests.offline.components.otel_collector import hidden
from tests.offline.components.otel_collector.matches import compiled, plain
from tests.offline.components.otel_collector.test_signs import ORDINARY, around, begins_with_letters, found, made

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY: Final = {**patterns.SPARED, **patterns.VALUES}
NARROWED: Final = [kind for kind, one in EVERY.items() if one.narrow]
SHOWN: Final = (*hidden.TEXTS, *hidden.FORMS, *hidden.ORDINARY_TEXTS)


def _signs(kind: str) -> signs.Family:
    return (*own_signs.OWN[kind], *own_signs.WIDE.get(kind, ()))


def _flat(family: signs.Family) -> Iterator[str]:
    for sign in family:
        yield from (sign,) if isinstance(sign, str) else (sign.first, *_flat(sign.then))


def test_every_pattern_has_signs_of_its_own_or_begins_with_letters_itself() -> None:
    assert set(EVERY) - set(own_signs.OWN) == {"private keys", "options"}
    assert set(own_signs.OWN) <= set(EVERY)
    assert set(own_signs.WIDE) == set(NARROWED)


@pytest.mark.parametrize("kind", own_signs.OWN)
def test_a_sign_of_its_own_is_in_whatever_a_pattern_matches(kind: str) -> None:
    for text in made(EVERY[kind].pattern, kind):
        for shown in (plain(ORDINARY, text), plain(around({"note": text})), plain(around({"note": ["x", text]}))):
            assert found(shown, _signs(kind)), text


@pytest.mark.parametrize("kind", own_signs.OWN)
def test_a_sign_of_its_own_that_is_taken_out_is_missed(kind: str) -> None:
    texts = [
        text for pattern in filter(None, (EVERY[kind].pattern, EVERY[kind].narrow)) for text in made(pattern, kind)
    ]
    shown = [plain({"note": note}) for text in texts for note in (text, ["x", text])]
    for sign in _signs(kind):
        others = tuple(one for one in _signs(kind) if one != sign)
        assert not all(found(text, others) for text in shown), sign


@pytest.mark.parametrize("kind", NARROWED)
def test_a_narrow_pattern_finds_as_much_where_no_wide_sign_is(kind: str) -> None:
    one, count = EVERY[kind], 0
    narrow, whole = compiled(one.narrow), compiled(one.pattern)
    for text in (*made(one.pattern, kind), *made(one.narrow, kind), *SHOWN):
        if not found(plain({"note": text}), own_signs.WIDE[kind]):
            count += narrow.search(text) is not None
            assert [hit.regs for hit in narrow.finditer(text)] == [hit.regs for hit in whole.finditer(text)], text
        elif narrow.search(text) is None and whole.search(text):
            count += 1
    assert count > 100


@pytest.mark.parametrize("kind", NARROWED)
def test_a_narrow_pattern_alone_finds_less(kind: str) -> None:
    """So that what says where it is enough is needed."""
    narrow = compiled(EVERY[kind].narrow)
    assert any(narrow.search(text) is None for text in made(EVERY[kind].pattern, kind))


@pytest.mark.parametrize("kind", own_signs.OWN)
def test_signs_begin_with_letters_and_match_no_mask(kind: str) -> None:
    """What is hidden first puts masks into the text that is searched next, while signs are those of the text before."""
    for sign in _signs(kind):
        assert begins_with_letters(sign.first if isinstance(sign, signs.Both) else sign), sign
    for sign in _flat(_signs(kind)):
        for part in re.findall(r"\[(?:\\.|[^\]\\])+\]|\\.|.", sign):
            assert part not in (r"\W", r"\S", r"\D", r"\*", "."), sign
            assert not (part.startswith("[") and any(re.match(part, mark) for mark in (MASK[0], "\x04"))), sign


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("login with password=hunter2abc of the user", {"assignments"}),
        ("password: hunter2abc", {"assignments", "assignments in sentences", "assignments, a line each"}),
        ("Cookie: a=b", {"assignments", "assignments in sentences", "assignments, a line each", "cookies"}),
        ("use_auth_token=False", {"no credential", "assignments", "token"}),
        ("prompt: 'Tell me'", {"contents, quoted", "contents, in words"}),
        ("mail to jane@example.com was sent", {"e-mail", "addresses with passwords"}),
        ("git@github.com:org/repo.git", {"e-mail", "repositories", "addresses with passwords"}),
        ("call +33 6 12 34 56 78", {"phones"}),
        ("AKIAIOSFODNN7EXAMPLE", {"AWS"}),
        ("TP=8 PP=4 DP=2 EP=1", set()),
    ],
)
def test_a_text_with_one_secret_is_searched_for_little(text: str, searched: set[str]) -> None:
    """There is an address without a password among what is ordinary."""
    shown = plain(ORDINARY, text)
    wanted = {kind for kind in own_signs.OWN if found(shown, EVERY[kind].signs) and found(shown, _signs(kind))}
    assert wanted == searched


def test_names_hold_nothing_that_only_credentials_and_contents_have_signs_of() -> None:
    """Where no other family has a sign, names are not searched for values."""
    assert not {patterns.VALUES[kind].signs for kind in patterns.IN_NAMES} & {signs.SECRETS, signs.CONTENTS}
