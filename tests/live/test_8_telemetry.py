"""Traces and logs of a service across pods: what is kept, what is hidden, what a fault costs, and who tells of it."""

from __future__ import annotations

import json
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

from components.fixed_config import fixed_name
from components.otel_collector.names import CONFIG_FILE, GATEWAY_CONFIG, debug_config
from sandbox.workloads.inference.asking import PLACES
from sandbox.workloads.inference.manifests import CONTAINER, NAME, name
from smoke import poll
from smoke.access.logsql import anywhere, exactly
from smoke.proofs.canaries import with_check_digit
from smoke.proofs.gateway_kill import GatewayKill
from tests.live import inference, swanlab, telemetry
from tests.live.inference import GATEWAY, TEAM
from tests.live.plumbline import NAMESPACE, kubectl, pulumi, query, smoke, until, words
from tests.live.stored import ARRIVES, kept, lines, orphans, services_of
from tests.live.telemetry import eventually, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smoke.stack import Stack
    from tests.live.inference import Service

Json = dict[str, Any]
ALL_ROLES: Final = {name(role) for role in ("gateway", "router", "prefill", "decode", "retrieval")}
FAILED_ROLES: Final = ALL_ROLES - {name("retrieval")}
"""The tool is asked once the model has answered."""
SLOW: Final = 2.5
"""Seconds; the embedded stack keeps all that take 2 s."""
ERRORS: Final = 100
GIANT: Final = 50_000
PATIENCE: Final = 35.0
"""Seconds in which checks of a whole stack are green, and those of a broken one give up."""
SENT: Final = "otelcol_exporter_sent_spans"
TOO_LARGE: Final = "otelcol_processor_tail_sampling_traces_dropped_too_large"
TOO_EARLY: Final = "otelcol_processor_tail_sampling_sampling_trace_dropped_too_early"
MIB: Final = 2**20


