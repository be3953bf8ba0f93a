"""What was logged is what is read, over the real engine and the real buffer."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import random
import signal
import struct
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.swanlab_server import clickhouse_client, tables
from sandbox.swanlab_server.points import LastSteps, Line, Media, Point, Points, spell
from sandbox.swanlab_server.settings import ClickHouse
from tests.offline.sandbox.clickhouse_engine import process
from tests.offline.sandbox.clickhouse_engine.process import DATABASE, PASSWORD, USER, engine

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

_PATIENCE = 60.0


@dataclass
class Site:
    """An engine and a buffer in front of it."""

    engine: process.Server
    engine_directory: Path
    directory: Path
    port: int
    metrics_port: int
    buffer: subprocess.Popen[bytes] = field(init=False)

    @property
    def settings(self) -> ClickHouse:
        """Of the engine."""
        return ClickHouse(url=self.engine.url, database=DATABASE, user=USER, password=PASSWORD)

    @property
    def points(self) -> Points:
        """Reads of the engine."""
        return Points(self.settings)

    def environment(self) -> dict[str, str]:
        """Of the buffer."""
        return {
            "PORT": str(self.port),
            "METRICS_PORT": str(self.metrics_port),
            "DATA_DIR": str(self.directory),
            "FLUSH_SECONDS": "0.1",
            "CLICKHOUSE_URL": self.engine.url,
            "CLICKHOUSE_DATABASE": DATABASE,
            "CLICKHOUSE_USER": USER,
            "CLICKHOUSE_PASSWORD": PASSWORD,
        }

    def start_buffer(self) -> None:
        """Start it, or start it again."""
        self.buffer = process.start(["sandbox.swanlab_server", "vector"], self.environment())
        process.wait_for_port(self.buffer, self.port)

    def send(self, *events: dict[str, Any]) -> None:
        """The buffer must acknowledge."""
        body = "\n".join(map(json.dumps, events)).encode()
        assert clickhouse_client.post(f"http://127.0.0.1:{self.port}/", body, {}, _PATIENCE).status == 200

    def metric(self, name: str, *labels: str) -> float:
        """Sum of the samples that have these labels."""
        page = process.request(self.metrics_port, "GET", "/metrics", b"", {}).text
        lines = [line for line in page.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(label in line for label in labels))

    def drained(self) -> None:
        """Return once nothing waits in the buffer."""
        until = time.monotonic() + _PATIENCE
        while self.metric("vector_buffer_events"):
            assert time.monotonic() < until, "the buffer does not drain"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Both, with empty tables."""
    stored = tmp_path_factory.mktemp("engine")
    with engine(stored) as server:
        directory = tmp_path_factory.mktemp("buffer")
        ports = process.free_port(), process.free_port()
        found = Site(server, stored, directory, *ports)
        tables.make(found.settings)
        found.start_buffer()
        yield found
        found.buffer.kill()
        found.buffer.wait()


def _scalar(uid: str, key: str, step: object, value: object, **more: object) -> dict[str, Any]:
    event = {"type": "scalar", "project": "p", "uid": uid, "key": key, "epoch": 0, "step": step, "value": value}
    return {**event, "time": 1_700_000_000_000, **more}


def test_every_float_comes_back_as_it_was_sent(site: Site) -> None:
    rng = random.Random(5)  # noqa: S311  # a fixed choice of numbers
    numbers = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(2000)]
    sent = [*filter(math.isfinite, numbers), -0.0, 5e-324, 1.7976931348623157e308, 0.1, 2.0**53 + 2]
    order = list(enumerate(sent))
    rng.shuffle(order)
    site.send(*(_scalar("exact", "k", step, value) for step, value in order))
    site.drained()
    found = site.points.series("exact", "k")
    assert [point.step for point in found] == list(range(len(sent)))
    assert [struct.pack("<d", point.value) for point in found] == [struct.pack("<d", value) for value in sent]
    assert [float(spell(point.value)) for point in found] == sent


def test_a_step_beyond_the_column_takes_no_other_steps_place(site: Site) -> None:
    before = site.metric("vector_component_discarded_events_total", "clickhouse_scalar")
    site.send(_scalar("beyond", "k", 2**64, 9.0), _scalar("beyond", "k", 0, 1.0))
    site.drained()
    assert site.points.series("beyond", "k") == [Point(0, 1.0, 1_700_000_000_000)]
    assert site.metric("vector_component_discarded_events_total", "clickhouse_scalar") == before + 1


