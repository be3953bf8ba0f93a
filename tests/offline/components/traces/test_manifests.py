"""Jaeger: what its arguments decide, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.images import ImagePin
from components.policy import violations
from components.prometheus.args import Resources
from components.traces.args import TracesArgs
from components.traces.component import Traces
from components.traces.config import document, render
from components.traces.manifests import manifests
from components.traces.names import otlp_endpoint
from tests.offline.components.pulumi_mocks import record, taken_uids

if TYPE_CHECKING:
    from components.objects import Manifest

MIB, GIB = 2**20, 2**30
ARGS = TracesArgs(
    stack="local",
    namespace="plumbline",
    image=ImagePin(reference="plumbline.local/jaeger:2.13.0-0123abcd"),
    retention_seconds=2 * 86_400,
    volume="5Gi",
    volume_bytes=5 * GIB,
    memory_bytes=1000 * MIB,
    storage_class=None,
    resources=Resources(cpu_request="50m", memory_request="256Mi", memory_limit="1Gi"),
    network_policies=True,
)


def built(args: TracesArgs = ARGS) -> dict[str, Manifest]:
    return manifests(args, render(args))


def container(args: TracesArgs = ARGS) -> dict[str, Any]:
    (found,) = built(args)["stateful-set"]["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_no_rule_is_broken() -> None:
    assert violations(built().values()) == []
    assert "network-policy" not in built(replace(ARGS, network_policies=False))


def test_spans_come_from_the_gateway_and_answers_go_to_the_own_namespace() -> None:
    asked, spans = built()["network-policy"]["spec"]["ingress"]
    assert asked == {
        "from": [{"podSelector": {}}],
        "ports": [{"port": 16686, "protocol": "TCP"}, {"port": 8888, "protocol": "TCP"}],
    }
    gateway = {"app.kubernetes.io/name": "otel-gateway", "app.kubernetes.io/instance": "plumbline"}
    assert spans == {
        "from": [{"podSelector": {"matchLabels": gateway}}],
        "ports": [{"port": 4317, "protocol": "TCP"}, {"port": 4318, "protocol": "TCP"}],
    }
    assert otlp_endpoint("plumbline") == "jaeger.plumbline.svc:4317"


def test_configuration_holds_age_paths_and_a_limiter_below_the_container() -> None:
    found = document(ARGS, "")
    assert found["extensions"]["jaeger_storage"]["backends"]["badger"]["badger"] == {
        "directories": {"keys": "/jaeger/keys", "values": "/jaeger/values"},
        "ephemeral": False,
        "consistency": False,
        "ttl": {"spans": "172800s"},
        "maintenance_interval": "5m",
        "metrics_update_interval": "10s",
    }
    limiter = {"check_interval": "100ms", "limit_mib": 700, "spike_limit_mib": 150}  # of 1000 MiB
    assert found["processors"] == {"memory_limiter": limiter}
    assert container()["env"] == [{"name": "GOMEMLIMIT", "value": "838860800B"}]  # 800 MiB
    assert found["service"]["pipelines"]["traces"]["processors"] == ["memory_limiter"]


def test_a_changed_configuration_restarts_the_pod() -> None:
    def revision(args: TracesArgs) -> str:
        annotations = built(args)["stateful-set"]["spec"]["template"]["metadata"]["annotations"]
        return str(annotations["plumbline/config-revision"])

    assert revision(ARGS) == render(ARGS).revision
    assert revision(replace(ARGS, retention_seconds=3 * 86_400)) != revision(ARGS)


def test_configuration_is_mounted_where_the_program_is_told() -> None:
    found = built()
    pod: Manifest = found["stateful-set"]["spec"]["template"]["spec"]
    assert container()["args"] == ["--config=/etc/jaeger/jaeger.yaml"]
    assert list(found["config"]["data"]) == ["jaeger.yaml"]
    assert pod["volumes"] == [
        {"name": "config", "configMap": {"name": f"jaeger-config-{render(ARGS).revision}"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "jaeger-data"}},
    ]
    assert found["data"]["metadata"]["annotations"]["plumbline/retain"] == "true"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (replace(ARGS, retention_seconds=86_399), "retention_seconds: 86399; accepted are 86400, one day, or more"),
        (replace(ARGS, volume="1Gi", volume_bytes=GIB), "2Gi, or more"),
        (replace(ARGS, memory_bytes=511 * MIB), "512Mi, or more"),
        (replace(ARGS, memory_bytes=1025 * MIB), "no more than the container's limit"),
    ],
)
def test_what_cannot_work_is_refused(args: TracesArgs, said: str) -> None:
    with pytest.raises(DeployError) as found:
        built(args)
    assert said in str(found.value)


def test_component_registers_what_the_manifests_say_and_starts_the_pod_last() -> None:
    recorded = record(lambda: Traces("jaeger", ARGS))
    registered = {r.name: r.inputs for r in recorded.resources if r.type.startswith("kubernetes:")}
    assert taken_uids(registered.values()) == {"jaeger": "uid of jaeger-config"}
    assert registered == {f"jaeger-{role}": m for role, m in built().items()}
    assert {"jaeger-config", "jaeger-data"} <= set(recorded.named("jaeger-stateful-set").depends_on)
    assert {r.name for r in recorded.resources if r.retained} == {"jaeger-data"}
    assert recorded.outputs["jaeger"] == {"revision", "service_name"}
