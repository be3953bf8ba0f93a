"""Pages of SwanLab and of its object store, against what the programs expose."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import requests
from prometheus_client import CollectorRegistry, generate_latest

from gate.board import Board
from gate.licence import Shown
from gate.metrics import registry
from gate.model import Licence, Outcome, Part
from sandbox.clickhouse_engine.engine import Engine
from sandbox.clickhouse_engine.metrics import exposition
from sandbox.swanlab_server.vector.buffer import Buffer
from sandbox.swanlab_server.vector.telemetry import Component, Counters, Exposition
from signals.budget import series
from signals.catalogue import producer
from signals.catalogue.model import Metric, MetricType, Presence, Producer
from signals.thresholds import Sizing
from tests.offline.components.object_store.program import Store
from tests.offline.components.object_store.test_manifests import ARGS

if TYPE_CHECKING:
    from pathlib import Path

Series = dict[str, list[dict[str, str]]]
# The parser of the client library adds `_total` to counters that lack it, which Prometheus does not.
_SAMPLE = re.compile(r"^([A-Za-z_:]\w*)(?:\{(.*)\})? \S+$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def seen(text: str) -> Series:
    """Name of a series → labels of each, from a page in Prometheus' text format."""
    found: Series = {}
    for name, labels in _SAMPLE.findall(text):
        found.setdefault(name, []).append(dict(_LABEL.findall(labels)))
    return found


def faults(page: Producer, text: str) -> list[str]:
    """What a page of the catalogue says and the exposition does not keep."""
    types, found = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)), seen(text)
    return [fault for metric in page.metrics for fault in _faults(metric, types.get(metric.name), found)]


def _faults(metric: Metric, declared: str | None, found: Series) -> list[str]:
    there = found.get(metric.name, [])
    if not there:
        return [f"{metric.name} is not there"] if metric.presence is Presence.ALWAYS else []
    wrong = [] if declared == metric.type.value else [f"{metric.name} is a {declared}, not a {metric.type.value}"]
    lacking = [label for label in metric.labels if not any(labels.get(label) for labels in there)]
    return wrong + [f"{metric.name} has no label {label}" for label in lacking]


def absent(page: Producer, text: str) -> set[str]:
    """Metrics of the page whose event has not happened in the exposition."""
    return {metric.name for metric in page.metrics} - set(seen(text))


def kept(page: Producer, text: str) -> int:
    """Series that are left when the page's drops are done."""
    names = {name: len(labels) for name, labels in seen(text).items()}
    return sum(count for name, count in names.items() if not any(re.fullmatch(d.metric, name) for d in page.drops))


def test_gate_exposes_its_page_and_nothing_else() -> None:
    board, licence = Board((Part(name="server", kind="http", address="http://x"),), 60.0), Shown()
    board.put("server", Outcome(up=True, words="", seconds=0.1, at=0.0))
    licence.put(Licence(state="active", days_left=30.0, seats=5))
    page, text = producer("swanlab-gate"), generate_latest(registry(board, licence)).decode()
    assert (faults(page, text), absent(page, text)) == ([], set())
    assert set(seen(text)) == {metric.name for metric in page.metrics}


def test_gate_that_knows_nothing_yet_exposes_what_is_always_there() -> None:
    board = Board((Part(name="server", kind="http", address="http://x"),), 60.0)
    page = producer("swanlab-gate")
    assert faults(page, generate_latest(registry(board, Shown())).decode()) == []


def test_buffer_exposes_its_page(tmp_path: Path) -> None:
    counters = Counters(Component("clickhouse_scalar", "sink", "clickhouse"))
    source = Counters(Component("http", "source", "http_server"), bytes_as="received")
    counters.error("request_failed", "sending")
    buffer, names = Buffer(tmp_path, 1_000_000), CollectorRegistry()
    names.register(Exposition((source, counters), ((counters.component, buffer),)))
    page, text = producer("swanlab-vector"), generate_latest(names).decode()
    buffer.close()
    assert (faults(page, text), absent(page, text)) == ([], set())


def test_clickhouse_exposes_its_page_within_its_budget(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    page, text = producer("swanlab-clickhouse"), exposition(engine)
    engine.close()
    assert (faults(page, text), absent(page, text)) == ([], set())
    assert kept(page, text) <= series(page, Sizing())


def test_object_store_exposes_its_page_within_its_budget(tmp_path: Path) -> None:
    """The program itself. What it knows of volumes it tells its master first, every few seconds."""
    store, page = Store(tmp_path), producer("object-store")
    with store.running(ARGS):
        client = store.client("swanlab")
        client.put_object("swanlab-private", "a", io.BytesIO(b"x" * 1000), 1000)
        store.content("swanlab", "swanlab-private", "a")
        text = requests.get(f"http://127.0.0.1:{store.ports['metrics']}/metrics", timeout=60).text
    assert faults(page, text) == []
    assert {name for name in absent(page, text) if "volumeServer" not in name} == set()
    assert kept(page, text) <= series(page, Sizing())


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": "SeaweedFS_gone"}, "SeaweedFS_gone is not there"),
        ({"type": MetricType.COUNTER}, "x is a gauge, not a counter"),
        ({"labels": ("part", "state")}, "x has no label state"),
    ],
)
def test_page_that_is_not_kept_is_seen(change: dict[str, object], fault: str) -> None:
    metric = Metric(name="x", type=MetricType.GAUGE, unit="1", meaning="X.", labels=("part",))
    text = '# TYPE x gauge\nx{part="a"} 1\n'
    page = replace(producer("swanlab-gate"), metrics=(metric,))
    assert faults(page, text) == []
    assert faults(replace(page, metrics=(replace(metric, **change),)), text) == [fault]  # type: ignore[arg-type]  # fields of the record
