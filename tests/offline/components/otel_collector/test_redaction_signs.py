"""Looking for signs first hides as much as searching every record in full, by the real collector."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any, Final

from components.otel_collector import keys, own_signs, patterns, redaction
from tests.offline.components.otel_collector.examples import ARGS
from tests.offline.components.otel_collector.matches import Maker, compiled
from tests.offline.components.otel_collector.otlp import logs, record, sent, span, traces
from tests.offline.components.otel_collector.program import eventually
from tests.offline.components.otel_collector.test_redaction import gateway
from tests.offline.components.otel_collector.test_signs import ORDINARY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

EXAMPLES: Final = 6
"""Of each pattern, in each place."""
PARTS: Final = 5
ADDRESS: Final = "jane.doe@leak.example"
NUMBER: Final = 4111111111111111


def _texts(pattern: str, name: str) -> Iterator[str]:
    chance = random.Random(f"whole {name}")  # noqa: S311  # examples that are the same each time
    maker, searched = Maker(pattern, chance), compiled(pattern)
    made = (maker.text() for _ in range(EXAMPLES))
    yield from (text for core in made for text in (core, f"so {core} it is") if searched.search(text))


def _places(text: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Bodies and attributes that hold a text, among what is ordinary."""
    yield text, {}
    yield "x", {"note": text}
    yield "x", {"list": ["a", 7, text]}
    yield "x", {"list": ["a", {"deep": {"er": [text]}}]}
    yield "x", {"list": [math.nan, text]}
    yield "x", {"odd\x01name": text}
    yield "x", {text: "y"}
    yield {"inner": [1, {"note": text}], "loss": math.inf}, {}
    yield ["a", text], {}


def _named(name: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    for value in ("hunter2", 17, ["hunter2", 17], {"in": "hunter2"}):
        yield "x", {name: value}
        yield {"inner": {name: value}}, {}
    yield "x", {f"odd\x02{name}": "hunter2"}


def _records() -> list[tuple[Any, dict[str, Any]]]:
    held = [hidden.pattern for hidden in patterns.VALUES.values()]
    names = [*keys.CREDENTIALS.values(), *keys.CONTENTS.values()]
    return [
        ("request served", {}),
        *(one for pattern in held for text in _texts(pattern, pattern) for one in _places(text)),
        *(one for pattern in names for text in _texts(pattern, pattern) for one in _named(text)),
    ]


def _flat(value: Any, name: str = "") -> dict[str, str]:  # noqa: ANN401  # any JSON
    """Where there is no sign, lists stay lists."""
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: one for inner, member in members for key, one in _flat(member, f"{name}.{inner}").items()}
    return {name: str(value)}


def _beside(at: int) -> dict[str, Any]:
    """A part of what is ordinary, all of it in turn: searching all of it in full beside each would take minutes."""
    return dict([*ORDINARY.items()][at % PARTS :: PARTS])


def _arrived(directory: Path, given: list[tuple[Any, dict[str, Any]]]) -> dict[int, dict[str, str]]:
    with gateway(directory, ARGS) as (collector, backend):
        for begin in range(0, len(given), 500):
            batch = enumerate(given[begin : begin + 500], begin)
            sent(
                collector.http,
                logs([record(body, values={**_beside(at), **own, "at": at}) for at, (body, own) in batch]),
            )
        eventually(lambda: len(backend.records()) == len(given), lambda: f"{len(backend.records())} of {len(given)}")
        found = {one["attributes"]["at"]: one for one in backend.records()}
        return {at: _flat({"body": one["body"], "attributes": one["attributes"]}) for at, one in found.items()}


def test_what_has_a_secret_in_any_place_arrives_as_if_it_had_been_searched_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = _records()
    by_signs = _arrived(tmp_path / "signs", given)
    monkeypatch.setattr(redaction, "_ODD", ("",))
    in_full = _arrived(tmp_path / "full", given)
    assert len(given) > 2000
    wrong = {at: (given[at], one) for at, one in by_signs.items() if one != in_full[at]}
    assert not wrong, next(iter(wrong.values()))


def test_a_family_without_signs_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "e-mail"
    monkeypatch.setitem(patterns.VALUES, kind, patterns.Hidden(patterns.VALUES[kind].pattern, ("never",)))
    ((_, found),) = _arrived(tmp_path, [(f"to {ADDRESS}", {})]).items()
    assert ADDRESS in found[".body"]


def test_a_pattern_without_signs_of_its_own_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(own_signs.OWN, "e-mail", ("never",))
    monkeypatch.setitem(own_signs.WIDE, "assignments", ("never",))
    ((_, found),) = _arrived(tmp_path, [(f"to {ADDRESS}, secret=Zx9 login_token=Zx8", {})]).items()
    assert ADDRESS in found[".body"]
    assert "Zx9" not in found[".body"]
    assert "Zx8" in found[".body"]


def test_numbers_that_are_none_are_no_reason_to_refuse_and_hide_nothing(tmp_path: Path) -> None:
    given: list[tuple[Any, dict[str, Any]]] = [
        ("step 7", {"loss": math.nan, "grad": math.inf, "to": ADDRESS}),
        ("step 8", {"losses": [1.5, math.nan, ADDRESS, NUMBER]}),
        ("step 9", {"state": {"loss": math.nan, "to": ADDRESS}, "password": "hunter2"}),
        ({"losses": [math.nan, ADDRESS], "n": 1}, {}),
        ([math.nan, ADDRESS], {}),
        (math.nan, {"prompt": "tell me"}),
    ]
    found = _arrived(tmp_path, given)
    text = json.dumps(found)
    for secret in (ADDRESS, str(NUMBER), "hunter2", "tell me"):
        assert secret not in text
    assert found[0][".body"] == "step 7"
    assert found[0][".attributes.loss"] == "nan"


def test_a_record_without_a_secret_arrives_as_it_was(tmp_path: Path) -> None:
    """Of a body without a text the members are attributes, and its JSON is the text."""
    members = {"n": 1, "list": ["a", "b"]}
    with gateway(tmp_path, ARGS) as (collector, backend):
        sent(collector.http, logs([record(members, values=ORDINARY)]))
        sent(collector.http, traces([span("POST /v1/chat", values=ORDINARY)]))
        eventually(lambda: len(backend.records()) == len(backend.spans()) == 1, backend.everything)
        (found,) = backend.records()
    assert found["attributes"] == ORDINARY | members
    assert json.loads(found["body"]) == members
