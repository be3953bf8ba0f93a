"""Metrics of a model server as vLLM 0.33.0 exposes them.

Names, types, labels, buckets: `vllm/v1/metrics/loggers.py` (PrometheusStatLogger) and `vllm/v1/metrics/buckets.py`.
Which one counts when: `vllm/v1/metrics/stats.py` (IterationStats). Counters are served with `_total` behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from sandbox.workloads.inference.asking import MAX_MODEL_LEN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sandbox.workloads.inference.telemetry import Ledger

FINISHED: Final = ("stop", "length", "abort", "error", "repetition")
SOURCES: Final = ("local_compute", "local_cache_hit", "external_kv_transfer")
ENGINE: Final = "0"
LABELS: Final = ("model_name", "engine")
LATENCY_BUCKETS: Final = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    *(120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)
FIRST_TOKEN_BUCKETS: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
    *(20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
TOKEN_BUCKETS: Final = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
PREEMPTION_BUCKETS: Final = (1, 2, 3, 4, 5, 10, 20)
COUNT_BUCKETS: Final = tuple(
    m * 10**exponent for exponent in range(5) for m in (1, 2, 5) if m * 10**exponent <= MAX_MODEL_LEN
)
_REQUEST_SECONDS: Final = {
    "e2e_request_latency": "from arrival to the last token",
    "request_queue_time": "waiting for a place in the engine",
    "request_inference_time": "in the engine",
    "request_prefill_time": "from its place in the engine to the first token",
    "request_decode_time": "from the first to the last token",
}
_REQUEST_TOKENS: Final = {
    "request_prompt_tokens": "of the prompt",
    "request_generation_tokens": "generated",
    "request_prefill_kv_computed_tokens": "of the prompt that were computed, not found in a cache",
}


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A request that the engine is done with. Times in seconds. reason: one of FINISHED."""

    reason: str
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    e2e: float
    queued: float
    prefill: float
    decode: float


class ModelMetrics:
    """The families of one model server, all of one model."""

    def __init__(self, model: str, state: Mapping[str, Callable[[], float]]) -> None:
        """state: `running`, `waiting` and `usage` (0 to 1), asked at every scrape."""
        self.registry = CollectorRegistry()
        self._labels = (model, ENGINE)
        self._gauge("num_requests_running", "Requests in the engine", state["running"])
        self._gauge("num_requests_waiting", "Requests that wait for a place in the engine", state["waiting"])
        reasons = Gauge(
            "vllm:num_requests_waiting_by_reason",
            "Requests that wait, by reason",
            (*LABELS, "reason"),
            registry=self.registry,
        )
        reasons.labels(*self._labels, "capacity").set_function(state["waiting"])
        reasons.labels(*self._labels, "deferred").set(0)
        self._gauge("kv_cache_usage_perc", "Part of the KV cache in use, 0 to 1", state["usage"])
        self._prefix_queries = self._counter("prefix_cache_queries", "Tokens looked up in the prefix cache")
        self._prefix_hits = self._counter("prefix_cache_hits", "Tokens found in the prefix cache")
        self._external_queries = self._counter("external_prefix_cache_queries", "Tokens asked of other instances")
        self._external_hits = self._counter("external_prefix_cache_hits", "Tokens got from other instances")
        self._counter("num_preemptions", "Preemptions; there are none here")
        self._prompt = self._counter("prompt_tokens", "Tokens of prompts processed")
        self._by_source = Counter(
            "vllm:prompt_tokens_by_source", "Tokens of prompts, by source", (*LABELS, "source"), registry=self.registry
        )
        self._cached = self._counter("prompt_tokens_cached", "Tokens of prompts that were in a cache")
        self._generated = self._counter("generation_tokens", "Tokens generated")
        self._success = Counter(
            "vllm:request_success",
            "Requests that the engine is done with, by reason",
            (*LABELS, "finished_reason"),
            registry=self.registry,
        )
        for reason in FINISHED:
            self._success.labels(*self._labels, reason)
        for source in SOURCES:
            self._by_source.labels(*self._labels, source)
        self._histograms()

    def _histograms(self) -> None:
        self._first_token = self._histogram("time_to_first_token_seconds", "Until the first token", FIRST_TOKEN_BUCKETS)
        self._between = self._histogram("inter_token_latency_seconds", "Between two tokens", TOKEN_BUCKETS)
        self._per_token = self._histogram(
            "request_time_per_output_token_seconds", "Mean time between a request's tokens", TOKEN_BUCKETS
        )
        self._preempted = self._histogram("request_num_preemptions", "Preemptions of a request", PREEMPTION_BUCKETS)
        self._seconds = {
            name: self._histogram(f"{name}_seconds", f"Seconds {text}", LATENCY_BUCKETS)
            for name, text in _REQUEST_SECONDS.items()
        }
        self._tokens = {
            name: self._histogram(name, f"Tokens {text}", COUNT_BUCKETS) for name, text in _REQUEST_TOKENS.items()
        }

    def first_token(self, seconds: float) -> None:
        """The first token came. seconds: since arrival."""
        self._first_token.observe(seconds)
        self._generated.inc()

    def token(self, seconds: float) -> None:
        """One more token. seconds: since the one before."""
        self._between.observe(seconds)
        self._generated.inc()

    def prompt(self, tokens: int, *, local: int, external: int, asked_external: bool) -> None:
        """A prompt was processed. local: tokens of the own prefix cache; external: of another instance."""
        self._prefix_queries.inc(tokens)
        self._prefix_hits.inc(local)
        if asked_external:
            self._external_queries.inc(tokens - local)
            self._external_hits.inc(external)
        self._prompt.inc(tokens)
        self._cached.inc(local + external)
        for source, count in zip(SOURCES, (tokens - local - external, local, external), strict=True):
            self._by_source.labels(*self._labels, source).inc(count)

    def finished(self, request: Finished) -> None:
        """The engine is done with a request, however it ended."""
        self._success.labels(*self._labels, request.reason).inc()
        seconds = (request.e2e, request.queued, request.prefill + request.decode, request.prefill, request.decode)
        for name, value in zip(_REQUEST_SECONDS, seconds, strict=True):
            self._seconds[name].observe(value)
        counts = (request.prompt_tokens, request.generated_tokens, request.prompt_tokens - request.cached_tokens)
        for name, count in zip(_REQUEST_TOKENS, counts, strict=True):
            self._tokens[name].observe(count)
        later = request.generated_tokens - 1
        self._per_token.observe(request.decode / later if later > 0 else 0)
        self._preempted.observe(0)

    def _gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        Gauge(f"vllm:{name}", text, LABELS, registry=self.registry).labels(*self._labels).set_function(value)

    def _counter(self, name: str, text: str) -> Counter:
        return Counter(f"vllm:{name}", text, LABELS, registry=self.registry).labels(*self._labels)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        made = Histogram(f"vllm:{name}", text, LABELS, buckets=buckets, registry=self.registry)
        return made.labels(*self._labels)


def ledger_registry(ledger: Ledger) -> CollectorRegistry:
    """What a role sent, for whoever balances it with what arrived."""
    registry = CollectorRegistry()
    items = Counter(
        "sandbox_inference_otlp_items",
        "Spans, log records and lines of standard output: made, taken by the collector (sent), not taken (failed)",
        ("signal", "outcome"),
        registry=registry,
    )
    for (signal, outcome), count in ledger.counts().items():
        items.labels(signal, outcome).inc(count)
    return registry


def text(*registries: CollectorRegistry) -> bytes:
    """One page in Prometheus' text format."""
    return b"".join(generate_latest(registry) for registry in registries)
