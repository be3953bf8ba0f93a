"""What is registered is what the manifests say: kinds, options, identity. The manifests themselves are golden files."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from components.alertmanager.component import Alertmanager
from components.dcgm_exporter.component import DcgmExporter
from components.errors import DeployError
from components.existing_prometheus.component import ExistingPrometheus
from components.kube import KINDS, register
from components.kube_state_metrics.component import KubeStateMetrics
from components.node_exporter.component import NodeExporter
from components.object_store.component import ObjectStore
from components.objects import identity
from components.prometheus.component import Prometheus
from components.pushgateway.component import Pushgateway
from components.secrets import ROOT, fingerprint
from components.swanlab_gate.component import SwanlabGate
from stacks import bundle, systems
from stacks.bundle import deploy, plan
from stacks.cluster import Access
from stacks.provider import kubernetes_provider
from tests.offline.components.pulumi_mocks import Recording, record
from tests.offline.stacks.examples import ROOT_SECRET, UID, existing, local_args, settings, write_images

if TYPE_CHECKING:
    from stacks.settings import Settings

WHERE = Access(kubeconfig=Path("/k/config"), context="plumbline")
LINTERS = ("lint_prometheus", "lint_alertmanager", "lint_existing")

# Identity is API: with another token or name Pulumi replaces the object. A rename needs an alias and a changelog line.
CORE, APPS, NETWORK = "kubernetes:core/v1:", "kubernetes:apps/v1:", "kubernetes:networking.k8s.io/v1:"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1:"
BATCH = "kubernetes:batch/v1:"
FOUNDATION = {
    ("pulumi:providers:kubernetes", "kubernetes"),
    (f"{CORE}Namespace", "namespace"),
    (f"{CORE}Namespace", "node-namespace"),
    (f"{CORE}ResourceQuota", "node-quota"),
    (f"{NETWORK}NetworkPolicy", "default-deny-ingress"),
    (f"{NETWORK}NetworkPolicy", "node-default-deny-ingress"),
    (f"{CORE}ConfigMap", "contract"),
}
OWN_PROMETHEUS = {
    ("plumbline:prometheus:Prometheus", "prometheus"),
    (f"{CORE}ServiceAccount", "prometheus-service-account"),
    (f"{RBAC}ClusterRole", "prometheus-cluster-role"),
    (f"{RBAC}ClusterRoleBinding", "prometheus-cluster-role-binding"),
    (f"{CORE}ConfigMap", "prometheus-config"),
    (f"{CORE}PersistentVolumeClaim", "prometheus-data"),
    (f"{CORE}Service", "prometheus-service"),
    (f"{CORE}Service", "prometheus-service-headless"),
    (f"{NETWORK}NetworkPolicy", "prometheus-network-policy"),
    (f"{APPS}StatefulSet", "prometheus-stateful-set"),
}
OTHERS = {
    ("plumbline:alertmanager:Alertmanager", "alertmanager"),
    (f"{CORE}ConfigMap", "alertmanager-config"),
    (f"{CORE}PersistentVolumeClaim", "alertmanager-data"),
    (f"{CORE}Service", "alertmanager-service"),
    (f"{CORE}Service", "alertmanager-service-headless"),
    (f"{NETWORK}NetworkPolicy", "alertmanager-network-policy"),
    (f"{APPS}StatefulSet", "alertmanager-stateful-set"),
    ("plumbline:pushgateway:Pushgateway", "pushgateway"),
    (f"{CORE}PersistentVolumeClaim", "pushgateway-data"),
    (f"{CORE}Service", "pushgateway-service"),
    (f"{CORE}Service", "pushgateway-service-headless"),
    (f"{NETWORK}NetworkPolicy", "pushgateway-network-policy"),
    (f"{APPS}StatefulSet", "pushgateway-stateful-set"),
    ("plumbline:kube-state-metrics:KubeStateMetrics", "kube-state-metrics"),
    (f"{CORE}ServiceAccount", "kube-state-metrics-service-account"),
    (f"{RBAC}ClusterRole", "kube-state-metrics-cluster-role"),
    (f"{RBAC}ClusterRoleBinding", "kube-state-metrics-cluster-role-binding"),
    (f"{CORE}Service", "kube-state-metrics-service"),
    (f"{NETWORK}NetworkPolicy", "kube-state-metrics-network-policy"),
    (f"{APPS}Deployment", "kube-state-metrics-deployment"),
    ("plumbline:node-exporter:NodeExporter", "node-exporter"),
    (f"{CORE}ServiceAccount", "node-exporter-service-account"),
    (f"{CORE}Service", "node-exporter-service"),
    (f"{APPS}DaemonSet", "node-exporter-daemon-set"),
    ("plumbline:dcgm-exporter:DcgmExporter", "dcgm-exporter"),
    (f"{CORE}ServiceAccount", "dcgm-exporter-service-account"),
    (f"{CORE}ConfigMap", "dcgm-exporter-counters"),
    (f"{CORE}Service", "dcgm-exporter-service"),
    (f"{NETWORK}NetworkPolicy", "dcgm-exporter-network-policy"),
    (f"{APPS}DaemonSet", "dcgm-exporter-daemon-set"),
}
EXPERIMENTS = {
    ("plumbline:object-store:ObjectStore", "object-store"),
    (f"{CORE}PersistentVolumeClaim", "object-store-data"),
    (f"{CORE}Secret", "object-store-identities"),
    (f"{CORE}Secret", "object-store-keys"),
    (f"{CORE}Service", "object-store-service"),
    (f"{CORE}Service", "object-store-service-headless"),
    (f"{NETWORK}NetworkPolicy", "object-store-network-policy"),
    (f"{APPS}StatefulSet", "object-store-stateful-set"),
    ("plumbline:swanlab:Swanlab", "swanlab"),
    (f"{CORE}Namespace", "swanlab-namespace"),
    *((f"{CORE}PersistentVolumeClaim", f"swanlab-claim-{name}") for name in ("postgres", "redis", "clickhouse")),
    (f"{CORE}PersistentVolumeClaim", "swanlab-claim-buffer-0"),
    (f"{CORE}ConfigMap", "swanlab-places"),
    *((f"{CORE}Secret", f"swanlab-secret-{name}") for name in ("postgres", "redis", "clickhouse", "s3")),
    *(
        (f"{NETWORK}NetworkPolicy", f"swanlab-network-{name}")
        for name in ("default-deny", "gateway", "internal", "gate")
    ),
    *(
        (f"{NETWORK}NetworkPolicy", f"swanlab-network-metrics-{name}")
        for name in ("gateway", "server", "auth", "house", "vector", "clickhouse")
    ),
    ("kubernetes:helm.sh/v3:Release", "swanlab-release"),
    ("plumbline:swanlab-gate:SwanlabGate", "swanlab-gate"),
    (f"{CORE}Service", "swanlab-gate-service"),
    (f"{NETWORK}NetworkPolicy", "swanlab-gate-network-policy"),
    (f"{APPS}Deployment", "swanlab-gate-deployment"),
}
_STORE = ("data", "service", "service-headless", "keep-lock", "network-policy", "stateful-set")
_STORE_KINDS = (
    *(f"{CORE}{kind}" for kind in ("PersistentVolumeClaim", "Service", "Service", "ConfigMap")),
    *(f"{NETWORK}NetworkPolicy", f"{APPS}StatefulSet"),
)
RECOVERY = {
    ("plumbline:recovery:Recovery", "recovery"),
    (f"{CORE}Namespace", "recovery-namespace"),
    (f"{CORE}ResourceQuota", "recovery-quota"),
    (f"{CORE}ServiceAccount", "recovery-service-account"),
    (f"{RBAC}Role", "recovery-role"),
    (f"{RBAC}RoleBinding", "recovery-role-binding"),
    *((f"{CORE}ConfigMap", f"recovery-config-{side}") for side in ("create", "recovery")),
    *(
        (f"{NETWORK}NetworkPolicy", f"recovery-network-{name}")
        for name in ("default-deny", "stores", "buffer", "alertmanager")
    ),
    *((kind, f"recovery-store-{role}") for kind, role in zip(_STORE_KINDS, _STORE, strict=True)),
    *(
        (f"{CORE}Secret", f"recovery-secret-{name}")
        for name in (
            *("signing", "signing-create", "scratch", "writer", "writer-create", "reader", "reader-restore", "pruner"),
            *("store-admin", "store-identities"),
        )
    ),
    *((f"{BATCH}CronJob", f"recovery-cron-job-{command}") for command in ("create", "verify", "prune", "restore")),
}
OPERATOR = "kubernetes:monitoring.coreos.com/v1:"
_POLICIES = ("dcgm-exporter", "kube-state-metrics", "kube-state-metrics-self", "pushgateway", "alertmanager")
_RULES = (
    *("alertmanager", "gpu", "gpu-kubernetes", "identity", "kube-state-metrics", "kubernetes", "node", "page-proof"),
    *("pushgateway", "sentinel", "series", "targets", "watchdog"),
)
EXISTING_PROMETHEUS = {
    ("plumbline:existing_prometheus:ExistingPrometheus", "existing-prometheus"),
    *((f"{NETWORK}NetworkPolicy", f"existing-prometheus-network-policy-{job}") for job in _POLICIES),
    *((f"{OPERATOR}PodMonitor", f"existing-prometheus-pod-monitor-{job}") for job in (*_POLICIES, "node-exporter")),
    *((f"{OPERATOR}PrometheusRule", f"existing-prometheus-rule-rules-{name}") for name in _RULES),
}
COMPONENTS: dict[str, type[pulumi.ComponentResource]] = {
    "prometheus": Prometheus,
    "alertmanager": Alertmanager,
    "pushgateway": Pushgateway,
    "kube-state-metrics": KubeStateMetrics,
    "node-exporter": NodeExporter,
    "dcgm-exporter": DcgmExporter,
    "object-store": ObjectStore,
    "swanlab-gate": SwanlabGate,
}
"""Those of one program each. SwanLab's release has a test of its own."""


