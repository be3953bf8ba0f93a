"""Settings of telemetry: what is accepted, what is refused and with which words, and what programs are told by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.images import ImagePin
from components.logs.names import NAME as LOGS
from components.otel_collector.names import COMPONENT as COLLECTOR
from components.traces.names import NAME as TRACES
from stacks.bundle import plan
from stacks.settings import parse
from stacks.systems import components
from stacks.telemetry_arguments import collector_args
from stacks.telemetry_systems import collector, log_store, trace_store
from tests.offline.stacks.examples import BUILT, as_pulumi_has_it, completed, settings
from tests.offline.stacks.telemetry_examples import (
    LOGS_ELSEWHERE,
    MANAGED,
    OFF,
    ON,
    TRACES_ELSEWHERE,
    laid_over,
    with_telemetry,
)

if TYPE_CHECKING:
    from stacks.settings import Settings

UNKNOWN = {**BUILT, "otel-collector": ImagePin(reference="registry.example.org/collector:1")}


def refusal(sections: dict[str, dict[str, Any]], stack: str = "staging") -> str:
    """What is said when the settings are read."""
    config = completed(stack)
    for section, values in sections.items():
        config[f"plumbline:{section}"] = values
    with pytest.raises(DeployError) as caught:
        parse(stack, as_pulumi_has_it(config))
    return str(caught.value)


def made(found: Settings) -> list[str]:
    """Names of the systems of telemetry, made as the plan makes them."""
    makers = {LOGS: log_store, TRACES: trace_store, COLLECTOR: collector}
    return [makers[name](found, BUILT).name for name in components(found) if name in makers]


def refused_plan(**sections: dict[str, Any]) -> str:
    """What is said when settings that parse are planned."""
    found = with_telemetry("staging", **sections)
    with pytest.raises(DeployError) as caught:
        made(found)
    return str(caught.value)


@pytest.mark.parametrize("stack", ["kind", "staging", "prod"])
def test_stack_files_that_do_not_name_telemetry_have_none(stack: str) -> None:
    found = settings(stack)
    assert (found.otel_collector.mode, found.logs.mode, found.traces.mode) == ("off", "off", "off")


@pytest.mark.parametrize(
    ("sections", "wanted"),
    [
        (ON, [LOGS, TRACES, COLLECTOR]),
        (OFF, []),
        ({**ON, "logs": LOGS_ELSEWHERE, "traces": TRACES_ELSEWHERE}, [COLLECTOR]),
        ({**ON, "logs": {"mode": "off"}}, [TRACES, COLLECTOR]),
        ({**ON, "traces": {"mode": "off"}}, [LOGS, COLLECTOR]),
        (
            {**ON, "otel_collector": {**MANAGED, "sampling": {"decision_wait": "1m", "tenants": {"vision": 50}}}},
            [LOGS, TRACES, COLLECTOR],
        ),
        (
            {**ON, "otel_collector": {**MANAGED, "abilities": ["load_balancing"], "gateway": {"replicas": 3}}},
            [LOGS, TRACES, COLLECTOR],
        ),
    ],
    ids=["all", "none", "elsewhere", "traces alone", "logs alone", "tenants", "replicas"],
)
def test_settings_that_work_together_are_accepted_and_made(sections: dict[str, Any], wanted: list[str]) -> None:
    assert made(settings("staging", None, **sections)) == wanted


def test_what_a_component_refuses_stops_the_plan() -> None:
    with pytest.raises(DeployError, match="the settings of Jaeger:"):
        plan(with_telemetry(traces={"memory": "256Mi"}))


@pytest.mark.parametrize("store", ["logs", "traces"])
def test_store_without_a_collector_is_refused_with_the_command_that_has_one(store: str) -> None:
    message = refusal({store: MANAGED})
    assert f"plumbline:{store}.mode is `managed`, but plumbline:otel_collector.mode is `off`" in message
    assert "fix: pulumi config set --path 'plumbline:otel_collector.mode' managed" in message


def test_collector_without_a_store_is_refused() -> None:
    message = refusal({"otel_collector": MANAGED})
    assert "plumbline:logs.mode and plumbline:traces.mode are `off`: what it takes would go nowhere" in message
    assert "fix: pulumi config set --path 'plumbline:logs.mode' managed" in message


@pytest.mark.parametrize("store", ["logs", "traces"])
def test_external_store_without_an_address_and_an_address_without_the_mode_are_refused(store: str) -> None:
    missing = refusal({**ON, store: {"mode": "external"}})
    assert f"plumbline:{store}.mode is `external` and plumbline:{store}.external is missing" in missing
    unused = refusal({**ON, store: {**LOGS_ELSEWHERE, "mode": "managed"}})
    assert f"plumbline:{store}.mode is `managed` and plumbline:{store}.external is set" in unused


@pytest.mark.parametrize("wait", ["1500ms", "500ms"])
@pytest.mark.parametrize(("name", "usual"), [("decision_wait", "60s"), ("decision_wait_after_root", "10s")])
def test_wait_of_no_whole_second_is_refused_and_not_cut_off(name: str, usual: str, wait: str) -> None:
    message = refusal({**ON, "otel_collector": {**MANAGED, "sampling": {name: wait}}})
    assert f"plumbline:otel_collector.sampling.{name} {wait} is not in whole seconds" in message
    assert f"fix: pulumi config set --path 'plumbline:otel_collector.sampling.{name}' {usual}" in message


def test_every_broken_relation_is_told_at_once() -> None:
    message = refusal({"logs": {"mode": "external"}, "traces": MANAGED})
    assert message.count("plumbline:otel_collector.mode is `off`") == 2
    assert "plumbline:logs.external is missing" in message


@pytest.mark.parametrize(
    ("section", "values", "where"),
    [
        ("otel_collector", {"mode": "external"}, "otel_collector.mode"),
        ("otel_collector", {"sampling": {"keep_percent": 101}}, "sampling.keep_percent"),
        ("otel_collector", {"sampling": {"keep_percent": -1}}, "sampling.keep_percent"),
        ("otel_collector", {"sampling": {"tenants": {"a": 100.1}}}, "sampling.tenants"),
        ("otel_collector", {"sampling": {"traces_in_memory": 0}}, "sampling.traces_in_memory"),
        ("otel_collector", {"gateway": {"replicas": 0}}, "gateway.replicas"),
        ("otel_collector", {"gateway": {"volume": "0"}}, "gateway.volume"),
        ("otel_collector", {"gateway": {"queue": "lots"}}, "gateway.queue"),
        ("otel_collector", {"lowest_level": "debug"}, "lowest_level"),
        ("otel_collector", {"receive_from": ["Team A"]}, "receive_from"),
        ("otel_collector", {"abilities": ["flying"]}, "abilities"),
        ("otel_collector", {"redaction": {"names": []}}, "redaction.names"),
        ("logs", {"retention": "long"}, "logs.retention"),
        ("traces", {"mode": "external", "external": {"protocol": "http"}}, "external.endpoint"),
        ("traces", {"mode": "external", "external": {"endpoint": "x:1", "protocol": "udp"}}, "external.protocol"),
    ],
)
def test_value_that_is_wrong_by_itself_is_refused_by_its_name(section: str, values: Any, where: str) -> None:  # noqa: ANN401  # any YAML
    assert where in refusal({**ON, section: {**MANAGED, **values}})


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            {"otel_collector": {"gateway": {"volume": "2Gi", "queue": "1Gi"}}},
            "gateway.queue: 2 queues of 1073741824 bytes on a volume of 2Gi",
        ),
        (
            {"otel_collector": {"agent": {"queue": "3Gi", "disk": "10Gi"}}},
            "agent.queue: 3 queues of 3221225472 bytes, with 10737418240 of the node's disk",
        ),
        ({"otel_collector": {"agent": {"directory": "/"}}}, "agent.directory: `/`"),
        ({"otel_collector": {"agent": {"directory": "/var/log/pods/x"}}}, "agent.directory: `/var/log/pods/x`"),
        (
            {"otel_collector": {"sampling": {"slow": "60s"}}},
            "sampling.decision_wait: 60 s, but a trace is slow at 60000 ms",
        ),
        (
            {"otel_collector": {"sampling": {"slow": "2s", "decision_wait": "9s"}}},
            "sampling.decision_wait_after_root: 10 s, with a decision_wait of 9 s",
        ),
        ({"otel_collector": {"sampling": {"traces_in_memory": 599}}}, "traces_in_memory: 599 for a wait of 60 s"),
        (
            {"otel_collector": {"sampling": {"traces_in_memory": 1_000_000}}},
            "more than half of the gateway's 1073741824; accepted are at most 524288",
        ),
        ({"logs": {"retention": "36h"}}, "retention: `36h`; accepted are whole days"),
        ({"logs": {"retention_size": "41Gi"}}, "retention_bytes: 44023414784 of a volume of 53687091200"),
        ({"traces": {"retention": "23h"}}, "retention_seconds: 82800; accepted are 86400, one day, or more"),
        ({"traces": {"volume": "1Gi"}}, "volume_bytes: 1073741824; accepted are 2147483648, 2Gi, or more"),
        ({"traces": {"memory": "256Mi"}}, "memory_bytes: 268435456; accepted are 536870912, 512Mi, or more"),
        (
            {"logs": {"mode": "external", "external": {"endpoint": "http://otlp.example.com/v1/logs"}}},
            "logs: endpoint: accepted is https://host/path with tls true",
        ),
        (
            {"traces": {"mode": "external", "external": {"endpoint": "https://x.example.com", "protocol": "grpc"}}},
            "traces: endpoint: accepted is `host:port` with the protocol grpc",
        ),
        (
            {"logs": {"mode": "external", "external": {"endpoint": "https://o.example.com", "headers_secret": "s"}}},
            "logs: headers_secret: of `s` no key is named",
        ),
        (
            {"logs": {"mode": "external", "external": {"endpoint": "https://o.example.com", "headers": ["A"]}}},
            "logs: headers_keys: named without a Secret",
        ),
    ],
)
def test_what_a_program_could_not_keep_is_refused_before_anything_exists(
    sections: dict[str, dict[str, Any]], words: str
) -> None:
    assert words in refused_plan(**sections)


def test_address_with_a_login_is_refused_and_not_repeated() -> None:
    login = {"mode": "external", "external": {"endpoint": "https://me:hunter2@otlp.example.com/v1/logs"}}
    message = refused_plan(logs=login)
    assert "logs: endpoint: holds a login" in message
    assert "hunter2" not in message


def test_two_replicas_are_refused_for_an_image_that_does_not_route_by_trace_id() -> None:
    message = refused_plan(otel_collector={"gateway": {"replicas": 2}, "abilities": []})
    assert "gateway.replicas is 2" in message
    assert "not known to route by trace id" in message
    with_own_image = collector_args(with_telemetry(otel_collector={"gateway": {"replicas": 2}}), UNKNOWN)
    assert with_own_image.abilities == frozenset()


def test_laying_over_leaves_the_rest_of_a_section() -> None:
    assert laid_over({"logs": {"volume": "1Gi"}})["logs"] == {"mode": "managed", "volume": "1Gi"}