@dataclass(frozen=True)
class Played:
    """What was sent. one: a request across all pods. word: with which every secret begins; digits: of the number.

    before: counters of the gateway at that time. starts: of containers.
    """

    one: str
    nonce: str
    errors: list[str]
    slow: list[str]
    canary: str
    canary_nonce: str
    word: str
    digits: str
    before: dict[str, float]
    starts: dict[str, int]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """The stack as checks see it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", swanlab.with_kubectl()["PATH"])
        with telemetry.opened() as found:
            yield found


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """The service. What its gateway logs at DEBUG is kept for some minutes: agents start again while its pods start."""

    def debugged(namespace: str) -> None:
        done = words("debug-logs", f"WORKLOAD={namespace}/{GATEWAY}", "FOR=3m")
        assert done.returncode == 0, done.stdout
        assert f"{namespace}/{GATEWAY}  until " in done.stdout

    with inference.inference(debugged) as found:
        yield found


@pytest.fixture(scope="module")
def played(service: Service, stack: Stack) -> Played:
    """Everything at once: stores are then asked for all of it."""
    nonce, canary_nonce = f"n{secrets.token_hex(6)}", f"n{secrets.token_hex(6)}"
    word, digits = f"c{secrets.token_hex(5)}", with_check_digit(f"4{secrets.randbelow(10**14):014d}")
    before, starts = {one: total(stack, one) for one in (SENT, TOO_LARGE, TOO_EARLY)}, telemetry.killed()
    hidden = {place: f"{word}x{number:02d}q@example.com" for number, place in enumerate(PLACES)}
    hidden["span_attribute_number"] = digits
    with ThreadPoolExecutor(1) as pool:
        giant = pool.submit(service.ask, extra_spans=GIANT, latency={"decode": SLOW})
        errors = service.batch(ERRORS, 8, fail={"decode": 500}, output_tokens=2)
        assert giant.result()["status"] == 200
    # Not beside the giant: whoever makes it would hold them up for longer than a gateway waits with its decision.
    slow = service.batch(8, 8, latency={"decode": SLOW}, output_tokens=2)
    one = service.ask(latency={"decode": SLOW}, nonce=nonce)
    canary = service.ask(fail={"decode": 500}, secrets=hidden, logs="both", nonce=canary_nonce)
    assert (one["status"], canary["status"]) == (200, 500)
    service.flush("decode")
    return Played(one["trace_id"], nonce, errors, slow, canary["trace_id"], canary_nonce, word, digits, before, starts)


def only(*checks: str) -> tuple[str, ...]:
    """Options of smoke."""
    return tuple(option for check in checks for option in ("--only", check))


def test_request_across_pods_is_one_trace_with_the_keys_of_its_pods(
    stack: Stack, service: Service, played: Played
) -> None:
    (trace,) = kept(stack, [played.one], ALL_ROLES)
    assert orphans(trace) == ["POST /v1/chat/completions"]
    pods, seen = service.pods(), set()
    for process in trace["processes"].values():
        tags = {tag["key"]: str(tag["value"]) for tag in process["tags"]}
        expected = {
            "k8s.namespace.name": service.namespace,
            "k8s.container.name": CONTAINER,
            "k8s.node.name": pods.get(tags.get("k8s.pod.name", ""), "no such pod"),
            "service.namespace": NAME,
            "team": TEAM,
            "workload": "chat",
            "run_id": service.run,
            **stack.telemetry.promised.resource_attributes,
        }
        assert {key: tags.get(key) for key in expected} == expected
        seen.add(tags["k8s.pod.name"])
    assert seen == set(pods), "a pod that took part is not in the trace"


def test_its_log_lines_are_found_by_its_trace(stack: Stack, service: Service, played: Played) -> None:
    rows = lines(stack, exactly("trace_id", played.one), 3)
    served = [row for row in rows if row["_msg"] == "request served"]
    assert len(served) == 1
    (pod,) = (pod for pod in service.pods() if pod.startswith(f"{GATEWAY}-"))
    expected = {
        "k8s.namespace.name": service.namespace,
        "k8s.pod.name": pod,
        "k8s.container.name": CONTAINER,
        "k8s.node.name": service.pods()[pod],
        "run_id": service.run,
        "nonce": played.nonce,
        "severity_text": "INFO",
    }
    assert {key: served[0].get(key) for key in expected} == expected
    assert any(row["_msg"] == "documents found" for row in rows), "lines of the tool's pod have another trace"


def test_lower_levels_are_kept_of_the_workload_whose_window_is_open(stack: Stack, played: Played) -> None:
    rows = lines(stack, f"{exactly('nonce', played.nonce)} {exactly('severity_text', 'DEBUG')}", 1)
    assert {row["_msg"] for row in rows} == {"caller may ask"}, "DEBUG of other workloads is kept as well"


def test_errors_beside_a_giant_trace_and_slow_requests_are_kept_whole(stack: Stack, played: Played) -> None:
    failed = kept(stack, played.errors, FAILED_ROLES)
    assert len({len(trace["spans"]) for trace in failed}) == 1, "some lack spans"
    slow = kept(stack, played.slow, ALL_ROLES)
    assert len({len(trace["spans"]) for trace in slow}) == 1, "some lack spans"

    def grown(metric: str) -> float:
        return total(stack, metric) - played.before[metric]

    # It must be kept, since it is slow; unless it is too large for a gateway of this size, which is counted.
    eventually("the giant is sent on, or counted", lambda: grown(SENT) >= GIANT or grown(TOO_LARGE) == 1, ARRIVES)
    assert grown(TOO_EARLY) == 0
    assert telemetry.killed() == played.starts, "a container was killed"


def test_secrets_in_awkward_places_are_found_nowhere(stack: Stack, played: Played) -> None:
    def there() -> bool:
        """Its shape is no matter here: a link that leaks is drawn as a parent."""
        found = stack.telemetry.traces.trace(played.canary)
        return found is not None and services_of(found) >= FAILED_ROLES

    eventually("the trace with the secrets is kept", there, ARRIVES)
    trace = stack.telemetry.traces.trace(played.canary)
    least = 2 * sum(place.startswith("log_") for place in PLACES)  # once from standard output, once by OTLP
    rows = lines(stack, exactly("nonce", played.canary_nonce), least)
    stores = {
        "Jaeger": json.dumps([trace, stack.telemetry.traces.services()]),
        "VictoriaLogs": json.dumps(rows),
        "the gateway's page": "\n".join(stack.telemetry.span_pages()),
        "Prometheus": json.dumps(query(f'{{service_name=~"{NAME}.*"}}')),
    }
    for text in (f'"{played.canary_nonce}"', "exception.message"):
        assert text in stores["Jaeger"], f"{text} is not there: nothing was searched"
    assert "gen_ai_server_request_duration" in stores["the gateway's page"]
    assert stack.telemetry.logs.rows(anywhere(played.word), 10) == []
    for store, text in stores.items():
        assert played.word not in text, f"an address is in {store}: {_around(text, played.word)}"
        assert played.digits not in text, f"the number is in {store}: {_around(text, played.digits)}"


def _around(text: str, word: str) -> str:
    at = text.index(word)
    return text[max(0, at - 200) : at + 100]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("WORKLOAD={namespace}/inference-gatewy", "FOR=30m"), f"did you mean {GATEWAY}"),
        (("WORKLOAD={namespace}/" + GATEWAY, "FOR=25h"), "more than 24h"),
        ((f"WORKLOAD={GATEWAY}", "FOR=30m"), "accepted are namespace/name"),
    ],
)
def test_window_that_cannot_be_meant_is_refused(service: Service, arguments: tuple[str, str], said: str) -> None:
    before = telemetry.windows()
    done = words("debug-logs", *(one.format(namespace=service.namespace) for one in arguments))
    assert done.returncode != 0
    assert said in done.stdout
    assert "Traceback" not in done.stdout
    assert telemetry.windows() == before


def test_rules_that_are_taken_out_by_hand_turn_each_check_red_under_its_name(stack: Stack) -> None:
    names = ("telemetry.config", "telemetry.redaction", "telemetry.sampling", "logs.retention")
    with telemetry.retention("3d"), telemetry.gateway_with(stack, telemetry.without_rules):
        code, checks, printed = smoke(*only(*names), patience=PATIENCE)
    assert code == 1
    assert {one: checks[one]["status"] for one in names} == dict.fromkeys(names, "fail"), printed
    evidence = {one: checks[one]["evidence"] for one in names}
    assert f"seen revision {telemetry.CHANGED}" in evidence["telemetry.config"]
    assert "seen started with --config=/etc/by-hand/collector.yaml" in evidence["telemetry.config"]
    assert "name (address) of spans" in evidence["telemetry.redaction"]
    assert "Jaeger" in evidence["telemetry.redaction"]
    assert "failed traces" in evidence["telemetry.sampling"]
    assert "slow traces" not in evidence["telemetry.sampling"]
    assert "retentionPeriod" in evidence["logs.retention"]


def test_nodes_without_agents_are_red() -> None:
    names = ("telemetry.config", "telemetry.log", "telemetry.trace")
    with telemetry.no_agents():
        code, checks, printed = smoke(*only(*names), patience=PATIENCE)
    assert code == 1
    assert {one: checks[one]["status"] for one in names} == dict.fromkeys(names, "fail"), printed
    assert "no pods" in checks["telemetry.config"]["evidence"]
    assert "otel-agent" in checks["telemetry.trace"]["evidence"]


def test_stores_that_are_away_and_a_killed_gateway_cost_no_more_than_is_stated(
    stack: Stack,
    record_property: Any,  # noqa: ANN401  # pytest gives it no type
) -> None:
    names = ("telemetry.trace", "traces.retention", "logs.retention")
    with telemetry.away("statefulset/jaeger", "statefulset/victoria-logs"):
        code, checks, printed = smoke(*only(*names), patience=10.0)
        assert code == 1
        assert {one: checks[one]["status"] for one in names} == dict.fromkeys(names, "fail"), printed
        proof = GatewayKill(stack)
        assert set(proof.signals) == {"logs", "traces"}
        poll.settle(proof.filled, 60, every=0.25)
        proof.kill()
        poll.settle(proof.returned, 120, every=0.25)
    # gRPC waits longer after each refusal, and whoever sends waits 30 s at most beside it.
    poll.settle(proof.found, 240)
    record_property("loss", poll.fetch(proof.told))


def test_load_at_the_memory_limit_is_refused_counted_and_alerted_and_kills_nobody(stack: Stack) -> None:
    refused = "otelcol_processor_memory_limiter_refused_spans"
    with telemetry.small_gateway(stack, 192 * MIB, wait=60):
        before = telemetry.killed()
        answers = telemetry.flood(120)
        assert set(answers) == {200, 503}, answers
        eventually("every refusal is counted", lambda: total(stack, refused) >= 1000 * answers.count(503), 30)
        assert total(stack, "otelcol_receiver_refused_spans") >= 1000 * answers.count(503)
        alert = 'ALERTS{alertname="TelemetryMemoryLimited", alertstate="firing", signal="traces"}'
        until("the alert fires", lambda: bool(query(alert)), 90)
        assert telemetry.killed() == before, "a container was killed"


def test_window_has_ended_by_itself(stack: Stack, service: Service) -> None:
    (window,) = (one for one in telemetry.windows() if one.namespace == service.namespace)
    until("its end has come", lambda: time.time() > window.until + 1, 180)
    nonce = f"n{secrets.token_hex(6)}"
    service.ask(nonce=nonce)
    rows = lines(stack, f"{exactly('nonce', nonce)} {exactly('k8s.namespace.name', service.namespace)}", 2)
    # The line at DEBUG is written before this one, to the same file.
    assert "request served" in {row["_msg"] for row in rows}
    assert {row["severity_text"] for row in rows} == {"INFO"}
    assert "no debug window is open" in words("debug-logs").stdout


def test_configuration_that_somebody_makes_again_is_red_and_up_puts_it_back(stack: Stack, service: Service) -> None:
    """It cannot be changed in place; the process goes on with what it has read, and says what was promised.

    The agents' second file can, since windows are written into it.
    """
    revision = stack.telemetry.collector("gateway").revision
    name = fixed_name(GATEWAY_CONFIG, revision)
    patch = json.dumps({"data": {CONFIG_FILE: "receivers: {}"}})
    with pytest.raises(AssertionError, match="immutable"):
        kubectl("patch", "configmap", name, "-n", NAMESPACE, "--type=merge", "-p", patch)
    telemetry.make_again(stack, telemetry.without_rules)
    telemetry.drop_lines_of(service.namespace)
    code, checks, printed = smoke(*only("telemetry.config"), patience=5.0)
    assert code == 1, printed
    evidence = checks["telemetry.config"]["evidence"]
    assert f"ConfigMap {name}: seen files of revision r" in evidence
    assert f"made for another ConfigMap {name} than the one that is there" in evidence
    assert f"ConfigMap {debug_config(telemetry.LOWEST)}: seen revision r" in evidence
    assert ", by hand; expected revision r" in evidence
    before = {pod["metadata"]["uid"] for pod in telemetry.collectors()}
    done = words("up")
    assert done.returncode == 0, done.stdout
    assert "somebody else wrote the debug windows" in done.stdout
    assert before.isdisjoint(pod["metadata"]["uid"] for pod in telemetry.collectors())
    assert telemetry.windows() == ()


UNSAFE: Final[dict[str, tuple[dict[str, object], list[str]]]] = {
    "no routing by trace id": (
        {"otel_collector.abilities": [], "otel_collector.gateway.replicas": 2},
        ["gateway.replicas is 2", "not known to route by trace id"],
    ),
    "no room for queues": (
        {"otel_collector.gateway.queue": "1Gi"},
        ["gateway.queue: 2 queues of 1073741824 bytes on a volume of 1Gi"],
    ),
    "no claim": ({"otel_collector.gateway.volume": "0"}, ["gateway.volume"]),
}
"""The limiter's limit has no setting: it follows from the container's."""


@pytest.mark.parametrize("fault", UNSAFE)
def test_unsafe_telemetry_is_refused_before_anything_changes(fault: str) -> None:
    values, told = UNSAFE[fault]
    before = telemetry.generation()
    with swanlab.settings(values):
        done = pulumi("up", "-s", "local", "--yes", "--non-interactive")
    assert done.returncode != 0, done.stdout
    assert [text for text in told if text not in " ".join(done.stdout.split())] == [], done.stdout
    assert "Traceback" not in done.stdout
    assert telemetry.generation() == before


def test_after_all_faults_smoke_is_green() -> None:
    """Last of the file: nothing is left of the faults before it."""
    names = (
        *("telemetry.config", "telemetry.accounting", "telemetry.trace", "telemetry.log", "telemetry.redaction"),
        *("telemetry.sampling", "logs.retention", "traces.retention"),
    )
    code, checks, printed = smoke(*only(*names))
    assert code == 0, printed
    assert {one: checks[one]["status"] for one in names} == dict.fromkeys(names, "pass"), printed
