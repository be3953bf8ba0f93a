"""Sampling, span metrics, the queue and the limiter of the real gateway."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Any, Final

import pytest

from components.otel_collector.config import render_gateway
from components.otel_collector.names import SPAN_METRICS_PORT
from tests.offline.components.otel_collector.backend import Backend, attributes_of
from tests.offline.components.otel_collector.examples import ARGS, MIB, args
from tests.offline.components.otel_collector.otlp import logs, record, send, sent, span, traces
from tests.offline.components.otel_collector.program import Collector, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from components.otel_collector.args import OtelCollectorArgs

ERRORS, SLOW, REST, TENANT = 30, 30, 3000, 400
RARE: Final = 1e-6


def given(backend: Backend, **changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any of its fields
    """The gateway with this backend, which decides after a second."""
    sampling = replace(
        ARGS.sampling, slow_ms=2000, decision_wait_seconds=1, keep_percent=5.0, tenants={"all": 100.0, "half": 50.0}
    )
    return backend.takes(args(**{"scrape_interval_seconds": 1, "sampling": sampling, **changes}))


def within(count: int, of: int, share: float) -> bool:
    """Whether so many out of so many are believable: neither tail is rarer than RARE."""

    def tail(low: int, high: int) -> float:
        return sum(
            exp(lgamma(of + 1) - lgamma(k + 1) - lgamma(of - k + 1) + k * log(share) + (of - k) * log(1 - share))
            for k in range(low, high + 1)
        )

    return tail(0, count) > RARE and tail(count, of) > RARE


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Collector, Backend]]:
    backend = Backend()
    files = render_gateway(given(backend)).files
    with backend.up(), Collector(tmp_path_factory.mktemp("sampling"), files).running() as collector:
        yield collector, backend


def _decided(collector: Collector) -> float:
    return collector.total("otelcol_processor_tail_sampling_global_count_traces_sampled")


def test_errors_and_slow_ones_stay_and_a_share_of_the_rest(pair: tuple[Collector, Backend]) -> None:
    collector, backend = pair
    before, calls = _decided(collector), collector.total("traces_span_metrics_calls", SPAN_METRICS_PORT)
    kinds = {"error": ERRORS, "slow": SLOW, "rest": REST}
    spans = {
        "error": [span("e", error=True) for _ in range(ERRORS)],
        "slow": [span("s", seconds=3) for _ in range(SLOW)],
        "rest": [span("r") for _ in range(REST)],
    }
    for kind in kinds:
        sent(collector.http, traces(spans[kind]))
    for team in ("all", "half"):
        sent(collector.http, traces([span(team) for _ in range(TENANT)], {"service.name": "s", "team": team}))
    total = sum(kinds.values()) + 2 * TENANT
    eventually(lambda: _decided(collector) - before == total, lambda: f"{_decided(collector) - before} of {total}")
    kept = collector.total("otelcol_processor_tail_sampling_global_count_traces_sampled", sampled="true")
    eventually(lambda: len({s.span_id for s in backend.spans()}) >= kept, lambda: f"{len(backend.spans())} of {kept}")
    names = [s.name for s in backend.spans()]
    assert (names.count("e"), names.count("s"), names.count("all")) == (ERRORS, SLOW, TENANT)
    assert within(names.count("r"), REST, 0.05)
    assert within(names.count("half"), TENANT, 0.5)
    eventually(
        lambda: collector.total("traces_span_metrics_calls", SPAN_METRICS_PORT) - calls == total,
        lambda: collector.exposed(SPAN_METRICS_PORT),
    )


def test_metrics_of_spans_name_a_trace(pair: tuple[Collector, Backend]) -> None:
    collector, _ = pair

    def shown() -> bool:
        # One is shown until the next flush, a second later.
        sent(collector.http, traces([span("shown")]))
        return "# {trace_id=" in collector.exposed(SPAN_METRICS_PORT)

    eventually(shown, lambda: collector.exposed(SPAN_METRICS_PORT))


def test_a_giant_trace_does_not_starve_others(pair: tuple[Collector, Backend]) -> None:
    collector, backend = pair
    giant, small = os.urandom(16), [os.urandom(16) for _ in range(100)]
    for part in range(50):
        sent(collector.http, traces([span("g", trace=giant) for _ in range(1000)]))
        pieces = [span("small", trace=one, error=part % 2 == 0) for one in small[part * 2 : part * 2 + 2]]
        sent(collector.http, traces(pieces))
        sent(collector.http, traces([span("small", trace=one, error=True) for one in small[part * 2 : part * 2 + 2]]))

    def complete() -> bool:
        found = [s.trace_id for s in backend.spans() if s.name == "small"]
        return all(found.count(one) == 2 for one in small)

    eventually(complete, lambda: str(len([s for s in backend.spans() if s.name == "small"])))
    assert collector.total("otelcol_processor_tail_sampling_sampling_trace_dropped_too_early") == 0


def test_a_killed_gateway_delivers_what_it_had_taken(tmp_path: Path) -> None:
    backend = Backend()
    collector = Collector(tmp_path, render_gateway(given(backend)).files)
    ids = [f"id-{number}" for number in range(500)]
    with collector.running():
        for start in range(0, len(ids), 25):
            records = [record("x", values={"nonce": one}) for one in ids[start : start + 25]]
            sent(collector.http, logs(records))
        sent(collector.http, traces([span("e", error=True, values={"nonce": one}) for one in ids]))
        # What has not been decided about is in memory alone; that much the documentation says is lost.
        eventually(lambda: _decided(collector) == len(ids), collector.exposed)
        collector.kill()
    assert backend.records() == []
    with backend.up(), collector.running():
        eventually(
            lambda: {one["attributes"]["nonce"] for one in backend.records()} == set(ids),
            lambda: f"{len(backend.records())} records",
        )
        eventually(
            lambda: {attributes_of(s.attributes)["nonce"] for s in backend.spans()} == set(ids),
            lambda: f"{len(backend.spans())} spans",
        )


def test_a_full_gateway_refuses_and_counts_and_lives(tmp_path: Path) -> None:
    backend = Backend()
    tight = replace(ARGS.gateway, memory_bytes=96 * MIB)
    waits = replace(given(backend).sampling, decision_wait_seconds=20)
    collector = Collector(tmp_path, render_gateway(given(backend, gateway=tight, sampling=waits)).files)
    request = traces([span("big", values={"text": "x" * 2000}) for _ in range(1000)])
    with backend.up(), collector.running(), ThreadPoolExecutor(2) as pool:
        assert collector.process is not None
        answers = list(pool.map(lambda _: send(collector.http, request).status_code, range(60)))
        assert set(answers) == {200, 503}
        refused = collector.total("otelcol_processor_memory_limiter_refused_spans")
        assert refused >= 1000 * answers.count(503)
        assert collector.total("otelcol_receiver_refused_spans") == refused
        assert collector.process.poll() is None
