"""Metrics of the model servers: vLLM's names, and values that follow from the requests that were served."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.offline.promtool import require_promtool
from tests.offline.sandbox.inference import service as running
from tests.offline.sandbox.inference.test_inference_traces import one, traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.sandbox.inference.service import Process, Service

# Read in vLLM 0.33.0, vllm/v1/metrics/loggers.py: type, and labels besides model_name and engine.
FAMILIES = {
    "vllm:num_requests_running": ("gauge", set()),
    "vllm:num_requests_waiting": ("gauge", set()),
    "vllm:num_requests_waiting_by_reason": ("gauge", {"reason"}),
    "vllm:kv_cache_usage_perc": ("gauge", set()),
    "vllm:prefix_cache_queries": ("counter", set()),
    "vllm:prefix_cache_hits": ("counter", set()),
    "vllm:external_prefix_cache_queries": ("counter", set()),
    "vllm:external_prefix_cache_hits": ("counter", set()),
    "vllm:num_preemptions": ("counter", set()),
    "vllm:prompt_tokens": ("counter", set()),
    "vllm:prompt_tokens_by_source": ("counter", {"source"}),
    "vllm:prompt_tokens_cached": ("counter", set()),
    "vllm:generation_tokens": ("counter", set()),
    "vllm:request_success": ("counter", {"finished_reason"}),
    "vllm:time_to_first_token_seconds": ("histogram", set()),
    "vllm:inter_token_latency_seconds": ("histogram", set()),
    "vllm:request_time_per_output_token_seconds": ("histogram", set()),
    "vllm:e2e_request_latency_seconds": ("histogram", set()),
    "vllm:request_queue_time_seconds": ("histogram", set()),
    "vllm:request_inference_time_seconds": ("histogram", set()),
    "vllm:request_prefill_time_seconds": ("histogram", set()),
    "vllm:request_decode_time_seconds": ("histogram", set()),
    "vllm:request_num_preemptions": ("histogram", set()),
    "vllm:request_prompt_tokens": ("histogram", set()),
    "vllm:request_generation_tokens": ("histogram", set()),
    "vllm:request_prefill_kv_computed_tokens": ("histogram", set()),
}
# vllm/v1/metrics/buckets.py, of the same version.
REQUEST = "0.3 0.5 0.8 1.0 1.5 2.0 2.5 5.0 10.0 15.0 20.0 30.0 40.0 50.0 60.0 120.0 240.0 480.0 960.0 1920.0 7680.0"
FIRST = "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0 160.0 640.0 2560.0"
BETWEEN = "0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0"
COUNT = "1.0 2.0 5.0 10.0 20.0 50.0 100.0 200.0 500.0 1000.0 2000.0 5000.0"
BUCKETS = {
    "e2e_request_latency_seconds": REQUEST,
    "request_queue_time_seconds": REQUEST,
    "request_inference_time_seconds": REQUEST,
    "request_prefill_time_seconds": REQUEST,
    "request_decode_time_seconds": REQUEST,
    "time_to_first_token_seconds": FIRST,
    "inter_token_latency_seconds": BETWEEN,
    "request_time_per_output_token_seconds": BETWEEN,
    "request_num_preemptions": "1.0 2.0 3.0 4.0 5.0 10.0 20.0",
    "request_prompt_tokens": COUNT,
    "request_generation_tokens": COUNT,
    "request_prefill_kv_computed_tokens": COUNT,
}
PER_REQUEST = (
    *("e2e_request_latency_seconds", "request_queue_time_seconds", "request_inference_time_seconds"),
    *("request_prefill_time_seconds", "request_decode_time_seconds", "request_time_per_output_token_seconds"),
    *("request_num_preemptions", "request_prompt_tokens", "request_generation_tokens"),
    "request_prefill_kv_computed_tokens",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that has served exactly this, one after the other:

    two with the same prompt of 40 words and 8 tokens (stop); one of 10 words with 4 of at most 4 tokens (length);
    one of the 40 words that fails after 4 of 8 tokens; one of them whose caller leaves after 3 of 6; one whose KV cache
    cannot be fetched; one that fails in prefill. 7 requests, 6 of which reach decode.
    """
    prompt = [{"role": "user", "content": " ".join(f"served{number}" for number in range(40))}]
    short = [{"role": "user", "content": " ".join(f"short{number}" for number in range(10))}]
    with running.service(tmp_path_factory.mktemp("served")) as found:
        expected: list[tuple[dict[str, Any], int]] = [
            ({"messages": prompt}, 200),
            ({"messages": prompt}, 200),
            ({"messages": short, "max_tokens": 4}, 200),
            ({"messages": prompt, "simulate": {"fail": {"decode": 500}}}, 500),
            ({"messages": prompt, "simulate": {"cancel": True, "output_tokens": 6}}, 499),
            ({"messages": prompt, "simulate": {"fail": {"kv_transfer": 500}}}, 500),
            ({"messages": prompt, "simulate": {"fail": {"prefill": 500}}}, 500),
        ]
        assert [found.ask(body).status_code for body, _ in expected] == [status for _, status in expected]
        yield found


