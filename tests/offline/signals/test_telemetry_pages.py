"""Pages of collectors, VictoriaLogs and Jaeger, against what the programs expose that run as in their pods.

They are asked as Prometheus asks, which takes names with dots, and relabelled as it relabels.
"""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import requests

from components.logs.names import INGEST_PATH
from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.names import GRPC_PORT, METRICS_PORT, SPAN_METRICS_PORT
from components.otel_collector.redaction import ORDER
from components.scrape import metric_relabels
from signals.budget import series
from signals.catalogue import PRODUCERS, producer
from signals.catalogue.model import Metric, MetricType, Presence, Producer
from signals.rules.telemetry_records import FILES, REDACTION
from signals.thresholds import Sizing
from tests.offline.components.logs.program import Logs
from tests.offline.components.logs.test_manifests import ARGS as LOGS_ARGS
from tests.offline.components.otel_collector.examples import ARGS, LOGS, TRACES
from tests.offline.components.otel_collector.otlp import logs, record, sent, span, traces
from tests.offline.components.otel_collector.program import Collector, eventually
from tests.offline.components.relabel import apply
from tests.offline.components.traces.program import Jaeger
from tests.offline.components.traces.test_manifests import ARGS as TRACES_ARGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from components.otel_collector.args import OtelCollectorArgs

ACCEPT = {
    "Accept": "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4"
}
"""As Prometheus 3 asks."""
POD = "obs_infer-0_0a1b2c3d-0000-4000-8000-000000000001"
_SAMPLE = re.compile(r"^([A-Za-z_:]\w*)(?:\{(.*)\})? \S+(?: # .*)?$", re.MULTILINE)
_LABEL = re.compile(r'(?:"([^"]+)"|(\w+))="((?:[^"\\]|\\.)*)"')
Series = dict[str, list[dict[str, str]]]


def stored(page: Producer, text: str) -> Series:
    """Name of a series → labels of each, as they are when relabelling is done."""
    found: Series = {}
    rules = metric_relabels(page)
    for name, labels in _SAMPLE.findall(text):
        own = {quoted or plain: value for quoted, plain, value in _LABEL.findall(labels)}
        # The target's label wins: the producer's is kept under another name.
        own = {("exported_job" if label == "job" else label): value for label, value in own.items()}
        kept = apply(rules, {"__name__": name, **own})
        if kept is not None:
            found.setdefault(name, []).append(kept)
    return found


def faults(page: Producer, text: str) -> list[str]:
    """What the page says and the program does not keep."""
    declared = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    found = stored(page, text)
    return [fault for metric in page.metrics for fault in _faults(metric, declared, found)]


