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

    from opentelemetry.proto.trace.v1.trace_pb2 import Span

    from components.otel_collector.args import OtelCollectorArgs

ERRORS, SLOW, REST, TENANT = 30, 30, 3000, 400
RARE: Final = 1e-6


def given(backend: Backend, **changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any of its fields
    """The gateway with this backend, which decides after a second."""
    sampling = replace(
        ARGS.sampling,
        slow_ms=2000,
        decision_wait_seconds=1,
        decision_wait_after_root_seconds=1,
        keep_percent=5.0,
        tenants={"all": 100.0, "half": 50.0},
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


def waiting(backend: Backend, **changes: Any) -> OtelCollectorArgs:  # noqa: ANN401  # any of its fields
    """The same without tenants, where the waits are others."""
    return given(backend, sampling=replace(given(backend).sampling, tenants={}, **changes))


def _decided(collector: Collector) -> float:
    return collector.total("otelcol_processor_tail_sampling_global_count_traces_sampled")


def _child(trace: bytes, name: str, *, error: bool = False) -> Span:
    """A span whose parent is not there: it ends first, and is sent first."""
    return span(name, trace=trace, parent=b"parent-x", error=error)


def _ids(number: int) -> list[bytes]:
    return [os.urandom(16) for _ in range(number)]


def _pass_a_wait(collector: Collector, backend: Backend) -> None:
    """Until a trace was decided whose root came after all before: whatever had its root by then is decided as well."""
    one = os.urandom(16)
    sent(collector.http, traces([span("clock", trace=one, error=True)]))
    eventually(lambda: one in [s.trace_id for s in backend.spans()], lambda: str(len(backend.spans())))


def _names(backend: Backend) -> dict[bytes, set[str]]:
    """Trace → names of the spans of it that were kept."""
    found: dict[bytes, set[str]] = {}
    for one in backend.spans():
        found.setdefault(one.trace_id, set()).add(one.name)
    return found


def test_errors_and_slow_ones_stay_and_a_share_of_the_rest(pair: tuple[Collector, Backend]) -> None:
    collector, backend = pair
    before, calls = _decided(collector), collector.total("traces_span_metrics_calls", SPAN_METRICS_PORT)
    kinds = {"error": ERRORS, "slow": SLOW, "rest": REST}
    spans = {
        "error": [span("e", error=True) for _ in range(ERRORS)],
        "slow": [span("s", seconds=2 + n % 2) for n in range(SLOW)],
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


def test_a_root_is_waited_for_as_long_as_it_takes_and_then_decides(tmp_path: Path) -> None:
    """Children come first; each kind is judged by all of its spans once the root is there, and by none before."""
    backend = Backend()
    files = render_gateway(waiting(backend, decision_wait_seconds=600)).files
    slow, failed, rest, lost = _ids(SLOW), _ids(ERRORS), _ids(REST), _ids(5)
    # What is slow is told by the times in spans, not by when they come: all were made now, and roots are held back.
    roots = [span("root", trace=one, seconds=3) for one in slow] + [span("root", trace=one) for one in failed + rest]
    children = [_child(one, "child", error=one in failed + lost) for one in slow + failed + rest + lost]
    collector = Collector(tmp_path, files)
    with backend.up(), collector.running():
        sent(collector.http, traces(children))
        _pass_a_wait(collector, backend)
        assert _decided(collector) == 1, "something was decided before its root was there"
        sent(collector.http, traces(roots))
        total = 1 + SLOW + ERRORS + REST
        eventually(lambda: _decided(collector) == total, lambda: f"{_decided(collector)} of {total}")
        kept = collector.total("otelcol_processor_tail_sampling_global_count_traces_sampled", sampled="true")
        eventually(lambda: len(backend.spans()) == 2 * kept - 1, lambda: f"{len(backend.spans())} of {kept} traces")
        found = _names(backend)
        assert all(found.get(one) == {"child", "root"} for one in slow + failed)
        assert {frozenset(found[one]) for one in rest if one in found} == {frozenset({"child", "root"})}
        assert within(sum(one in found for one in rest), REST, 0.05)
        assert not found.keys() & set(lost), "a trace was decided whose root never came"
    # Who is asked to stop decides about all that waits, however long it would, and has written down what is not sent.
    with backend.up(), collector.running():
        eventually(lambda: set(lost) <= _names(backend).keys(), lambda: f"{len(_names(backend))} traces")


def test_a_trace_without_a_root_is_decided_after_the_long_wait(tmp_path: Path) -> None:
    backend = Backend()
    files = render_gateway(waiting(backend, decision_wait_seconds=2, keep_percent=0.0)).files
    failed, rest = _ids(ERRORS), _ids(REST)
    with backend.up(), Collector(tmp_path, files).running() as collector:
        sent(collector.http, traces([_child(one, "child", error=True) for one in failed]))
        sent(collector.http, traces([_child(one, "child") for one in rest]))
        eventually(lambda: _decided(collector) == ERRORS + REST, lambda: str(_decided(collector)))
        eventually(lambda: len(backend.spans()) >= ERRORS, lambda: str(len(backend.spans())))
        assert _names(backend) == {one: {"child"} for one in failed}
        assert collector.total("otelcol_processor_tail_sampling_sampling_traces_on_memory") == 0


def test_what_comes_after_the_decision_follows_it_whatever_it_says(tmp_path: Path) -> None:
    """Also a root that would have made its trace slow: that is what too short a wait costs, and it is counted."""
    backend = Backend()
    files = render_gateway(waiting(backend, keep_percent=0.0)).files
    kept, gone = _ids(ERRORS), _ids(SLOW)
    late = "otelcol_processor_tail_sampling_early_releases_from_cache_decision"
    with backend.up(), Collector(tmp_path, files).running() as collector:
        sent(collector.http, traces([_child(one, "child", error=True) for one in kept]))
        sent(collector.http, traces([_child(one, "child") for one in gone]))
        eventually(lambda: _decided(collector) == ERRORS + SLOW, lambda: str(_decided(collector)))
        sent(collector.http, traces([span("root", trace=one, seconds=3) for one in (*kept, *gone)]))
        eventually(lambda: collector.total(late) == ERRORS + SLOW, lambda: str(collector.total(late)))
        assert collector.total(late, sampled="false") == SLOW
        eventually(lambda: len(backend.spans()) >= 2 * ERRORS, lambda: str(len(backend.spans())))
        assert _names(backend) == {one: {"child", "root"} for one in kept}


def test_a_full_gateway_refuses_and_counts_and_lives(tmp_path: Path) -> None:
    backend = Backend()
    tight = replace(ARGS.gateway, memory_bytes=96 * MIB)
    waits = replace(given(backend).sampling, decision_wait_seconds=20, decision_wait_after_root_seconds=20)
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
