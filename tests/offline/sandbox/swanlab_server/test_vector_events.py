"""What events become."""

from __future__ import annotations

import json

import pytest

from sandbox.swanlab_server import tables
from sandbox.swanlab_server.vector import events

_SCALAR = {"type": "scalar", "project": "p", "uid": "e", "key": "k", "epoch": 2, "step": 7, "time": 1_700_000_000_123}


def _one(event: object) -> list[object]:
    routed = events.route([event], events.Clock())
    ((row,),) = [rows for rows in routed.rows.values() if rows]
    return list(json.loads(row))


@pytest.mark.parametrize(
    ("value", "stored", "kind"),
    [
        (0.1, 0.1, "number"),
        (12, 12, "number"),
        (True, True, "number"),
        ("0.5", "0.5", "number"),
        ("nan", "nan", "nan"),
        ("NaN", "nan", "NaN"),
        ("INF", "inf", "INF"),
        ("-inf", "-inf", "-inf"),
        (float("nan"), "nan", "nan"),
        (float("-inf"), "-inf", "-inf"),
        ("30/120", "30/120", "number"),  # ClickHouse refuses the text
        (None, "null", "number"),
        ([1], "[1]", "number"),
    ],
)
def test_values(value: object, stored: object, kind: str) -> None:
    row = dict(zip(tables.SCALAR.columns, _one({**_SCALAR, "value": value}), strict=True))
    assert (row["value"], row["kind"]) == (stored, kind)
    assert (row["uid"], row["key"], row["epoch"], row["step"]) == ("e", "k", 2, 7)


@pytest.mark.parametrize(
    ("field", "at", "fits", "beyond"),
    [("step", 4, (-(2**63), 2**63 - 1), (-(2**63) - 1, 2**63, 2**64 + 7)), ("epoch", 3, (0, 2**64 - 1), (-1, 2**64))],
)
def test_a_number_beyond_its_column_does_not_become_another(
    field: str, at: int, fits: tuple[int, ...], beyond: tuple[int, ...]
) -> None:
    event = {**_SCALAR, "value": 1.0}
    assert [_one({**event, field: number})[at] for number in fits] == list(fits)
    assert [_one({**event, field: number})[at] for number in beyond] == [f"{n} does not fit" for n in beyond]


@pytest.mark.parametrize(
    ("time", "written"),
    [(1_700_000_000_123, "1700000000.123"), (1, "0000000000.001"), (9_999_999_999_999, "9999999999.999")],
)
def test_times_are_seconds_with_three_digits(time: int, written: str) -> None:
    assert _one({**_SCALAR, "value": 1, "time": time})[7] == written


@pytest.mark.parametrize("time", [None, "x", -1, 10_000_000_000_000, 1.5, True])
def test_without_a_time_it_is_that_of_arrival(time: object) -> None:
    row = _one({**_SCALAR, "value": 1, "time": time})
    seconds, precedence = str(row[7]), row[8]
    assert isinstance(precedence, int)
    assert float(seconds) == (2**64 - 1 - precedence) // 10**6 / 1000


def test_the_earlier_of_two_has_precedence() -> None:
    clock = events.Clock()
    routed = [events.route([{**_SCALAR, "value": 1}] * 3, clock) for _ in range(3)]
    found = [json.loads(row)[8] for item in routed for row in item.rows["scalar"]]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 9


def test_media_and_lines() -> None:
    media = {
        "type": "media",
        "project": "p",
        "uid": "e",
        "key": "k",
        "epoch": 0,
        "step": 1,
        "data": ["a"],
        "more": None,
    }
    assert _one(media)[:7] == ["p", "e", "k", 0, 1, ["a"], "null"]
    line = {"type": "log", "project": "p", "uid": "e", "epoch": 3, "level": "INFO", "message": "a\nb\ud800"}
    assert _one(line)[:5] == ["p", "e", 3, "INFO", "a\nb?"]


@pytest.mark.parametrize("event", [{"type": "trace"}, {}, 5, None, {"type": ["scalar"]}])
def test_what_no_route_takes_is_counted(event: object) -> None:
    routed = events.route([event, {**_SCALAR, "value": 1}], events.Clock())
    assert (routed.received, routed.unmatched, len(routed.rows["scalar"])) == (2, 1, 1)


def test_bodies() -> None:
    assert events.parse(b'[{"a":1},{"b":2}]') == events.parse(b'{"a":1}\n\n{"b":2}\n') == [{"a": 1}, {"b": 2}]
    assert events.parse(b"") == []
    for body in (b"{", b'{"a":1} x', b"\xff"):
        with pytest.raises(events.NoEvents):
            events.parse(body)
