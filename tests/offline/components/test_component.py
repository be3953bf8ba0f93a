"""What is registered is what the manifests say: kinds, options, identity. The manifests themselves are golden files."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi
import pytest

from components.alertmanager.component import Alertmanager
from components.dcgm_exporter.component import DcgmExporter
from components.errors import DeployError
from components.existing_prometheus.component import ExistingPrometheus
from components.grafana.component import Grafana
from components.grafana.existing_component import ExistingGrafana
from components.kube import KINDS, register
from components.kube_state_metrics.component import KubeStateMetrics
from components.logs.component import Logs
from components.node_exporter.component import NodeExporter
from components.object_store.component import ObjectStore
from components.objects import identity
from components.otel_collector.component import OtelCollector
from components.prometheus.component import Prometheus
from components.pushgateway.component import Pushgateway
from components.secrets import ROOT, fingerprint
from components.swanlab_gate.component import SwanlabGate
from components.traces.component import Traces
from stacks import systems, telemetry_systems
from stacks.bundle import deploy, plan
from stacks.cluster import Access
from stacks.provider import kubernetes_provider
from tests.offline.components.frozen import (
    EXISTING_PROMETHEUS,
    EXPERIMENTS,
    FOUNDATION,
    GRAFANA,
    OTHERS,
    OWN_PROMETHEUS,
    RECOVERY,
    TELEMETRY,
)
from tests.offline.components.otel_collector.examples import ARGS as COLLECTOR
from tests.offline.components.pulumi_mocks import Recording, record, taken_uids
from tests.offline.stacks.examples import ROOT_SECRET, UID, existing, local_args, settings, write_images

if TYPE_CHECKING:
    from stacks.settings import Settings

WHERE = Access(kubeconfig=Path("/k/config"), context="plumbline")
LINTERS = {
    **dict.fromkeys(("lint_prometheus", "lint_alertmanager", "lint_existing"), systems),
    **dict.fromkeys(("lint_collector", "lint_traces"), telemetry_systems),
}
"""Linter → the module that calls it."""

COMPONENTS: dict[str, type[pulumi.ComponentResource]] = {
    "prometheus": Prometheus,
    "alertmanager": Alertmanager,
    "pushgateway": Pushgateway,
    "kube-state-metrics": KubeStateMetrics,
    "node-exporter": NodeExporter,
    "dcgm-exporter": DcgmExporter,
    "object-store": ObjectStore,
    "swanlab-gate": SwanlabGate,
    "victoria-logs": Logs,
    "jaeger": Traces,
}
"""Those of one workload each. SwanLab's release and the collector, with agents and gateway, have tests of their own."""


def children(deployed: Recording, component: str) -> list[str]:
    """Names of what hangs on a component."""
    return [resource.name for resource in deployed.resources if resource.parent == component]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings("local", write_images(tmp_path_factory.mktemp("local") / "images.json"))


def registered(found: Settings) -> Recording:
    with pytest.MonkeyPatch.context() as monkeypatch:
        for linter, module in LINTERS.items():
            monkeypatch.setattr(module, linter, lambda *_: None)
        return record(lambda: deploy(found, kubernetes_provider(found, WHERE)))


@pytest.fixture(scope="module")
def deployed(local: Settings) -> Recording:
    """One for all tests here: they read it and leave it as it is."""
    return registered(local)


def test_tokens_and_names_are_frozen(deployed: Recording) -> None:
    wanted = FOUNDATION | OWN_PROMETHEUS | OTHERS | EXPERIMENTS | RECOVERY | TELEMETRY
    assert {(resource.type, resource.name) for resource in deployed.resources} == wanted
    assert len(deployed.resources) == len(wanted)


def test_tokens_and_names_for_a_prometheus_that_runs_already_are_frozen() -> None:
    found = registered(existing())
    wanted = FOUNDATION | EXISTING_PROMETHEUS | OTHERS | GRAFANA
    assert {(resource.type, resource.name) for resource in found.resources} == wanted