def children(deployed: Recording, component: str) -> list[str]:
    """Names of what hangs on a component."""
    return [resource.name for resource in deployed.resources if resource.parent == component]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings("local", write_images(tmp_path_factory.mktemp("local") / "images.json"))


def registered(found: Settings) -> Recording:
    with pytest.MonkeyPatch.context() as monkeypatch:
        for linter in LINTERS:
            monkeypatch.setattr(systems, linter, lambda *_: None)
        return record(lambda: deploy(found, kubernetes_provider(found, WHERE)))


@pytest.fixture(scope="module")
def deployed(local: Settings) -> Recording:
    """One for all tests here: they read it and leave it as it is."""
    return registered(local)


def test_tokens_and_names_are_frozen(deployed: Recording) -> None:
    wanted = FOUNDATION | OWN_PROMETHEUS | OTHERS | EXPERIMENTS | RECOVERY
    assert {(resource.type, resource.name) for resource in deployed.resources} == wanted
    assert len(deployed.resources) == len(wanted)


def test_tokens_and_names_for_a_prometheus_that_runs_already_are_frozen() -> None:
    found = registered(existing())
    wanted = FOUNDATION | EXISTING_PROMETHEUS | OTHERS
    assert {(resource.type, resource.name) for resource in found.resources} == wanted


