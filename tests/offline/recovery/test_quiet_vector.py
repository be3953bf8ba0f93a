"""What Vector's figures mean: every way in which they look empty and are not, and the other way round."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from recovery.errors import RecoveryError
from recovery.kube import Cluster, selector
from recovery.quiet import Quiesce
from recovery.vector import UnreadableError, parse
from sandbox.swanlab_server import tables
from sandbox.swanlab_server.vector.buffer import Buffer
from sandbox.swanlab_server.vector.sink import Sink
from sandbox.swanlab_server.vector.telemetry import Component, Counters, Exposition
from tests.offline.recovery.quiet_cluster import cluster, empty, holding
from tests.offline.recovery.quiet_site import served

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SINK = 'component_id="ch",component_kind="sink",component_type="clickhouse",host="vector-0"'
DISK = f'{SINK},buffer_id="ch",buffer_type="disk",stage="0"'
SOURCE = 'component_id="in",component_kind="source",component_type="http_server",host="vector-0"'
OWN = 'component_id="metrics",component_kind="source",component_type="internal_metrics",host="vector-0"'
OUT = 'component_id="prom",component_kind="sink",component_type="prometheus_exporter",host="vector-0"'
MEMORY = f'{OUT},buffer_id="prom",buffer_type="memory",stage="0"'


def real(*lines: str) -> str:
    """A page as Vector's exporter writes it, with what is always there; every sample has a time."""
    always = (
        "# HELP vector_uptime_seconds uptime_seconds",
        "# TYPE vector_uptime_seconds gauge",
        'vector_uptime_seconds{host="vector-0"} 4210 1730571882818',
        "# HELP vector_buffer_max_byte_size buffer_max_byte_size",
        "# TYPE vector_buffer_max_byte_size gauge",
        f"vector_buffer_max_byte_size{{{DISK}}} 268435488 1730571882818",
        f"vector_buffer_max_event_size{{{MEMORY}}} 500 1730571882818",
        # Its own metrics are under way at any moment.
        f"vector_buffer_events{{{MEMORY}}} 3 1730571882818",
        f"vector_component_received_events_total{{{OWN}}} 99 1730571882818",
        f"vector_component_received_events_total{{{OUT}}} 99 1730571882818",
        f"vector_component_sent_events_total{{{OUT}}} 60 1730571882818",
    )
    return "\n".join((*always, *(f"{line} 1730571882818" for line in lines), ""))


def delivered(received: int, sent: int) -> tuple[str, str]:
    return (
        f"vector_component_received_events_total{{{SINK}}} {received}",
        f"vector_component_sent_events_total{{{SINK}}} {sent}",
    )


def totals(received: int, sent: int) -> tuple[str, str]:
    return (
        f"vector_buffer_received_events_total{{{DISK}}} {received}",
        f"vector_buffer_sent_events_total{{{DISK}}} {sent}",
    )


def gauge(events: int, name: str = "vector_buffer_events") -> str:
    return f"{name}{{{DISK}}} {events}"


@pytest.mark.parametrize(
    ("lines", "rest"),
    [
        pytest.param((), (), id="just started, nothing came yet"),
        pytest.param((gauge(0), *totals(500, 500), *delivered(500, 500)), (), id="empty"),
        pytest.param((gauge(20), *totals(500, 480), *delivered(500, 480)), ("ch holds 20", "ch has 20"), id="holds"),
        pytest.param((gauge(0), *totals(500, 480), *delivered(480, 480)), ("ch holds 20",), id="gauge too low"),
        pytest.param((gauge(625), *totals(500, 500), *delivered(500, 500)), (), id="gauge stuck, 0.50 to 0.54"),
        pytest.param((gauge(-7), *totals(500, 500), *delivered(500, 500)), (), id="gauge negative, before 0.50"),
        pytest.param((gauge(0), *totals(0, 480)[1:], *delivered(480, 480)), (), id="total of received expired"),
        pytest.param((gauge(20), *totals(0, 480)[1:], *delivered(480, 480)), ("ch holds 20",), id="expired and held"),
        pytest.param(delivered(500, 480), ("ch has 20",), id="all of the buffer expired, and it cannot deliver"),
        pytest.param(delivered(500, 500), (), id="all of the buffer expired long ago"),
        pytest.param((gauge(5),), ("ch holds 5",), id="found on disk"),
        pytest.param((gauge(5, "vector_buffer_size_events"),), ("ch holds 5",), id="later name of the gauge"),
        pytest.param(
            (
                gauge(0),
                *totals(500, 500),
                *delivered(500, 499),
                f'vector_component_discarded_events_total{{{SINK},intentional="false"}} 1',
            ),
            (),
            id="one was dropped",
        ),
        pytest.param(
            (gauge(0), *totals(500, 497), f'vector_buffer_discarded_events_total{{{DISK},intentional="false"}} 3'),
            (),
            id="three were damaged on disk",
        ),
    ],
)
def test_what_is_not_stored(lines: tuple[str, ...], rest: tuple[str, ...]) -> None:
    found = parse("x", real(*lines)).rest
    assert len(found) == len(rest)
    assert all(sentence.startswith(f"{wanted} ") for sentence, wanted in zip(found, rest, strict=True))