def test_every_manifest_is_registered_as_it_is(local: Settings, deployed: Recording) -> None:
    """But Secrets, whose content the engine alone knows, and the release, whose objects are its chart's.

    Claims of data that knows derived passwords have the root secret's fingerprint besides, and pods that read their
    configuration once the uid of its ConfigMap.
    """
    wanted = {identity(manifest): manifest for manifest in plan(local).manifests()}
    made = [copy.deepcopy(r) for r in deployed.resources if r.type.startswith("kubernetes:")]
    plain = [r for r in made if not r.type.endswith((":Secret", ":Release"))]
    marked = [r.inputs["metadata"]["annotations"].pop(ROOT, None) for r in plain if r.type.endswith("Claim")]
    assert taken_uids(r.inputs for r in plain) == {
        "otel-agent": "uid of otel-collector-agent-config, uid of otel-collector-agent-debug-info",
        "otel-gateway": "uid of otel-collector-gateway-config",
        "jaeger": "uid of jaeger-config",
    }
    assert {identity(r.inputs): r.inputs for r in plain} == wanted
    assert sorted(mark for mark in marked if mark is not None) == [fingerprint(ROOT_SECRET)] * 4


def test_everything_goes_to_the_explicit_provider(deployed: Recording) -> None:
    others = [r for r in deployed.resources if r.name != "kubernetes"]
    assert {r.provider for r in others} == {"kubernetes"}


def test_provider_is_bound_to_cluster_context_and_uid(deployed: Recording) -> None:
    assert deployed.named("kubernetes").inputs == {
        "kubeconfig": "/k/config",
        "context": "plumbline",
        "clusterIdentifier": UID,
        "enableServerSideApply": "true",
        "enableConfigMapMutable": "true",
        "enableSecretMutable": "true",
    }


def test_claims_and_namespaces_survive_destroy_and_nothing_else_does(deployed: Recording) -> None:
    """And where SwanLab's data was: without it, stores that are elsewhere would be left behind unseen."""
    namespaces = {"namespace", "node-namespace", "swanlab-namespace", "recovery-namespace"}
    claims = {"prometheus-data", "alertmanager-data", "pushgateway-data", "object-store-data", "recovery-store-data"}
    claims |= {"victoria-logs-data", "jaeger-data", "otel-collector-gateway-queue-0"}
    claims |= {f"swanlab-claim-{name}" for name in ("postgres", "redis", "clickhouse", "buffer-0")}
    assert {r.name for r in deployed.resources if r.retained} == namespaces | claims | {"swanlab-places"}


@pytest.mark.parametrize("component", COMPONENTS)
def test_children_hang_on_their_component(deployed: Recording, component: str) -> None:
    names = {name for _, name in OWN_PROMETHEUS | OTHERS | EXPERIMENTS | TELEMETRY if name.startswith(f"{component}-")}
    assert set(children(deployed, component)) == names


def test_what_belongs_to_no_component_hangs_on_the_stack_alone(deployed: Recording) -> None:
    components = {*COMPONENTS, "swanlab", "recovery", "otel-collector"}
    assert {r.name for r in deployed.resources if r.parent not in components} == {
        *(name for _, name in FOUNDATION),
        *components,
    }


def test_options_of_the_component_do_not_reach_its_children() -> None:
    opts = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="old")], protect=False)
    plain = record(lambda: Prometheus("prometheus", local_args()))
    aliased = record(lambda: Prometheus("prometheus", local_args(), opts))
    assert aliased.named("prometheus").aliases == 1
    # Following a renamed parent is the engine's work; an alias of the component on a child would claim another object.
    assert aliased.named("prometheus-config").aliases == plain.named("prometheus-config").aliases


