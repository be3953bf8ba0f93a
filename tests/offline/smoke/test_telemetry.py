"""Telemetry from end to end: smoke against the real collector, VictoriaLogs and Jaeger, in order and out of order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from smoke import limits
from tests.offline.smoke.telemetry_programs import NODE, Stores, Ways
from tests.offline.smoke.telemetry_site import CHECKS, KILL, Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.offline.smoke.conftest import World


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """VictoriaLogs and Jaeger."""
    made = Stores(tmp_path_factory.mktemp("stores"))
    yield made
    made.close()


@pytest.fixture
def make(world: World, stores: Stores, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Site]]:
    """Makes the one site of a test, whose gateway may have wrong ways. Deadlines are those of a slow machine."""
    monkeypatch.setenv("K8S_NODE_NAME", NODE)
    for name in ("TELEMETRY", "TARGETS", "SPAN_METRICS", "LEAST_WAIT", "GATEWAY_RETURNS", "POD_REPLACED"):
        monkeypatch.setattr(limits, name, 60.0)
    for name, value in {"PIPELINE_LAG": 3.0, "TRACES_STILL": 1.0, "POLL_EVERY": 0.2, "CLEAN_UP": 5.0}.items():
        monkeypatch.setattr(limits, name, value)
    for name in ("KILL_MARGIN", "KILL_AFTER"):
        monkeypatch.setattr(limits, name, 2.0)
    sites: list[Site] = []

    def one(ways: Ways | None = None) -> Site:
        sites.append(Site(world, stores, ways or Ways()))
        return sites[-1]

    yield one
    for site in sites:
        site.close()


def test_stack_in_order_is_green_and_says_what_it_saw(make: Callable[..., Site]) -> None:
    site = make()
    code, told = site.run(*CHECKS)
    assert code == 0, told
    assert re.search(
        r"\d+ canaries of service \S+ are in none of VictoriaLogs, Jaeger, the gateway", told["telemetry.redaction"]
    )
    assert "20 failed and 20 slow traces are all kept, each whole" in told["telemetry.sampling"]
    assert "20 slow traces whose root came 3 s late are all kept, each whole" in told["telemetry.sampling"]
    assert "10 % allows 9 to 45" in told["telemetry.sampling"]
    code, told = site.run(KILL, impact="disruptive")
    assert code == 0, told
    assert re.search(r"log records: (\d+) sent, \1 found, 0 lost", told[KILL]), told
    assert re.search(r"traces: \d+ sent, \d+ found, \d+ lost, \d+ stored twice; the bound is \d+", told[KILL]), told


def test_everything_out_of_order_is_red_and_named(make: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> None:
    _hurry(monkeypatch, 8.0)
    site = make(Ways(redacts=False, unkept=("errors",), delivers=False))
    site.prints = site.scrapes = False
    promised = site.telemetry
    promised["agent"]["revision"] = promised["traces"]["revision"] = "another"
    promised["resource_attributes"] = {"k8s.cluster.name": "elsewhere"}
    promised["logs"] = {"retention_seconds": 86400, "retention_bytes": 1}
    promised["traces"]["retention_seconds"] = 60
    code, told = site.run(*CHECKS)
    expected = {
        "telemetry.config": "agent, pod otel-agent-x: seen revision",
        "telemetry.accounting": "gateways, logs: seen",
        "telemetry.trace": "trace ",
        "telemetry.log": "not found, nothing of its pod",
        "telemetry.redaction": "gauge's point attribute (address) of metrics: seen its canary is in the gateway's",
        "telemetry.sampling": "failed traces: seen",
        "telemetry.span_metrics": "of span 'failed leaf', STATUS_CODE_ERROR: seen no series; expected 20",
        "logs.retention": "flag retentionPeriod: seen 7d; expected 86400 s",
        "traces.retention": "ttl of spans in Jaeger's configuration: seen 48h; expected 60 s",
    }
    assert code == 1, told
    assert {name: words for name, words in expected.items() if words not in told[name]} == {}, told
    assert "vl_max_disk_space_usage_bytes: seen 1073741824; expected 1" in told["logs.retention"]
    own = site.stores.jaeger_config.revision
    assert f"Jaeger, pod jaeger-0: seen revision {own}; expected revision another" in told["traces.retention"]


def test_configuration_that_somebody_changed_is_red_although_its_own_revision_is_shown(
    make: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    _hurry(monkeypatch, 2.0)
    site = make()
    (gateway,), (agent, debug), (jaeger,) = (site.config_maps[f"{n}"] for n in ("otel-gateway", "otel-agent", "jaeger"))
    for made, file in ((gateway, "collector.yaml"), (jaeger, "jaeger.yaml"), (debug, "debug.yaml")):
        made["data"][file] += "# by hand\n"
    agent["metadata"]["uid"] = "made again"
    jaeger["immutable"] = False
    code, told = site.run("telemetry.config", "traces.retention")
    assert code == 1, told
    names = {one["metadata"]["name"] for one in (gateway, agent)}
    for name in names:
        assert name in told["telemetry.config"]
    assert f"ConfigMap {gateway['metadata']['name']}: seen files of revision r" in told["telemetry.config"]
    assert "agent, pod otel-agent-x: seen made for another ConfigMap otel-agent-config-r" in told["telemetry.config"]
    assert "ConfigMap otel-debug-info: seen revision r" in told["telemetry.config"]
    assert "files of revision r" in told["traces.retention"]
    assert "can be changed; expected immutable: true" in told["traces.retention"]


def test_gateway_that_decides_before_the_root_is_there_is_red(
    make: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    _hurry(monkeypatch, 20.0)
    code, told = make(Ways(hasty=True)).run("telemetry.sampling")
    assert code == 1, told
    assert re.search(r"slow late-root traces: seen \d+ of 20 are not there", told["telemetry.sampling"]), told


def test_wrong_share_and_a_queue_in_memory_are_red(make: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> None:
    site = make(Ways(redacts=False, keep_percent=50.0, volatile=True))
    code, told = site.run("telemetry.sampling")
    assert code == 1, told
    assert "of 250 kept" in told["telemetry.sampling"]
    assert "9 to 45, for the promised 10 %" in told["telemetry.sampling"]
    _hurry(monkeypatch, 10.0)
    code, told = site.run(KILL, impact="disruptive")
    assert code == 1, told
    assert re.search(r"log records: seen \d+ of \d+ lost", told[KILL]), told


def _hurry(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """What is wrong stays wrong: nobody has to wait long for it."""
    for name in ("TELEMETRY", "TARGETS", "SPAN_METRICS", "GATEWAY_RETURNS"):
        monkeypatch.setattr(limits, name, seconds)
    monkeypatch.setattr(limits, "LEAST_WAIT", 1.0)