def test_the_first_write_of_a_step_wins_and_nan_stays_as_spelled(site: Site) -> None:
    site.send(_scalar("first", "k", 1, "nan"), _scalar("first", "k", 2, "INF"), _scalar("first", "k", 3, 12))
    site.send(_scalar("first", "k", 1, 5.0), _scalar("first", "k", 3, 13), _scalar("first", "k", -4, "NaN"))
    site.drained()
    site.send(_scalar("first", "k", 3, 14))
    site.drained()
    at = 1_700_000_000_000
    assert site.points.series("first", "k") == [
        Point(-4, "NaN", at),
        Point(1, "nan", at),
        Point(2, "INF", at),
        Point(3, 12.0, at),
    ]


def test_statistics_leave_out_what_is_no_number(site: Site) -> None:
    values = [2.0, "nan", -1.0, 4.0, 4.0, "INF"]
    site.send(*(_scalar("figures", "k", step, value) for step, value in enumerate(values)))
    site.send(_scalar("figures", "empty", 0, "nan"))
    site.drained()
    empty, found = site.points.summaries("figures")
    assert (empty.key, empty.latest.value, empty.lowest, empty.mean, empty.median) == ("empty", "nan", None, None, None)
    assert (found.latest.step, found.latest.value) == (5, "INF")
    assert found.lowest is not None
    assert found.highest is not None
    assert (found.lowest.step, found.highest.step) == (2, 3)
    assert (found.mean, found.median) == (2.25, 3.0)
    assert found.deviation == pytest.approx(math.sqrt(4.1875))  # of 2, -1, 4, 4 by hand


def test_keys_media_and_lines(site: Site) -> None:
    line = {"type": "log", "project": "p", "uid": "all", "time": 5}
    picture = {"type": "media", "project": "p", "uid": "all", "epoch": 0, "time": 5}
    site.send(
        _scalar("all", "it's \\ a\tkey", 3, 1),
        {**picture, "key": "img", "step": 7, "data": ["a.png", "b.png"], "more": [{"caption": "c"}]},
        {**line, "epoch": 2, "level": "ERROR", "message": "second\\n"},
        {**line, "epoch": 1, "level": "INFO", "message": "first"},
        {**line, "epoch": 1, "level": "INFO", "message": "first"},
    )
    site.drained()
    points = site.points
    assert points.keys("all") == ["img", "it's \\ a\tkey"]
    assert points.keys("all", "media") == ["img"]
    assert [point.value for point in points.series("all", "it's \\ a\tkey")] == [1.0]
    assert points.media("all", "img") == [Media(7, ["a.png", "b.png"], [{"caption": "c"}], 5)]
    lines = [Line(1, "INFO", "first", 5), Line(2, "ERROR", "second\\n", 5)]
    assert points.logs("all") == lines
    assert points.logs("all", first=2) == points.logs("all", level="ERROR") == lines[1:]
    assert (points.log_count("all"), points.log_count("all", level="WARN")) == (2, 1)
    assert points.last_steps("all") == LastSteps({"it's \\ a\tkey": 3}, {"img": 7}, 2)
    assert points.last_steps("nobody") == LastSteps({}, {}, 0)


def test_a_malformed_row_costs_that_row_and_is_counted(site: Site) -> None:
    lost = ("vector_component_discarded_events_total", "clickhouse_scalar", 'intentional="false"')
    before = site.metric(*lost)
    bad: list[tuple[object, object]] = [(1, "30/120"), ("x", 1), (None, 1), (2, None), (1.5, 1)]
    good = [_scalar("bad", "k", step, step) for step in range(100, 200)]
    wrong = [_scalar("bad", "k", step, value) for step, value in bad]
    wrong += [{**_scalar("bad", "k", 3, 1), "key": None}, {**_scalar("bad", "k", 3, 1), "uid": 5}]
    site.send(*good[:50], *wrong, *good[50:])
    site.drained()
    assert [point.step for point in site.points.series("bad", "k")] == list(range(100, 200))
    assert site.points.keys("bad") == ["k"]
    assert site.metric(*lost) - before == len(wrong)


