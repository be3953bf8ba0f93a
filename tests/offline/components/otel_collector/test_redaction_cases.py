"""Cases that people met, by the real collector: what must not arrive, and what must arrive as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from components.otel_collector import record_text
from tests.offline.components.otel_collector.backend import attributes_of
from tests.offline.components.otel_collector.examples import ARGS
from tests.offline.components.otel_collector.hidden import (
    ATTRIBUTES,
    CARDS,
    FORMS,
    ORDINARY_ATTRIBUTES,
    ORDINARY_TEXTS,
    TEXTS,
    X,
)
from tests.offline.components.otel_collector.otlp import any_value, logs, record, sent, span, traces
from tests.offline.components.otel_collector.program import eventually
from tests.offline.components.otel_collector.test_redaction import gateway

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = (*TEXTS, *FORMS, *(f"so {form} it is" for form in FORMS), *ORDINARY_TEXTS)
NAMED = (*ATTRIBUTES, *CARDS, *ORDINARY_ATTRIBUTES)
TO = "jane.doe@leak.example"
Places = dict[str, Any]


@pytest.fixture(scope="module")
def arrived(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Any]:
    """What came of each text as a body, in an attribute and in a list, and of attributes of records, spans, bodies."""
    records, places = [], list[tuple[str, int]]()
    shown: list[tuple[str, Any, dict[str, Any]]]
    for number, text in enumerate(SHOWN):
        shown = [("body", text, {}), ("note", "x", {"note": text}), ("list", "x", {"l": ["a", text]})]
        for place, body, own in shown:
            records.append(record(body, values={**own, "at": len(places)}))
            places.append((place, number))
    for number, values in enumerate(NAMED):
        shown = [("log", "x", values), ("map", values, {}), ("beside", "x", {**values, "to": TO})]
        for place, body, own in shown:
            records.append(record(body, values={**own, "at": len(places)}))
            places.append((place, number))
    with gateway(tmp_path_factory.mktemp("cases"), ARGS) as (collector, backend):
        for begin in range(0, len(records), 300):
            sent(collector.http, logs(records[begin : begin + 300]))
        sent(collector.http, traces([span("op", values={**values, "at": at}) for at, values in enumerate(NAMED)]))
        eventually(
            lambda: len(backend.records()) == len(records) and len(backend.spans()) == len(NAMED),
            lambda: f"{len(backend.records())} records, {len(backend.spans())} spans",
        )
        found = {places[one["attributes"].pop("at")]: one for one in backend.records()}
        for one in backend.spans():
            attributes = attributes_of(one.attributes)
            found["span", attributes.pop("at")] = {"attributes": attributes}
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_text_that_tells_a_secret_does_not_tell_it(text: str, arrived: dict[tuple[str, int], Any]) -> None:
    for place in ("body", "note", "list"):
        found = json.dumps(arrived[place, SHOWN.index(text)])
        assert X not in found
        assert X.replace("9", "n").replace("7", "s") not in found
        assert record_text.MASK in found


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_known_by_its_form(form: str, arrived: dict[tuple[str, int], Any]) -> None:
    for place in ("body", "note", "list"):
        for text in (form, f"so {form} it is"):
            found = json.dumps(arrived[place, SHOWN.index(text)])
            assert form[-9:] not in found
            assert json.dumps(form)[1:-1] not in found
            assert record_text.MASK in found


@pytest.mark.parametrize("values", ATTRIBUTES, ids=str)
def test_an_attribute_that_holds_a_secret_does_not_tell_it(
    values: dict[str, Any], arrived: dict[tuple[str, int], Any]
) -> None:
    for place in ("log", "map", "span", "beside"):
        assert X not in json.dumps(arrived[place, NAMED.index(values)])


@pytest.mark.parametrize("values", CARDS, ids=str)
def test_the_number_of_a_card_does_not_arrive(values: dict[str, Any], arrived: dict[tuple[str, int], Any]) -> None:
    (value,) = values.values()
    number = str(int(value[0] if isinstance(value, list) else value))
    for place in ("log", "span", "beside"):
        assert number not in json.dumps(arrived[place, NAMED.index(values)])


@pytest.mark.parametrize("text", ORDINARY_TEXTS)
def test_ordinary_text_arrives_as_it_is(text: str, arrived: dict[tuple[str, int], Any]) -> None:
    assert arrived["body", SHOWN.index(text)]["body"] == text
    assert arrived["note", SHOWN.index(text)]["attributes"] == {"note": text}


@pytest.mark.parametrize("values", ORDINARY_ATTRIBUTES, ids=str)
def test_ordinary_attributes_arrive_as_they_are(values: dict[str, Any], arrived: dict[tuple[str, int], Any]) -> None:
    assert arrived["log", NAMED.index(values)]["attributes"] == values
    assert arrived["span", NAMED.index(values)]["attributes"] == values
    # Lists are made flat beside a secret.
    if not any(isinstance(value, list) for value in values.values()):
        assert arrived["beside", NAMED.index(values)]["attributes"] == {**values, "to": record_text.MASK}


def test_lists_in_lists_lose_nothing_beside_a_secret(tmp_path: Path) -> None:
    rows = [[f"r{row}c{column}" for column in range(12)] for row in range(12)]
    with gateway(tmp_path, ARGS) as (collector, backend):
        sent(collector.http, logs([record("x", values={"m": rows, "to": TO}), record({"m": rows, "n": {"to": TO}})]))
        eventually(lambda: len(backend.records()) == 2, backend.everything)
        for found in backend.records():
            values = found["body"] if isinstance(found["body"], dict) else found["attributes"]
            assert sorted(value for value in values.values() if value != record_text.MASK) == sorted(
                cell for row in rows for cell in row
            )
    assert TO not in backend.everything()


@pytest.mark.parametrize("beside", [{}, {"to": TO}])
def test_names_that_spell_alike_are_both_kept(beside: dict[str, str], tmp_path: Path) -> None:
    """The first has the name, the other a number as well."""
    values = {"a": {"b": "first"}, "a.b": "second", "list": ["x"], "list.0": "y", **beside}
    with gateway(tmp_path, ARGS) as (collector, backend):
        sent(collector.http, logs([record("x", values=values), record({"message": "x", **values})]))
        eventually(lambda: len(backend.records()) == 2, backend.everything)
        for found in backend.records():
            assert sorted(map(str, found["attributes"].values())) == sorted(
                ["first", "second", "x", "y", *([record_text.MASK] if beside else [])]
            )
            assert (found["attributes"]["a.b"], found["attributes"]["a.b.0"]) == ("first", "second")


def test_a_name_that_stands_twice_hides_nothing(tmp_path: Path) -> None:
    twice = record("x")
    twice.attributes.extend([KeyValue(key="prompt", value=any_value(value)) for value in (f"{X} tell", 5)])
    with gateway(tmp_path, ARGS) as (collector, backend):
        sent(collector.http, logs([twice]))
        eventually(lambda: len(backend.records()) == 1, backend.everything)
    assert X not in backend.everything()


def test_a_message_of_a_span_is_text_like_any_other(tmp_path: Path) -> None:
    one = span("op", values={"a": 1})
    one.status.message = f"Generated response c: output: '{X}', output_token_ids: None"
    event = one.events.add(name="gen_ai.content")
    event.attributes.append(KeyValue(key="content", value=any_value([{"type": "text", "text": X}])))
    with gateway(tmp_path, ARGS) as (collector, backend):
        sent(collector.http, traces([one]))
        eventually(lambda: len(backend.spans()) == 1, backend.everything)
    assert X not in backend.everything()