def test_its_own_metrics_are_no_sign_of_a_writer() -> None:
    source = f"vector_component_received_events_total{{{SOURCE}}} 500"
    reading = parse("x", real(source, gauge(0), *totals(500, 500), *delivered(500, 500)))
    assert {name for name, _, _ in reading.counts} == {"in", "ch"}
    assert (reading.taken, reading.uptime, reading.lost) == (500, 4210, 0)


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("", "shows no age"),
        ("<html>not found</html>", "is no page of metrics"),
        ("vector_uptime_seconds 5\n", "shows no buffer on disk"),
        (real().replace('buffer_type="disk"', 'buffer_type="memory"'), "shows no buffer on disk"),
        (f"vector_buffer_max_byte_size{{{DISK}}} 5\n", "shows no age"),
    ],
)
def test_pages_that_prove_nothing(page: str, told: str) -> None:
    with pytest.raises(UnreadableError, match=told):
        parse("x", page)


def test_a_buffer_that_falls_silent_still_holds_what_it_held(tmp_path: Path) -> None:
    """Its series expire while it holds events and nothing moves."""
    found = cluster()
    found.pages = [
        holding(5),
        lambda uptime: "\n".join(
            line for line in holding(0)(uptime).splitlines() if "_buffer_max" in line or "uptime" in line
        ),
    ]
    with (
        served(found, tmp_path) as site,
        pytest.raises(RecoveryError, match="did not drain in time: out holds 5 events"),
        Quiesce(site.settings(seconds=0.2), site.api(), pace=0.001)(lambda _line: None),
    ):
        pytest.fail("not quiet")
    assert found.annotated() == {}


def test_a_buffer_that_was_restarted_while_the_point_was_taken(tmp_path: Path) -> None:
    """Its counters begin anew. Nothing came in since, and no writer was started: the point is good."""
    found = cluster()
    with (
        served(found, tmp_path) as site,
        Quiesce(site.settings(), site.api(), pace=0.001)(lambda _line: None),
    ):
        found.pages = [lambda _uptime: empty(received=0)(0.5)]
    assert found.annotated() == {}


class Store:
    """Takes rows when it is let."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.asked = threading.Event()

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[bytes]) -> None:
        assert table
        assert columns
        assert rows
        self.asked.set()
        self.open.wait()


def test_the_stand_in_tells_the_same_as_vector(tmp_path: Path) -> None:
    """Its own buffer, sink and metrics: held and in flight while the store does not answer, nothing afterwards."""
    component, store = Component("clickhouse_scalar", "sink", "clickhouse"), Store()
    buffer = Buffer(tmp_path, 2**20)
    counters = Counters(component)
    sink = Sink(component.id, tables.SCALAR, buffer, store, counters, flush_seconds=0.01, flush_events=10)
    registry = CollectorRegistry()
    registry.register(Exposition([counters], [(component, buffer)]))

    def reading() -> tuple[str, ...]:
        return parse("x", generate_latest(registry).decode()).rest

    assert reading() == ()
    for batch in (10, 15):
        buffer.append([b"%d" % number for number in range(batch)], 0.0)
    assert reading() == ("clickhouse_scalar holds 25 events",)
    sink.start()
    store.asked.wait()
    assert reading() == ("clickhouse_scalar holds 25 events", "clickhouse_scalar has 10 events in flight")
    store.open.set()
    while buffer.totals().held.events:
        sink.join(0.01)
    sink.stop()
    sink.join()
    assert reading() == ()


def test_an_api_server_that_is_not_there(tmp_path: Path) -> None:
    with served(cluster(), tmp_path) as site:
        api = site.api()
    with pytest.raises(RecoveryError, match=r"get of deployments /x got no answer .*is the cluster running"):
        api.ask("get", "deployments", "/x")


def test_outside_of_a_pod_a_kubeconfig_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(RecoveryError, match="service account of this pod cannot be used"):
        Cluster()
    with pytest.raises(RecoveryError, match=r"context c of .*none cannot be used"):
        Cluster(tmp_path / "none", "c")


@pytest.mark.parametrize(
    ("spec", "query"),
    [
        ({"matchLabels": {"a": "1", "b": "2"}}, "a=1,b=2"),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, "a in (1,2)"),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, "a notin (1)"),
        ({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}, "a=1,b"),
        ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, "!b"),
    ],
)
def test_selectors(spec: dict[str, object], query: str) -> None:
    assert selector(spec) == query


def test_a_selector_of_everything_is_refused() -> None:
    with pytest.raises(RecoveryError, match="no selector"):
        selector({})
