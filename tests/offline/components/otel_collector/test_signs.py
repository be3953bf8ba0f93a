"""Signs are in whatever patterns match: in a body, an attribute, a list, a name; and not in ordinary records."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from components.otel_collector import keys, patterns, signs
from tests.offline.components.otel_collector.matches import Maker, compiled, plain, typed

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES: Final = 150
"""Of each pattern."""
ORDINARY: Final[dict[str, Any]] = {
    "service": "inference-gateway",
    "request_id": "chatcmpl-5bd2afc9c0430b68caf32de1ff4fe2d8",
    "first_token_seconds": 0.041203,
    "generated_tokens": 64,
    "input.messages": 2,
    "prompt_tokens": 812,
    "completion_tokens": 144,
    "gen_ai.usage.input_tokens": 412,
    "gen_ai.request.max_tokens": 64,
    "gen_ai.response.finish_reasons": ["length", "stop"],
    "gen_ai.tool.name": "search_documents",
    "auth.scheme": "none",
    "cache.key_count": 3,
    "url.full": "http://inference-next:8000/v1/decode?stream=true",
    "k8s.pod.uid": "0b6f8c1e-4d2a-4c57-9e0b-3f5a1c7d9e21",
    "deployment.environment": "testing",
    "time_to_first_token": 0.0412,
    "duration_ms": 1250.75,
    "started_at": "2026-11-30T11:10:05.123456+08:00",
    "queue.depth": 2,
}


def found(text: str, family: signs.Family) -> bool:
    """Is one of the family in a text?"""

    def there(sign: signs.Sign) -> bool:
        if isinstance(sign, signs.Both):
            return there(sign.first) and any(map(there, sign.then))
        return re.search(sign, text, re.ASCII) is not None

    return any(map(there, family))


def made(pattern: str, name: str) -> Iterator[str]:
    """Texts that the pattern matches, some of them with something before and after."""
    chance = random.Random(name)  # noqa: S311  # examples that are the same each time
    maker, searched = Maker(pattern, chance), compiled(pattern)
    for _ in range(EXAMPLES):
        core = maker.text()
        for text in (core, f"for {core}", f"{core} of it", f"a.{core}.0", f"x\n{core}\ny", f'["{core}"]'):
            if searched.search(text):
                yield text


def begins_with_letters(sign: str) -> bool:
    """As they stand."""
    return re.match(r"\\[?+).\[]|[a-z0-9 ,@:/=&%\-]", sign) is not None


def around(attributes: dict[str, Any]) -> dict[str, Any]:
    """Among what is ordinary."""
    before = dict(list(ORDINARY.items())[:9])
    return before | attributes | {name: value for name, value in ORDINARY.items() if name not in before}


@pytest.mark.parametrize("kind", patterns.VALUES)
def test_a_sign_is_in_whatever_a_pattern_matches(kind: str) -> None:
    hidden, count = patterns.VALUES[kind], 0
    for text in made(hidden.pattern, kind):
        count += 1
        for shown in (plain(ORDINARY, text), plain(around({"note": text})), plain(around({"note": ["x", text]}))):
            assert found(shown, hidden.signs), text
        if kind in patterns.IN_NAMES:
            assert found(plain(around({text: 1})), hidden.signs), text
    assert count >= EXAMPLES


@pytest.mark.parametrize("kind", keys.CREDENTIALS)
@pytest.mark.parametrize("value", ["x", 1, ["x"], True])
def test_a_sign_is_in_every_name_of_a_credential(kind: str, value: Any) -> None:  # noqa: ANN401  # any JSON
    count = 0
    for name in made(keys.CREDENTIALS[kind], kind):
        count += 1
        assert found(plain(around({name: value})), signs.SECRETS), name
    assert count >= EXAMPLES


@pytest.mark.parametrize("kind", keys.CONTENTS)
@pytest.mark.parametrize("value", ["x", "17", ["x"]])
def test_a_sign_is_in_every_name_of_contents_with_text(kind: str, value: Any) -> None:  # noqa: ANN401  # any JSON
    count = 0
    for name in made(keys.CONTENTS[kind], kind):
        count += 1
        attributes = around({name: value})
        assert found(plain(attributes), signs.CONTENTS), name
        assert found(typed(attributes), signs.contents(signs.TYPED)), name
    assert count >= EXAMPLES


@pytest.mark.parametrize("kind", [kind for kind, one in patterns.VALUES.items() if one.signs == signs.CONTENTS])
def test_a_sign_of_contents_is_in_text_also_where_it_is_looked_at_closer(kind: str) -> None:
    for text in made(patterns.VALUES[kind].pattern, kind):
        for shown in (typed(ORDINARY, text), typed(around({"note": text})), typed(around({"note": ["x", text]}))):
            assert found(shown, signs.contents(signs.TYPED)), text


def test_a_list_of_numbers_has_a_sign() -> None:
    for numbers in ([4111111111111111], [1, 5500005555555559], ["30569309025904"], ["x", "371449635398431"]):
        assert found(plain({"numbers": numbers}), signs.NUMBERS)


def _all_made(family: signs.Family) -> Iterator[str]:
    for kind, hidden in patterns.VALUES.items():
        if hidden.signs == family:
            yield from (plain({"note": text}) for text in made(hidden.pattern, kind))
    named = {signs.SECRETS: keys.CREDENTIALS, signs.CONTENTS: keys.CONTENTS}.get(family, {})
    for kind, pattern in named.items():
        yield from (plain({name: "x"}) for name in made(pattern, kind))
    yield from (plain({"numbers": numbers}) for numbers in ([4111111111111111], [1, 371449635398431]))


@pytest.mark.parametrize("family", signs.FAMILIES)
def test_a_sign_that_is_taken_out_is_missed(family: str) -> None:
    made, every = [*_all_made(signs.FAMILIES[family])], signs.FAMILIES[family]
    for sign in every:
        others = tuple(one for one in every if one != sign)
        assert not all(found(text, others) for text in made), sign


@pytest.mark.parametrize("name", ["DB=1", "a=b"])
def test_a_name_with_an_assignment_has_a_sign(name: str) -> None:
    assert found(plain(around({name: "x"})), signs.ENVIRONMENT)


@pytest.mark.parametrize("kind", [kind for kind in patterns.VALUES if kind not in patterns.IN_NAMES])
def test_a_name_that_assigns_what_is_hidden_goes(kind: str) -> None:
    assigned = [text for text in made(patterns.VALUES[kind].pattern, kind) if "=" in text]
    assert [text for text in assigned if not re.search(keys.ASSIGNED, text)] == []
    assert [
        text for text in made(patterns.VALUES[kind].pattern, kind) if not re.search(keys.ASSIGNED, f"a=b {text}")
    ] == []


@pytest.mark.parametrize(
    "name", ["a=b", "DB=1", "page?n=2", "loss=mse", "=", "timeout=3", "password", "to@host", "k: v"]
)
def test_other_names_stay(name: str) -> None:
    assert not re.search(keys.ASSIGNED, name)


def test_every_sign_begins_with_letters_as_they_stand() -> None:
    """Where one that is asked first did not, the engine would try it at each letter of a text."""
    for family in (*signs.FAMILIES.values(), signs.contents(signs.TYPED)):
        for sign in family:
            first = sign.first if isinstance(sign, signs.Both) else sign
            assert begins_with_letters(first), first


@pytest.mark.parametrize("family", signs.FAMILIES)
def test_an_ordinary_record_has_no_sign(family: str) -> None:
    for body in (
        "request served",
        "step 1200 loss 2.3456789 took 0.0123456 s",
        "POST /v1/chat HTTP/1.1 200 from 10.1.2.3:43210",
    ):
        if family != "contents":
            assert not found(plain(ORDINARY, body), signs.FAMILIES[family])
        assert not found(typed(ORDINARY, body), signs.contents(signs.TYPED))
