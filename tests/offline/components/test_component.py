"""What is registered is what the manifests say: kinds, options, identity. The manifests themselves are golden files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pulumi
import pytest

from components.errors import DeployError
from components.kube import KINDS, register
from components.objects import identity
from components.prometheus import component as prometheus_component
from components.prometheus import lint as prometheus_lint
from components.prometheus.component import Prometheus
from stacks import bundle
from stacks.bundle import deploy, plan
from stacks.cluster import Access
from stacks.provider import kubernetes_provider
from tests.offline.components.pulumi_mocks import Recording, record
from tests.offline.stacks.examples import UID, local_args, settings, write_images

if TYPE_CHECKING:
    from stacks.settings import Settings

WHERE = Access(kubeconfig=Path("/k/config"), context="plumbline")

# Identity is API: with another token or name Pulumi replaces the object. A rename needs an alias and a changelog line.
IDENTITIES = {
    ("pulumi:providers:kubernetes", "kubernetes"),
    ("kubernetes:core/v1:Namespace", "namespace"),
    ("kubernetes:networking.k8s.io/v1:NetworkPolicy", "default-deny-ingress"),
    ("kubernetes:core/v1:ConfigMap", "contract"),
    ("plumbline:prometheus:Prometheus", "prometheus"),
    ("kubernetes:core/v1:ServiceAccount", "prometheus-service-account"),
    ("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "prometheus-cluster-role"),
    ("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", "prometheus-cluster-role-binding"),
    ("kubernetes:core/v1:ConfigMap", "prometheus-config"),
    ("kubernetes:core/v1:PersistentVolumeClaim", "prometheus-data"),
    ("kubernetes:core/v1:Service", "prometheus-service"),
    ("kubernetes:core/v1:Service", "prometheus-service-headless"),
    ("kubernetes:networking.k8s.io/v1:NetworkPolicy", "prometheus-network-policy"),
    ("kubernetes:apps/v1:StatefulSet", "prometheus-stateful-set"),
}


@pytest.fixture
def local(tmp_path: Path) -> Settings:
    return settings("local", write_images(tmp_path / "images.json"))


@pytest.fixture
def deployed(local: Settings, monkeypatch: pytest.MonkeyPatch) -> Recording:
    monkeypatch.setattr(bundle, "lint", lambda _: None)
    return record(lambda: deploy(local, kubernetes_provider(local, WHERE)))


def test_tokens_and_names_are_frozen(deployed: Recording) -> None:
    assert {(resource.type, resource.name) for resource in deployed.resources} == IDENTITIES


def test_every_manifest_is_registered_as_it_is(local: Settings, deployed: Recording) -> None:
    wanted = {identity(manifest): manifest for manifest in plan(local).manifests()}
    assert {identity(r.inputs): r.inputs for r in deployed.resources if r.type.startswith("kubernetes:")} == wanted


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


def test_claim_and_namespace_survive_destroy_and_nothing_else_does(deployed: Recording) -> None:
    assert {r.name for r in deployed.resources if r.retained} == {"namespace", "prometheus-data"}


def test_children_hang_on_the_component(deployed: Recording) -> None:
    children = [r for r in deployed.resources if r.name.startswith("prometheus-")]
    assert {child.parent for child in children} == {"prometheus"}


def test_options_of_the_component_do_not_reach_its_children() -> None:
    opts = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="old")], protect=False)
    plain = record(lambda: Prometheus("prometheus", local_args()))
    aliased = record(lambda: Prometheus("prometheus", local_args(), opts))
    assert aliased.named("prometheus").aliases == 1
    # Following a renamed parent is the engine's work; an alias of the component on a child would claim another object.
    assert aliased.named("prometheus-config").aliases == plain.named("prometheus-config").aliases


def test_pod_starts_after_what_it_mounts_and_may_read(deployed: Recording) -> None:
    needed = {"prometheus-config", "prometheus-data", "prometheus-service-account", "prometheus-cluster-role-binding"}
    assert needed <= set(deployed.named("prometheus-stateful-set").depends_on)


def test_component_waits_for_the_namespace(deployed: Recording) -> None:
    assert "namespace" in deployed.named("prometheus").depends_on


def test_component_registers_its_outputs(deployed: Recording) -> None:
    assert deployed.outputs["prometheus"] == {"revision", "service_name"}


def test_component_module_exports_one_component() -> None:
    found = [
        value
        for value in vars(prometheus_component).values()
        if isinstance(value, type) and issubclass(value, pulumi.ComponentResource)
    ]
    assert found == [Prometheus]


def test_unknown_kind_is_refused_with_the_place_to_add_it() -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}
    with pytest.raises(DeployError, match=r"Pod/x: kind \('v1', 'Pod'\) is not in components/kube\.py KINDS"):
        register("x", manifest, pulumi.ResourceOptions())


def test_every_kind_is_made_by_the_class_of_that_name() -> None:
    assert all(made.__name__ == kind for (_, kind), made in KINDS.items())


@pytest.mark.parametrize("judge", ["enforce", "lint"])
def test_what_a_judge_refuses_is_not_registered(local: Settings, monkeypatch: pytest.MonkeyPatch, judge: str) -> None:
    registered: list[str] = []
    monkeypatch.setattr(bundle, "lint", lambda _: None)
    monkeypatch.setattr(bundle, judge, _refuse)
    monkeypatch.setattr(bundle, "register", lambda logical, *_: registered.append(logical))
    with pytest.raises(DeployError, match="refused"):
        record(lambda: deploy(local, kubernetes_provider(local, WHERE)))
    assert registered == []


def test_the_linter_of_the_bundle_is_promtool() -> None:
    assert vars(bundle)["lint"] is prometheus_lint.lint


def _refuse(_: object) -> None:
    raise DeployError("refused")