@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_names_types_and_labels_are_vllms(served: Service, role: str) -> None:
    found = {}
    for family in text_string_to_metric_families(served.roles[role].page()):
        if family.name.startswith("vllm:") and not family.name.endswith("_created"):
            labels = set().union(*(sample.labels for sample in family.samples)) - {"le"}
            assert {"model_name", "engine"} <= labels
            assert {(s.labels["model_name"], s.labels["engine"]) for s in family.samples} == {("demo-llm", "0")}
            found[family.name] = (family.type, labels - {"model_name", "engine"})
    assert found == FAMILIES


def test_values_of_labels_are_vllms(served: Service) -> None:
    for name, label, values in (
        ("request_success_total", "finished_reason", {"stop", "length", "abort", "error", "repetition"}),
        ("prompt_tokens_by_source_total", "source", {"local_compute", "local_cache_hit", "external_kv_transfer"}),
        ("num_requests_waiting_by_reason", "reason", {"capacity", "deferred"}),
    ):
        page = text_string_to_metric_families(served.roles["prefill"].page())
        samples = [sample for family in page for sample in family.samples if sample.name == f"vllm:{name}"]
        assert {sample.labels[label] for sample in samples} == values


@pytest.mark.parametrize("name", BUCKETS)
def test_buckets_are_vllms(served: Service, name: str) -> None:
    page = text_string_to_metric_families(served.roles["decode"].page())
    bounds = [s.labels["le"] for family in page for s in family.samples if s.name == f"vllm:{name}_bucket"]
    assert bounds == [*BUCKETS[name].split(), "+Inf"]


def reasons(server: Process) -> dict[str, float]:
    """Requests that ended, by reason."""
    names = ("stop", "length", "abort", "error", "repetition")
    return {name: server.metric("vllm:request_success_total", finished_reason=name) for name in names}


def test_decode_counts_what_it_served(served: Service) -> None:
    decode = served.roles["decode"]
    assert reasons(decode) == {"stop": 2, "length": 1, "error": 2, "abort": 1, "repetition": 0}
    for name in PER_REQUEST:
        assert (name, decode.metric(f"vllm:{name}_count")) == (name, 6)
    # 8 + 8 + 4, 4 of 8 before the failure, 3 of 6 before the caller left, none where the KV cache never came.
    assert decode.metric("vllm:generation_tokens_total") == 27
    assert decode.metric("vllm:request_generation_tokens_sum") == 27
    assert decode.metric("vllm:time_to_first_token_seconds_count") == 5
    assert decode.metric("vllm:inter_token_latency_seconds_count") == 27 - 5
    # Prompts whose KV cache came: four of 40 tokens and one of 10; all but the last token of each was transferred.
    assert decode.metric("vllm:prompt_tokens_total") == 170
    assert decode.metric("vllm:prompt_tokens_by_source_total", source="external_kv_transfer") == 165
    assert decode.metric("vllm:prompt_tokens_by_source_total", source="local_compute") == 5
    assert decode.metric("vllm:prompt_tokens_cached_total") == 165
    assert decode.metric("vllm:external_prefix_cache_queries_total") == 170
    assert decode.metric("vllm:external_prefix_cache_hits_total") == 165
    assert decode.metric("vllm:request_prompt_tokens_sum") == 210