def test_every_manifest_is_registered_as_it_is(local: Settings, deployed: Recording) -> None:
    """But Secrets, whose content the engine alone knows, and the release, whose objects are its chart's.

    Claims of data that knows derived passwords have the root secret's fingerprint besides.
    """
    wanted = {identity(manifest): manifest for manifest in plan(local).manifests()}
    made = [copy.deepcopy(r) for r in deployed.resources if r.type.startswith("kubernetes:")]
    plain = [r for r in made if not r.type.endswith((":Secret", ":Release"))]
    marked = [r.inputs["metadata"]["annotations"].pop(ROOT, None) for r in plain if r.type.endswith("Claim")]
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
    claims |= {f"swanlab-claim-{name}" for name in ("postgres", "redis", "clickhouse", "buffer-0")}
    assert {r.name for r in deployed.resources if r.retained} == namespaces | claims | {"swanlab-places"}


@pytest.mark.parametrize("component", COMPONENTS)
def test_children_hang_on_their_component(deployed: Recording, component: str) -> None:
    names = {name for _, name in OWN_PROMETHEUS | OTHERS | EXPERIMENTS if name.startswith(f"{component}-")}
    assert set(children(deployed, component)) == names


def test_what_belongs_to_no_component_hangs_on_the_stack_alone(deployed: Recording) -> None:
    components = {*COMPONENTS, "swanlab", "recovery"}
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


