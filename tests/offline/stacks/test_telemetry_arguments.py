"""What the programs of telemetry are told by the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.images import ImagePin
from components.logs.names import NAME as LOGS
from components.otel_collector.names import COMPONENT as COLLECTOR
from components.traces.names import NAME as TRACES
from signals.catalogue.labels import WORKLOAD_IDENTITY
from stacks.telemetry_arguments import collector_args, logs_args, plans, traces_args
from tests.offline.stacks.examples import BUILT, settings
from tests.offline.stacks.telemetry_examples import LOGS_ELSEWHERE, TRACES_ELSEWHERE, beside_existing, with_telemetry
from tests.offline.stacks.test_telemetry import UNKNOWN, made

if TYPE_CHECKING:
    from stacks.settings import Settings

GIB = 2**30


def test_abilities_follow_from_the_image_unless_the_settings_name_them() -> None:
    def found(images: dict[str, ImagePin], **section: Any) -> frozenset[str]:  # noqa: ANN401  # any setting
        return collector_args(with_telemetry(otel_collector=section), images).abilities

    upstream = ImagePin(reference="docker.io/otel/opentelemetry-collector-contrib:0.165.1")
    assert found(BUILT) == {"load_balancing"}
    assert found({**BUILT, "otel-collector": upstream}) == {"load_balancing", "k8sattributes"}
    assert found(UNKNOWN, abilities=["k8sattributes"]) == {"k8sattributes"}
    assert found(BUILT, abilities=[]) == frozenset()


@pytest.mark.parametrize("memory", ["1Gi", "0.15Gi", "700M", "1.3Gi"])
def test_no_program_is_told_of_more_memory_than_its_container_may_have(memory: str) -> None:
    """Nor does a limit of a broken number of bytes read as one more."""
    sampling = {"traces_in_memory": 1000}
    found = with_telemetry(
        otel_collector={"gateway": {"memory": memory}, "agent": {"memory": memory}, "sampling": sampling},
        logs={"memory": memory},
    )
    args, store = collector_args(found, BUILT), logs_args(found, BUILT)
    for part in (args.gateway, args.agent, store):
        assert part.resources.memory_limit == memory
        assert int(part.resources.memory_request) <= part.memory_bytes // 2
    assert made(found) == [LOGS, TRACES, COLLECTOR]


def test_collector_is_told_what_the_settings_say() -> None:
    found = with_telemetry(
        otel_collector={
            "lowest_level": "WARN",
            "receive_from": ["team-a"],
            "redaction": {"keys": ["internal_id"], "values": ["ACME-[0-9]+"]},
            "sampling": {
                **{"keep_percent": 5, "slow": "1500ms", "decision_wait": "30s", "decision_wait_after_root": "3s"},
                "tenants": {"vision": 50},
            },
            "agent": {"queue": "256Mi", "tolerations": [{"key": "gpu", "effect": "NoSchedule"}]},
        },
        cluster={"name": "here", "environment": "staging"},
    )
    args = collector_args(found, BUILT)
    assert (args.cluster, args.environment, args.lowest_level) == ("here", "staging", "WARN")
    assert args.identity == WORKLOAD_IDENTITY
    assert (args.redaction.keys, args.redaction.values) == (("internal_id",), ("ACME-[0-9]+",))
    assert (args.sampling.keep_percent, args.sampling.slow_ms, args.sampling.decision_wait_seconds) == (5, 1500, 30)
    assert args.sampling.decision_wait_after_root_seconds == 3
    assert args.sampling.tenants == {"vision": 50}
    assert args.agent.queue_bytes == 256 * 2**20
    assert args.agent.tolerations == ({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},)
    assert args.receive_from == ("team-a",)
    assert args.node_namespace == "plumbline-node"


def test_agents_run_on_every_node_unless_the_settings_name_taints() -> None:
    (toleration,) = collector_args(with_telemetry(), BUILT).agent.tolerations
    assert toleration == {"operator": "Exists"}
    assert collector_args(with_telemetry(otel_collector={"agent": {"tolerations": []}}), BUILT).agent.tolerations == ()


def test_stores_of_this_stack_are_where_the_gateway_sends() -> None:
    args = collector_args(with_telemetry(), BUILT)
    assert args.logs is not None
    assert args.traces is not None
    assert args.logs.endpoint == "http://victoria-logs.plumbline.svc:9428/insert/opentelemetry/v1/logs"
    assert args.logs.headers["VL-Stream-Fields"] == "k8s.namespace.name,k8s.pod.name,k8s.container.name"
    assert (args.traces.protocol, args.traces.endpoint) == ("grpc", "jaeger.plumbline.svc:4317")
    assert (args.logs.headers_secret, args.traces.headers_secret) == (None, None)


def test_store_that_somebody_else_runs_is_where_the_gateway_sends_with_headers_by_name_alone() -> None:
    args = collector_args(with_telemetry(logs=LOGS_ELSEWHERE, traces=TRACES_ELSEWHERE), BUILT)
    assert args.logs is not None
    assert args.traces is not None
    assert (args.logs.endpoint, args.logs.tls, args.logs.headers) == ("https://otlp.example.com/v1/logs", True, {})
    assert (args.logs.headers_secret, args.logs.headers_keys) == ("otlp-login", ("Authorization", "X-Scope-OrgID"))
    assert (args.traces.protocol, args.traces.endpoint, args.traces.tls) == ("grpc", "tempo.example.com:4317", True)


def test_store_that_is_off_is_sent_nothing() -> None:
    args = collector_args(with_telemetry(logs={"mode": "off"}), BUILT)
    assert args.logs is None
    assert args.traces is not None


@pytest.mark.parametrize(
    ("found", "seconds"),
    [
        (with_telemetry(prometheus={"scrape_interval": "15s", "scrape_timeout": "10s"}), 15),
        (beside_existing(existing_prometheus={"interval": "1m"}), 60),
    ],
    ids=["own Prometheus", "a team's"],
)
def test_span_metrics_are_flushed_as_often_as_they_are_scraped(found: Settings, seconds: int) -> None:
    assert collector_args(found, BUILT).scrape_interval_seconds == seconds


def test_stores_are_told_sizes_and_ages_of_the_settings() -> None:
    found = with_telemetry(
        logs={"retention": "3d", "retention_size": "7Gi", "volume": "10Gi"},
        traces={"retention": "36h", "volume": "20Gi"},
    )
    kept, traced = logs_args(found, BUILT), traces_args(found, BUILT)
    assert (kept.retention, kept.retention_bytes, kept.volume_bytes) == ("3d", 7 * GIB, 10 * GIB)
    assert (traced.retention_seconds, traced.volume_bytes, traced.memory_bytes) == (36 * 3600, 20 * GIB, GIB)


def test_rules_are_held_to_what_the_settings_say_and_to_nothing_without_a_collector() -> None:
    assert plans(settings("staging")) is None
    found = plans(with_telemetry(otel_collector={"gateway": {"memory": "2Gi"}}, logs={"retention": "2d"}))
    assert found is not None
    assert (found.gateway_memory_bytes, found.agent_memory_bytes) == (2 * GIB, GIB // 4)
    assert (found.decision_wait_seconds, found.logs_retention_seconds) == (60, 2 * 86400)
    elsewhere = plans(with_telemetry(logs=LOGS_ELSEWHERE))
    assert elsewhere is not None
    assert elsewhere.logs_retention_seconds is None