def test_a_second_process_on_the_same_disk_is_refused(site: Site) -> None:
    given = {**site.environment(), "PORT": str(process.free_port()), "METRICS_PORT": str(process.free_port())}
    assert process.start(["sandbox.swanlab_server", "vector"], given).wait(_PATIENCE) == 1


def test_metrics_have_the_names_and_tags_of_vector(site: Site) -> None:
    sink = 'component_id="clickhouse_media",component_kind="sink",component_type="clickhouse"'
    tags = ('buffer_id="clickhouse_media"', 'buffer_type="disk"', sink, 'stage="0"')
    assert site.metric("vector_buffer_max_byte_size", *tags) == 10 * 1024**3
    before = site.metric("vector_component_received_events_total", 'component_kind="source"')
    site.send({"type": "unknown"}, _scalar("named", "k", 0, 1))
    site.drained()
    assert site.metric("vector_component_received_events_total", 'component_kind="source"') - before == 2
    assert site.metric("vector_component_discarded_events_total", 'component_type="route"', 'intentional="true"') == 1
    held = [site.metric(name, sink) for name in ("vector_buffer_events", "vector_buffer_byte_size")]
    assert held == [0, 0]


def test_a_body_that_is_no_json_is_refused(site: Site) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=_PATIENCE)
    with contextlib.closing(connection):
        connection.request("POST", "/", b'{"type":')
        assert connection.getresponse().status == 400


def test_what_is_removed_does_not_come_back_in_a_run_made_anew(site: Site) -> None:
    media = {"type": "media", "project": "gone", "key": "m", "epoch": 0, "step": 1, "data": ["a.png"], "more": None}
    line = {"type": "log", "project": "gone", "epoch": 1, "level": "INFO", "message": "old"}
    runs = [f"it's \\ {number}.1" for number in range(60)]
    for uid in (*runs, "same.1"):
        site.send(_scalar(uid, "k", 1, 1.0, project="gone"), {**media, "uid": uid}, {**line, "uid": uid})
    site.drained()
    site.points.remove(["same.1", *runs[:-1]])
    for uid in ("same.1", runs[0], runs[-2]):
        assert (site.points.keys(uid), site.points.log_count(uid)) == ([], 0)
    assert (site.points.keys(runs[-1]), site.points.log_count(runs[-1])) == (["k", "m"], 1)
    # A point of the deleted run was still on its way; the same step of the new one is what counts.
    site.send(_scalar("same.1", "k", 1, 2.0, project="gone"))
    site.send(_scalar("same.2", "k", 1, 3.0, project="gone"))
    site.drained()
    assert [point.value for point in site.points.series("same.2", "k")] == [3.0]
    site.points.remove_project("gone")
    assert [site.points.keys(uid) for uid in ("same.1", "same.2", runs[-1])] == [[], [], []]
    assert site.points.log_count(runs[-1]) == 0


def test_the_buffer_answers_a_plain_get(site: Site) -> None:
    answer = process.request(site.port, "GET", "/", b"", {})
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_lost_events_are_told_under_vectors_name(site: Site) -> None:
    page = process.request(site.metrics_port, "GET", "/metrics", b"", {}).text
    assert 'vector_buffer_discarded_events_total{buffer_id="clickhouse_scalar"' in page
    assert site.metric("vector_buffer_discarded_events_total", 'intentional="false"') == 0


def test_what_is_acknowledged_survives_kills_of_the_buffer_and_of_the_store(site: Site) -> None:
    site.engine.kill()
    site.send(*(_scalar("killed", "k", step, step) for step in range(1500)))
    site.buffer.send_signal(signal.SIGKILL)
    site.buffer.wait()
    site.start_buffer()
    assert site.metric("vector_buffer_events", "clickhouse_scalar") == 1500
    site.send(*(_scalar("killed", "k", step, step) for step in range(1500, 1600)))
    with pytest.raises(clickhouse_client.Unavailable):
        site.points.series("killed", "k")
    with engine(site.engine_directory, site.engine.port) as again:
        site.engine = again
        site.drained()
        assert [point.step for point in site.points.series("killed", "k")] == list(range(1600))