@pytest.mark.parametrize("component", COMPONENTS)
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
    ],
)
def test_component_registers_its_outputs(deployed: Recording, component: str, outputs: set[str]) -> None:
    assert deployed.outputs[component] == outputs


@pytest.mark.parametrize("component", [*COMPONENTS.values(), ExistingPrometheus])
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


def refused(*_: object) -> None:
    raise DeployError("refused")


def nothing_is_registered(found: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deploy, which must be refused, and see that no object was made by the way."""
    made: list[str] = []

    def note(logical: str, *_: object) -> None:
        made.append(logical)

    monkeypatch.setattr(bundle, "register", note)
    monkeypatch.setattr(pulumi.ComponentResource, "__init__", lambda _, __, name, *___: made.append(name))
    with pytest.raises(DeployError, match="refused"):
        record(lambda: deploy(found, kubernetes_provider(found, WHERE)))
    assert made == []


def judges(monkeypatch: pytest.MonkeyPatch, refusing: str) -> None:
    """Let every linter pass but one."""
    for linter in LINTERS:
        monkeypatch.setattr(systems, linter, refused if linter == refusing else lambda *_: None)


@pytest.mark.parametrize("linter", ["lint_prometheus", "lint_alertmanager"])
def test_what_a_linter_refuses_is_not_registered(local: Settings, monkeypatch: pytest.MonkeyPatch, linter: str) -> None:
    judges(monkeypatch, linter)
    nothing_is_registered(local, monkeypatch)


@pytest.mark.parametrize("linter", ["lint_existing", "lint_alertmanager"])
def test_what_a_linter_refuses_is_not_handed_to_a_prometheus_that_runs_already(
    monkeypatch: pytest.MonkeyPatch, linter: str
) -> None:
    judges(monkeypatch, linter)
    nothing_is_registered(existing(), monkeypatch)


def test_what_policy_rules_refuse_is_not_registered(local: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    judges(monkeypatch, "none of them")
    monkeypatch.setattr(bundle, "enforce", refused)
    nothing_is_registered(local, monkeypatch)


def test_every_system_judges_the_very_files_that_are_deployed(local: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr(systems, "lint_prometheus", lambda files: seen.update(prometheus=files))
    monkeypatch.setattr(systems, "lint_alertmanager", lambda _, rendered: seen.update(alertmanager=rendered.files))
    decided = {system.name: system for system in plan(local).systems}
    for system in decided.values():
        system.lint()
    assert {name: decided[name].manifests["config"]["data"] for name in seen} == seen
    assert set(seen) == {"prometheus", "alertmanager"}


def test_linters_are_those_of_the_programs(local: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program leaves its name when it is run, and accepts; nothing but the routes is asked of amtool's answers."""
    ran = tmp_path / "ran"
    for program in ("promtool", "amtool"):
        (tmp_path / program).write_text(f'#!/bin/sh\necho "$(basename "$0") $1 $2" >> {ran}\n')
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for system in plan(local).systems:
        if system.name == "alertmanager":
            with pytest.raises(DeployError, match="the routing of alerts"):
                system.lint()
        else:
            system.lint()
    lines = ran.read_text().splitlines()
    assert {"promtool check config", "promtool check rules"} <= set(lines)
    assert {line.split()[0] for line in lines} == {"promtool", "amtool"}
    assert "amtool check-config alertmanager.yml" in lines