def test_prefill_counts_what_it_served(served: Service) -> None:
    prefill = served.roles["prefill"]
    assert reasons(prefill) == {"stop": 0, "length": 6, "error": 1, "abort": 0, "repetition": 0}
    for name in PER_REQUEST:
        assert (name, prefill.metric(f"vllm:{name}_count")) == (name, 7)
    assert prefill.metric("vllm:generation_tokens_total") == 6
    assert prefill.metric("vllm:time_to_first_token_seconds_count") == 6
    assert prefill.metric("vllm:inter_token_latency_seconds_count") == 0
    # Five prompts of 40 tokens and one of 10. The first of 40 fills two blocks of 16; four later ones find them.
    assert prefill.metric("vllm:prompt_tokens_total") == 210
    assert prefill.metric("vllm:prefix_cache_queries_total") == 210
    assert prefill.metric("vllm:prefix_cache_hits_total") == 4 * 32
    assert prefill.metric("vllm:prompt_tokens_by_source_total", source="local_cache_hit") == 128
    assert prefill.metric("vllm:prompt_tokens_by_source_total", source="local_compute") == 82
    assert prefill.metric("vllm:external_prefix_cache_queries_total") == 0


@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_times_of_requests_fit_together(served: Service, role: str) -> None:
    def total(name: str) -> float:
        return served.roles[role].metric(f"vllm:{name}_seconds_sum")

    inference = total("request_inference_time")
    assert inference == pytest.approx(total("request_prefill_time") + total("request_decode_time"))
    assert total("e2e_request_latency") >= total("request_queue_time") + inference
    assert total("inter_token_latency") == pytest.approx(total("request_decode_time"))


def test_nothing_is_left_in_the_engine(served: Service) -> None:
    for role in ("prefill", "decode"):
        for name in ("num_requests_running", "num_requests_waiting"):
            assert served.roles[role].metric(f"vllm:{name}") == 0
    assert served.roles["decode"].metric("vllm:kv_cache_usage_perc") == 0
    # One KV cache of 40 tokens was never fetched: 3 of 8192 blocks.
    assert served.roles["prefill"].metric("vllm:kv_cache_usage_perc") == 3 / 8192


def test_metrics_and_spans_tell_the_same(service: Service) -> None:
    before = service.roles["decode"].metric("vllm:generation_tokens_total")
    spans = traced(service, service.play(output_tokens=11)["trace_id"])
    after = service.roles["decode"].metric("vllm:generation_tokens_total")
    assert after - before == one(spans, "decode").attributes["gen_ai.usage.output_tokens"] == 11


def test_latency_of_decode_is_in_its_times(service: Service) -> None:
    name = "vllm:time_to_first_token_seconds_sum"
    before = service.roles["decode"].metric(name)
    service.play(latency={"decode": 0.3})
    assert service.roles["decode"].metric(name) - before >= 0.3


@pytest.mark.parametrize("role", ["gateway", "router", "prefill", "decode", "retrieval"])
def test_promtool_has_no_complaint_but_about_vllms_names(served: Service, role: str) -> None:
    page = served.roles[role].page()
    judged = subprocess.run(
        [require_promtool(), "check", "metrics"], input=page, capture_output=True, text=True, check=False
    )
    upstream = "metric names should not contain ':'"
    complaints = [line for line in (judged.stdout + judged.stderr).splitlines() if line.strip()]
    assert [line for line in complaints if upstream not in line] == []
    assert any(upstream in line for line in complaints) == (role in ("prefill", "decode"))


def test_metrics_of_requests_go_out_with_an_exemplar_of_their_trace(service: Service) -> None:
    answer = service.play()
    service.flush()
    points = [p for p in service.receiver.points if p.metric == "gen_ai.server.request.duration"]
    assert {point.unit for point in points} == {"s"}
    assert points[-1].attributes["gen_ai.request.model"] == "demo-llm"
    assert answer["trace_id"] in {trace_id for point in points for trace_id, _ in point.exemplars}