def _faults(metric: Metric, declared: dict[str, str], found: Series) -> list[str]:
    histogram = metric.type is MetricType.HISTOGRAM
    there = found.get(f"{metric.name}_count" if histogram else metric.name, [])
    if not there:
        return [f"{metric.name} is not there"] if metric.presence is Presence.ALWAYS else []
    # OpenMetrics declares a counter without its suffix.
    type_ = declared.get(metric.name, declared.get(metric.name.removesuffix("_total"), "unknown"))
    wrong = [] if type_ == metric.type.value else [f"{metric.name} is a {type_}, not a {metric.type.value}"]
    wrong += [f"{metric.name} has no label {name}" for name in metric.labels if not any(x.get(name) for x in there)]
    known = {*metric.labels, *metric.optional, "__name__"}
    return wrong + sorted({f"{metric.name} has {name}" for labels in there for name in labels if name not in known})


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Job → its page, after a line of a container, records and spans by OTLP went from an agent into both stores."""
    top = tmp_path_factory.mktemp("telemetry")
    places = {name: top / name for name in ("logs", "traces", "gateway", "agent")}
    for place in places.values():
        place.mkdir()
    store, jaeger = Logs(places["logs"]), Jaeger(places["traces"])
    args = replace(
        ARGS,
        logs=replace(LOGS, endpoint=f"{store.url}{INGEST_PATH}"),
        traces=replace(TRACES, endpoint=f"127.0.0.1:{jaeger.ports['otlp-grpc']}"),
        sampling=replace(ARGS.sampling, decision_wait_seconds=1),
        scrape_interval_seconds=1,
    )
    with ExitStack() as stack:
        stack.enter_context(store.running(LOGS_ARGS))
        stack.enter_context(jaeger.running(TRACES_ARGS))
        gateway = stack.enter_context(Collector(places["gateway"], render_gateway(args).files).running())
        agent = stack.enter_context(_agent(places["agent"], args, gateway).running())
        _traffic(agent, gateway)
        addresses = {
            "otel-agent": f"http://127.0.0.1:{agent.ports[METRICS_PORT]}",
            "otel-gateway": f"http://127.0.0.1:{gateway.ports[METRICS_PORT]}",
            "span-metrics": f"http://127.0.0.1:{gateway.ports[SPAN_METRICS_PORT]}",
            "victoria-logs": store.url,
            "jaeger": jaeger.at("metrics"),
        }
        yield {job: _whole(producer(job), f"{address}/metrics") for job, address in addresses.items()}


def _agent(directory: Path, args: OtelCollectorArgs, gateway: Collector) -> Collector:
    service, here = f"otel-gateway.{args.namespace}.svc:{GRPC_PORT}", f"127.0.0.1:{gateway.ports[GRPC_PORT]}"
    files = {name: text.replace(service, here) for name, text in render_agent(args).files.items()}
    return Collector(directory, files | no_windows(args).files, {"K8S_NODE_NAME": "node-7"})


def _traffic(agent: Collector, gateway: Collector) -> None:
    """Until everything has arrived."""
    log = agent.pods / POD / "server" / "0.log"
    log.parent.mkdir(parents=True)
    log.write_text("2026-11-30T11:00:00.000000001Z stdout F ready\n", encoding="utf-8")
    resource: dict[str, Any] = {"service.name": "infer", "team": "vision"}
    sent(agent.http, logs([record("hello")], resource))
    sent(agent.http, traces([span("POST /v1/chat", error=True)], resource))
    for name, wanted in (("log_records", 2), ("spans", 1)):
        eventually(
            lambda name=name, wanted=wanted: gateway.total(f"otelcol_exporter_sent_{name}") >= wanted,  # type: ignore[misc]  # mypy cannot infer a lambda with defaults
            lambda name=name: f"{name} never arrived: {agent.log.read_text()[-2000:]}",  # type: ignore[misc]  # as above
        )
    eventually(lambda: gateway.total("traces_span_metrics_calls", SPAN_METRICS_PORT) >= 1, lambda: "no span metrics")


def _whole(page: Producer, url: str) -> str:
    """The page once nothing is missing, or as it is after a minute: Jaeger counts its storage every 10 s."""
    deadline = time.monotonic() + 60
    while True:
        text = _asked(url)
        missing = [fault for fault in faults(page, text) if fault.endswith("is not there")]
        if not missing or time.monotonic() > deadline:
            return text
        time.sleep(0.5)


def _asked(url: str) -> str:
    answer = requests.get(url, headers=ACCEPT, timeout=60)
    assert answer.ok, answer.text
    return answer.text


JOBS = ("otel-agent", "otel-gateway", "span-metrics", "victoria-logs", "jaeger")


@pytest.mark.parametrize("job", JOBS)
def test_program_exposes_its_page(job: str, pages: dict[str, str]) -> None:
    assert faults(producer(job), pages[job]) == []


@pytest.mark.parametrize("job", JOBS)
def test_program_keeps_its_budget_with_little_traffic(job: str, pages: dict[str, str]) -> None:
    page = producer(job)
    one = Sizing(nodes=1)
    assert 0 < sum(map(len, stored(page, pages[job]).values())) <= series(page, one) // 2 + 50


@pytest.mark.parametrize("job", JOBS)
def test_no_two_series_are_made_one(job: str, pages: dict[str, str]) -> None:
    """What a label change takes off must not be what tells two series apart."""
    found = [tuple(sorted(s.items())) for each in stored(producer(job), pages[job]).values() for s in each]
    assert len(found) == len(set(found))


SEEN = {
    "otel-agent": ("receiver_accepted_log_records", "exporter_sent_log_records", "processor_incoming_items"),
    "otel-gateway": (
        *("receiver_accepted_spans", "exporter_sent_spans", "processor_outgoing_items"),
        *("processor_tail_sampling_global_count_traces_sampled", "processor_tail_sampling_new_trace_id_received"),
        *("processor_tail_sampling_sampling_traces_on_memory", "receiver_refused_spans", "receiver_failed_spans"),
    ),
    "jaeger": ("receiver_accepted_spans_total", "exporter_sent_spans_total", "exporter_send_failed_spans_total"),
}


@pytest.mark.parametrize("job", SEEN)
def test_what_traffic_makes_appear_is_there(job: str, pages: dict[str, str]) -> None:
    found = stored(producer(job), pages[job])
    assert [name for name in SEEN[job] if f"otelcol_{name}" not in found] == []


def test_names_that_rules_match_are_those_of_the_configuration(pages: dict[str, str]) -> None:
    """Receivers of files, processors of redaction, filters, and exporters to a store, by the patterns of rules."""
    agent, gateway = (stored(producer(job), pages[job]) for job in ("otel-agent", "otel-gateway"))
    receivers = {s["receiver"] for s in agent["otelcol_receiver_accepted_log_records"]}
    assert {name for name in receivers if re.fullmatch(FILES, name)} == {"file_log"}
    given = {s["processor"] for s in gateway["otelcol_processor_incoming_items"]}
    assert {name for name in given if re.fullmatch(REDACTION, name)} == set(ORDER)
    assert any(re.fullmatch("filter(/.*)?", s["processor"]) for s in agent["otelcol_processor_incoming_items"])
    for signal, items in (("traces", "spans"), ("logs", "log_records")):
        exporters = {s["exporter"] for s in gateway[f"otelcol_exporter_sent_{items}"]}
        queues = {s["exporter"] for s in gateway["otelcol_exporter_queue_size"] if s["data_type"] == signal}
        assert exporters == queues
        assert all(name.startswith("otlp") for name in exporters)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": "gone"}, "gone is not there"),
        ({"type": MetricType.COUNTER}, "x is a gauge, not a counter"),
        ({"labels": ("otel_signal", "exporter")}, "x has no label exporter"),
        ({"labels": ()}, "x has otel_signal"),
    ],
)
def test_page_that_is_not_kept_is_seen(change: dict[str, Any], fault: str) -> None:
    metric = Metric(name="x", type=MetricType.GAUGE, unit="1", meaning="X.", labels=("otel_signal",))
    page = replace(producer("otel-gateway"), metrics=(metric,))
    for text in ('# TYPE x gauge\nx{"otel.signal"="logs"} 1\n', '# TYPE x gauge\nx{otel_signal="logs"} 1\n'):
        assert faults(page, text) == []
        assert faults(replace(page, metrics=(replace(metric, **change),)), text) == [fault]


def test_every_page_of_telemetry_is_asked() -> None:
    assert set(JOBS) < {page.job for page in PRODUCERS}