@pytest.mark.parametrize("component", COMPONENTS)
def test_pods_start_after_everything_else_of_their_component(deployed: Recording, component: str) -> None:
    """What they mount, the account that they use, and what that account may do."""
    names = children(deployed, component)
    (workload,) = (name for name in names if name.endswith(("-stateful-set", "-daemon-set", "-deployment")))
    assert set(names) - {workload} <= set(deployed.named(workload).depends_on)
    assert names[-1] == workload


def test_agents_start_after_the_gateway_and_both_after_what_they_mount(deployed: Recording) -> None:
    gateway, agents = "otel-collector-gateway-stateful-set-0", "otel-collector-agent-daemon-set"
    names = children(deployed, "otel-collector")
    assert set(names) == {name for _, name in TELEMETRY if name.startswith("otel-collector-")}
    assert set(deployed.named(agents).depends_on) >= set(names) - {agents}
    assert set(deployed.named(gateway).depends_on) >= set(names) - {agents, gateway}


def test_replicas_of_the_gateway_are_restarted_one_after_the_other() -> None:
    found = replace(COLLECTOR, gateway=replace(COLLECTOR.gateway, replicas=2))
    made = record(lambda: OtelCollector("otel-collector", found))
    first, second = (f"otel-collector-gateway-stateful-set-{replica}" for replica in (0, 1))
    assert first in made.named(second).depends_on
    assert second not in made.named(first).depends_on


def test_collectors_are_registered_after_the_stores_that_they_send_to(deployed: Recording) -> None:
    needed = set(deployed.named("otel-collector").depends_on)
    assert {name for _, name in TELEMETRY if name.startswith(("victoria-logs-", "jaeger-"))} <= needed


def test_engine_leaves_windows_of_debugging_alone(deployed: Recording) -> None:
    assert deployed.named("otel-collector-agent-debug-info").ignored == (
        "data",
        'metadata.annotations["plumbline/config-revision"]',
    )
    assert [r.name for r in deployed.resources if r.ignored] == ["otel-collector-agent-debug-info"]


@pytest.mark.parametrize("component", [*COMPONENTS, "otel-collector"])
def test_component_waits_for_every_namespace(deployed: Recording, component: str) -> None:
    assert {"namespace", "node-namespace"} <= set(deployed.named(component).depends_on)


def test_contract_waits_for_its_namespace(deployed: Recording) -> None:
    assert "namespace" in deployed.named("contract").depends_on


@pytest.mark.parametrize(
    ("component", "outputs"),
    [
        ("prometheus", {"revision", "service_name"}),
        ("alertmanager", {"revision", "service_name"}),
        ("pushgateway", {"service_name"}),
        ("kube-state-metrics", {"service_name"}),
        ("node-exporter", {"service_name"}),
        ("dcgm-exporter", {"service_name"}),
        ("object-store", {"service_name"}),
        ("swanlab", {"namespace", "service_name"}),
        ("swanlab-gate", {"service_name"}),
        ("recovery", {"namespace"}),
        ("victoria-logs", {"service_name"}),
        ("jaeger", {"revision", "service_name"}),
        ("otel-collector", {"agent_revision", "gateway_revision", "agent_service", "gateway_service"}),
    ],
)
def test_component_registers_its_outputs(deployed: Recording, component: str, outputs: set[str]) -> None:
    assert deployed.outputs[component] == outputs


@pytest.mark.parametrize(
    "component", [*COMPONENTS.values(), ExistingPrometheus, OtelCollector, Grafana, ExistingGrafana]
)
def test_component_module_exports_one_component(component: type[pulumi.ComponentResource]) -> None:
    module = __import__(component.__module__, fromlist=["component"])
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, pulumi.ComponentResource)
    ]
    assert found == [component]


def test_unknown_kind_is_refused_with_the_place_to_add_it() -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}
    with pytest.raises(DeployError, match=r"Pod/x: kind \('v1', 'Pod'\) is not in components/kube\.py KINDS"):
        register("x", manifest, pulumi.ResourceOptions())


def test_every_kind_is_made_by_the_class_of_that_name() -> None:
    assert all(made.__name__ == kind for (_, kind), made in KINDS.items())
