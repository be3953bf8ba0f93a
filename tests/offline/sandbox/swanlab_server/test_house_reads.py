"""What the SDKs read of house. Bodies: `swanlab/api` of SDK 0.8.4 and 0.10.3, `swanlab/api/deprecated` of 0.7.20."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, Any, cast

import pytest

from sandbox.swanlab_server.house import listings, records, sampling, scalars
from sandbox.swanlab_server.points import Line, Media, Point
from sandbox.swanlab_server.web import Call, Refusal
from tests.offline.sandbox.swanlab_server.house_fakes import FakeStorage, open_house

if TYPE_CHECKING:
    from sandbox.swanlab_server.house.state import House

_A = [Point(0, 1.0, 1000), Point(2, 3.0, 1200), Point(5, "nan", 1500)]
_B = [Point(2, 0.1, 1201), Point(5, -0.0, 1501)]
_IMAGES = [Media(1, ["x.png"], [{"caption": "c"}], 1), Media(4, ["y.png", "z.png"], None, 4)]
_LINES = [Line(1, "INFO", "first", 1_767_225_600_123), Line(2, "ERROR", "second", 1_767_225_600_124)]


@pytest.fixture
def house() -> House:
    return open_house(series={"a": _A, "b": _B}, media={"img": _IMAGES}, lines=_LINES)


def _columns(*keys: str, **more: str) -> list[dict[str, str]]:
    return [{"experimentId": "run1", "key": key, **more} for key in keys]


def _scalar(house: House, **more: object) -> list[Any]:
    answer = scalars.scalar(house, Call(body={"projectId": "p", "columns": _columns("a"), "range": [0, 0], **more}))
    return [(item["index"], item["data"]) for item in answer.body[0]["metrics"]]


def test_lines_of_a_chart(house: House) -> None:
    assert _scalar(house, xType="step", num=1500) == [(0, 1.0), (2, 3.0), (5, "nan")]
    assert _scalar(house, xType="timestamp") == [(1000, 1.0), (1200, 3.0), (1500, "nan")]
    assert _scalar(house, xType="relative_time") == [(0, 1.0), (200, 3.0), (500, "nan")]
    assert _scalar(house, xType="step", xKey="b") == [(0.1, 3.0), (-0.0, "nan")]
    assert _scalar(house, xType="step", range=[1, 2]) == [(2, 3.0)]
    assert _scalar(house, num=2) == [(0, 1.0), (5, "nan")]


def test_points_of_a_moved_run_are_those_of_its_root(house: House) -> None:
    columns = [{"experimentId": "copy", "key": "a", "rootExpId": "run1", "rootProId": "project1"}]
    (answer,) = scalars.scalar(house, Call(body={"columns": columns})).body
    assert len(answer["metrics"]) == 3
    with pytest.raises(Refusal, match="copy"):
        scalars.scalar(house, Call(body={"columns": [{"experimentId": "copy", "key": "a"}]}))


def test_statistics(house: House) -> None:
    body = {"columns": _columns("a", "b", "none"), "xType": "timestamp"}
    first, second = scalars.value(house, Call(body=body)).body
    assert first["min"] == {"index": 1001, "data": -2.0}
    assert (first["latest"], first["avg"], first["median"]) == (
        {"index": 1002, "data": 4.0},
        {"data": 1.0},
        {"data": 1.5},
    )
    assert (second["key"], second["min"], second["latest"]["data"]) == ("b", None, "nan")


def test_summaries_of_all_sdks(house: House) -> None:
    experiments = [{"projectId": "p", "experimentId": "run1"}]
    new = scalars.summaries(house, Call(body={"experiments": experiments, "keys": ["a"]})).body
    assert new == {
        "run1": {
            "a": {
                "step": 2,
                "value": 4.0,
                "min": {"index": 1, "data": -2.0},
                "max": {"index": 2, "data": 4.0},
                "avg": 1.0,
                "median": 1.5,
                "stdDev": 3.0,
            }
        }
    }
    old = scalars.summaries(house, Call(body=experiments)).body
    assert old["run1"]["b"]["min"] == {"index": None, "data": None}, "SDK 0.7 looks into it without asking"


def test_a_resumed_run_is_told_where_it_was(house: House) -> None:
    body = scalars.resume(house, Call(path={"project": "p", "run": "run1"})).body
    assert body == {"scalar": [{"key": "a", "step": 9}], "media": [], "log": [{"key": "LOG", "step": 0}]}


def test_export_is_wide_and_exact(house: House) -> None:
    columns = _columns("a", "b", experimentName="my run")
    key = scalars.export(house, Call(body={"projectId": "p", "columns": columns})).body["cosKey"]
    assert key.startswith("project1/run1/")
    text = cast("FakeStorage", house.context.storage).objects[key]
    assert list(csv.reader(text.splitlines())) == [
        ["step", "my run-a_step", "my run-a_timestamp", "my run-b_step", "my run-b_timestamp"],
        ["0", "1.0", "1000", "", ""],
        ["2", "3.0", "1200", "0.1", "1201"],
        ["5", "nan", "1500", "-0.0", "1501"],
    ]
    with pytest.raises(Refusal):
        scalars.export(house, Call(body={"columns": []}))


def test_keys_come_in_pages(house: House) -> None:
    body = {"experiments": [{"experimentId": "run1"}], "limit": 1, "cursor": ""}
    first = listings.keys(house, Call(path={"kind": "scalar"}, body=body)).body
    assert first == {"keys": ["a"], "hasMore": True, "nextCursor": "a"}
    second = listings.keys(house, Call(path={"kind": "scalar"}, body={**body, "cursor": "a"})).body
    assert second == {"keys": ["b"], "hasMore": False, "nextCursor": ""}
    asked = {"experiments": [{"experimentId": "run1"}], "keys": ["img", "a"]}
    assert listings.availability(house, Call(path={"kind": "media"}, body=asked)).body == {"img": ["run1"], "a": []}
    with pytest.raises(Refusal):
        listings.keys(house, Call(path={"kind": "log"}, body=body))


def test_media(house: House) -> None:
    last = records.media(house, Call(body={"columns": _columns("img")})).body
    assert last == {"steps": [1, 4], "step": 4, "metrics": [{"key": "img", "data": ["y.png", "z.png"], "more": None}]}
    first = records.media(house, Call(body={"columns": _columns("img"), "step": 1})).body
    assert first["metrics"] == [{"key": "img", "data": ["x.png"], "more": [{"caption": "c"}]}]
    (both,) = records.all_media(house, Call(body={"columns": _columns("img")})).body
    assert [item["index"] for item in both["metrics"]] == [1, 4]
    assert records.media(house, Call(body={"columns": _columns("none")})).body == {
        "steps": [],
        "step": None,
        "metrics": [],
    }


def test_lines_of_the_terminal(house: House) -> None:
    query = {"projectId": "p", "experimentId": "run1", "size": "1000", "epoch": "2", "level": "error"}
    assert records.log(house, Call(query=query)).body == {
        "logs": [{"epoch": 2, "level": "ERROR", "message": "second", "timestamp": "2026-01-01T00:00:00.124Z"}],
        "count": 2,
    }
    key = records.export(house, Call(body={"experimentId": "run1", "start": 0, "rows": 1})).body["cosKey"]
    assert cast("FakeStorage", house.context.storage).objects[key] == "first\n"
    for wrong in ({"size": "x"}, {"epoch": "-1"}, {"level": "LOUD"}):
        with pytest.raises(Refusal):
            records.log(house, Call(query={**query, **wrong}))


def test_sampling_keeps_ends_and_peaks() -> None:
    points = [Point(step, math.sin(step / 50), step) for step in range(1000)]
    points[437] = Point(437, 100.0, 437)
    points[600] = Point(600, "nan", 600)
    few = sampling.sample(points, 30)
    assert len(few) == 30
    assert (few[0], few[-1]) == (points[0], points[-1])
    assert points[437] in few
    assert few == sorted(few, key=lambda point: point.step)
    assert sampling.sample(points, 1000) == points
    assert sampling.sample(points, 1) == [points[-1]]
