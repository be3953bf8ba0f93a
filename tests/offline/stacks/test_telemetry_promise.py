"""What a stack with telemetry promises, scrapes, asks before it changes anything, and plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from signals.catalogue.labels import WORKLOAD_IDENTITY
from stacks.bundle import plan
from stacks.preflight import volumes
from stacks.promise import capabilities, contract
from stacks.secrets import check_secrets, wanted
from stacks.systems import roles, systems
from tests.offline.stacks.examples import BUILT, settings
from tests.offline.stacks.telemetry_examples import (
    LOGS_ELSEWHERE,
    TRACES_ELSEWHERE,
    with_telemetry,
)
from tests.offline.stacks.test_secrets import Secrets

if TYPE_CHECKING:
    from stacks.contract import Contract
    from stacks.settings import Settings

OFF: dict[str, Any] = {"mode": "off"}


def promised(found: Settings) -> Contract:
    """The contract, without the plan around it."""
    return contract(found, BUILT, systems(found, BUILT))


@pytest.fixture(scope="module")
def whole() -> Contract:
    """Everything by this stack, as the defaults have it. Read and left as it is."""
    return promised(with_telemetry())


@pytest.mark.parametrize(
    ("sections", "gained"),
    [
        ({}, {"telemetry", "logs", "traces"}),
        ({"logs": LOGS_ELSEWHERE}, {"telemetry", "traces"}),
        ({"traces": TRACES_ELSEWHERE}, {"telemetry", "logs"}),
        ({"logs": OFF}, {"telemetry", "traces"}),
        ({"logs": LOGS_ELSEWHERE, "traces": OFF}, {"telemetry"}),
    ],
)
def test_stores_that_somebody_else_runs_are_not_asked(sections: dict[str, Any], gained: set[str]) -> None:
    assert set(capabilities(with_telemetry(**sections))) - set(capabilities(settings("staging"))) == gained


def test_stack_without_telemetry_promises_none_of_it() -> None:
    found = promised(settings("staging"))
    assert found.telemetry is None
    assert not {"otel-collector", "otel-agent", "victoria-logs", "jaeger"} & set(found.components)
    assert not [check for check in found.expected_checks if check.startswith(("telemetry.", "logs.", "traces."))]


@pytest.mark.parametrize(
    ("sections", "missing"),
    [
        ({}, set()),
        ({"logs": LOGS_ELSEWHERE}, {"telemetry.log", "logs.retention"}),
        (
            {"traces": TRACES_ELSEWHERE},
            {"telemetry.trace", "telemetry.sampling", "telemetry.span_metrics", "traces.retention"},
        ),
    ],
    ids=["all", "logs elsewhere", "traces elsewhere"],
)
def test_checks_follow_from_who_can_be_asked(sections: dict[str, Any], missing: set[str]) -> None:
    every = {
        f"telemetry.{n}" for n in ("config", "accounting", "redaction", "log", "trace", "sampling", "span_metrics")
    }
    found = promised(with_telemetry(**sections)).expected_checks
    told = {check for check in found if check.startswith(("telemetry.", "logs.", "traces."))}
    assert told == (every | {"logs.retention", "traces.retention"}) - missing


def test_both_tiers_and_both_stores_are_promised_where_they_run(whole: Contract) -> None:
    found = {
        name: (part.namespace, [(w.kind, w.name, w.replicas) for w in part.workloads])
        for name, part in whole.components.items()
        if name in {"otel-collector", "otel-agent", "victoria-logs", "jaeger"}
    }
    assert found == {
        "otel-collector": (None, [("StatefulSet", "otel-gateway", 1)]),
        "otel-agent": ("plumbline-node", [("DaemonSet", "otel-agent", None)]),
        "victoria-logs": (None, [("StatefulSet", "victoria-logs", 1)]),
        "jaeger": (None, [("StatefulSet", "jaeger", 1)]),
    }


def test_claims_are_promised_with_size_and_place(whole: Contract) -> None:
    found = {c.name: (c.size, c.mounted_at) for part in whole.components.values() for c in part.claims}
    assert {name: found[name] for name in ("otel-gateway-queue-0", "victoria-logs-data", "jaeger-data")} == {
        "otel-gateway-queue-0": ("5Gi", "/var/lib/otelcol"),
        "victoria-logs-data": ("50Gi", "/victoria-logs"),
        "jaeger-data": ("50Gi", "/jaeger"),
    }


def test_each_replica_of_the_gateway_has_a_workload_and_a_claim() -> None:
    found = with_telemetry(otel_collector={"gateway": {"replicas": 2, "volume": "9Gi"}})
    part = promised(found).components["otel-collector"]
    assert [w.name for w in part.workloads] == ["otel-gateway", "otel-gateway-1"]
    assert [c.name for c in part.claims] == ["otel-gateway-queue-0", "otel-gateway-queue-1"]
    assert {name: size for name, size in volumes(found).items() if name.startswith("otel-")} == {
        "otel-gateway-queue-0": "9Gi",
        "otel-gateway-queue-1": "9Gi",
    }


def test_stores_elsewhere_have_no_claim_and_no_image() -> None:
    found = with_telemetry(logs=LOGS_ELSEWHERE, traces=TRACES_ELSEWHERE)
    assert not {"victoria-logs-data", "jaeger-data"} & set(volumes(found))
    assert [role for role in roles(found) if role in {"otel-collector", "victoria-logs", "jaeger"}] == [
        "otel-collector"
    ]


@pytest.mark.parametrize(
    ("component", "endpoint", "service", "namespace", "port"),
    [
        ("otel-collector", "otlp", "otel-gateway", None, 4318),
        ("otel-agent", "otlp", "otel-agent", "plumbline-node", 4318),
        ("victoria-logs", "http", "victoria-logs", None, 9428),
        ("jaeger", "http", "jaeger", None, 16686),
        ("jaeger", "metrics", "jaeger", None, 8888),
    ],
)
def test_endpoints_are_those_of_the_services(
    whole: Contract, component: str, endpoint: str, service: str, namespace: str | None, port: int
) -> None:
    found = whole.components[component].endpoints[endpoint]
    assert (found.service, found.namespace, found.port, found.scheme) == (service, namespace, port, "http")


def test_telemetry_is_promised_as_it_is_configured() -> None:
    sampling = {"keep_percent": 2.5, "slow": "3s", "decision_wait": "20s"}
    sampling |= {"decision_wait_after_root": "7s", "tenants": {"vision": 50}}
    found = with_telemetry(
        otel_collector={"sampling": sampling},
        logs={"retention": "3d", "retention_size": "4Gi"},
        traces={"retention": "36h"},
        cluster={"name": "here", "environment": "staging"},
    )
    told = promised(found).telemetry
    assert told is not None
    assert told.signals == ("traces", "logs", "metrics")
    assert told.sampling is not None
    assert told.sampling.model_dump() == {
        "keep_percent": 2.5,
        "slow_ms": 3000,
        "decision_wait_seconds": 20,
        "decision_wait_after_root_seconds": 7,
        "traces_in_memory": 50_000,
        "tenants": {"vision": 50.0},
    }
    assert told.resource_attributes == {"k8s.cluster.name": "here", "deployment.environment.name": "staging"}
    assert told.identity == WORKLOAD_IDENTITY
    assert told.logs is not None
    assert (told.logs.retention_seconds, told.logs.retention_bytes) == (3 * 86400, 4 * 2**30)
    assert told.traces is not None
    assert told.traces.retention_seconds == 36 * 3600


def test_revisions_of_the_promise_are_those_in_the_deployed_files() -> None:
    found = with_telemetry()
    made = {system.name: system for system in systems(found, BUILT)}
    told = contract(found, BUILT, tuple(made.values())).telemetry
    assert told is not None
    assert told.agent is not None
    assert told.gateway is not None
    assert told.traces is not None
    assert told.agent.revision != told.gateway.revision
    for tier, collector in (("agent", told.agent), ("gateway", told.gateway)):
        config = made["otel-collector"].manifests[f"{tier}-config"]
        assert collector.revision in config["data"]["collector.yaml"]
        assert config["metadata"]["name"].endswith(f"-{collector.revision}")
    assert made["jaeger"].manifests["config"]["metadata"]["name"].endswith(f"-{told.traces.revision}")
    assert made["otel-collector"].promise.revision == told.gateway.revision


@pytest.mark.parametrize(
    ("sections", "signals", "sampled"),
    [
        ({"logs": OFF}, ("traces", "metrics"), True),
        ({"traces": OFF}, ("logs", "metrics"), False),
        ({"logs": LOGS_ELSEWHERE, "traces": TRACES_ELSEWHERE}, ("traces", "logs", "metrics"), True),
    ],
)
def test_signals_are_those_that_go_somewhere(
    sections: dict[str, Any], signals: tuple[str, ...], *, sampled: bool
) -> None:
    told = promised(with_telemetry(**sections)).telemetry
    assert told is not None
    assert told.signals == signals
    assert (told.sampling is not None) is sampled
    assert told.logs is None or sections.get("logs") is None
    assert told.traces is None or sections.get("traces") is None


def test_collector_is_registered_after_the_stores_that_it_runs_beside() -> None:
    def after(found: Settings) -> tuple[str, ...]:
        (collector,) = (system for system in systems(found, BUILT) if system.name == "otel-collector")
        return collector.after

    assert set(after(with_telemetry())) == {"victoria-logs", "jaeger"}
    assert after(with_telemetry(logs=LOGS_ELSEWHERE)) == ("jaeger",)


def test_headers_of_a_store_elsewhere_come_from_the_secret_that_the_settings_name() -> None:
    found = with_telemetry(logs=LOGS_ELSEWHERE)
    (collector,) = (system for system in systems(found, BUILT) if system.name == "otel-collector")
    (container,) = collector.manifests["gateway-stateful-set-0"]["spec"]["template"]["spec"]["containers"]
    references = {
        entry["valueFrom"]["secretKeyRef"]["key"]: (entry["name"], entry["valueFrom"]["secretKeyRef"]["name"])
        for entry in container["env"]
        if "secretKeyRef" in entry.get("valueFrom", {})
    }
    assert set(references) == {"Authorization", "X-Scope-OrgID"}
    assert {secret for _, secret in references.values()} == {"otlp-login"}
    config = collector.manifests["gateway-config"]["data"]["collector.yaml"]
    for key, (variable, _) in references.items():
        assert f"{key}: ${{env:{variable}}}" in config
    (agents,) = collector.manifests["agent-daemon-set"]["spec"]["template"]["spec"]["containers"]
    assert "otlp-login" not in str(agents)


def test_secret_of_headers_is_looked_for_before_anything_is_changed() -> None:
    both = {**TRACES_ELSEWHERE["external"], "headers_secret": "tempo-login", "headers": ["api-key"]}
    found = with_telemetry("kind", logs=LOGS_ELSEWHERE, traces={**TRACES_ELSEWHERE, "external": both})
    setting = "plumbline:logs.external.headers"
    assert wanted(found) == {
        "otlp-login": {"Authorization": setting, "X-Scope-OrgID": setting},
        "tempo-login": {"api-key": "plumbline:traces.external.headers"},
    }
    check_secrets(Secrets({"otlp-login": {"Authorization", "X-Scope-OrgID"}, "tempo-login": {"api-key"}}), found)
    with pytest.raises(DeployError) as caught:
        check_secrets(Secrets({"otlp-login": {"Authorization"}}), found)
    message = str(caught.value)
    assert f"Secret plumbline/otlp-login has no key X-Scope-OrgID, which {setting} names" in message
    assert "Secret plumbline/tempo-login is missing, which plumbline:traces.external.headers names" in message


def test_stack_whose_stores_are_its_own_asks_for_no_secret() -> None:
    assert wanted(with_telemetry("kind")) == {}


@pytest.mark.parametrize("stack", ["kind", "staging", "prod"])
def test_upstream_stack_with_telemetry_is_planned_with_the_pinned_images(stack: str) -> None:
    decided = plan(with_telemetry(stack))
    parts = decided.contract.components
    found = {
        name: parts[name].workloads[0].images[0].reference for name in ("otel-collector", "victoria-logs", "jaeger")
    }
    assert {name: reference.rpartition(":")[0] for name, reference in found.items()} == {
        "otel-collector": "docker.io/otel/opentelemetry-collector-contrib",
        "victoria-logs": "docker.io/victoriametrics/victoria-logs",
        "jaeger": "docker.io/jaegertracing/jaeger",
    }
    agents = [m for m in decided.manifests() if m["metadata"]["name"] == "otel-agent" and m["kind"] == "DaemonSet"]
    assert [m["metadata"]["namespace"] for m in agents] == ["plumbline-node"]
    # The upstream image can ask the API server whose a connection is; the one built here cannot.
    assert agents[0]["spec"]["template"]["spec"]["automountServiceAccountToken"] is True
    assert {m["metadata"]["name"] for m in decided.manifests() if m["kind"] == "ClusterRole"} >= {
        "plumbline-otel-agent"
    }


def test_stack_local_has_all_of_it_in_its_file() -> None:
    found = settings("local")
    assert [section.mode for section in (found.otel_collector, found.logs, found.traces)] == ["managed"] * 3
