"""What becomes of each part of the settings: which systems there are, in which namespace, and what each is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.images import ImagePin
from stacks.bundle import plan
from stacks.images import resolve
from stacks.systems import roles, systems
from tests.offline.stacks.examples import BUILT, existing, settings, write_images
from tests.offline.stacks.telemetry_examples import OFF

if TYPE_CHECKING:
    from pathlib import Path

    from stacks.contract import Component
    from stacks.settings import Settings

EVERY_ROLE = (
    *("prometheus", "alertmanager", "pushgateway", "kube-state-metrics", "node-exporter", "dcgm-exporter"),
    "grafana",
)
TEAM = {"namespace": "team", "labels": {"app": "theirs"}, "port": "http"}
UPSTREAM = {role: ImagePin(reference=f"registry.example.com/x/{role}:v1") for role in EVERY_ROLE}
WITHOUT_EXPERIMENTS = {"object_store": {"mode": "off"}, "swanlab": {"mode": "off"}, "recovery": {"mode": "off"}}
NAMESPACES = (
    dict.fromkeys(("node-exporter", "dcgm-exporter"), "plumbline-node")
    | dict.fromkeys(("swanlab", "swanlab-gate"), "plumbline-swanlab")
    | {"recovery": "plumbline-recovery"}
)
"""Component → namespace, where that is not the stack's."""


def promises(found: Settings, images: dict[str, ImagePin] | None = None) -> dict[str, Component]:
    return {system.name: system.promise for system in systems(found, images or BUILT)}


@pytest.mark.parametrize(
    ("stack", "sections", "missing"),
    [
        ("local", WITHOUT_EXPERIMENTS | OFF, {"grafana"}),
        ("staging", {}, set()),
        ("kind", {}, {"dcgm-exporter", "alertmanager", "grafana"}),
        ("staging", {"dcgm_exporter": {"mode": "existing", "existing": TEAM}}, {"dcgm-exporter"}),
        ("staging", {"node_exporter": {"mode": "existing", "existing": TEAM}}, {"node-exporter"}),
        ("staging", {"node_exporter": {"mode": "off"}}, {"node-exporter"}),
        ("staging", {"kube_state_metrics": {"mode": "existing", "existing": TEAM}}, {"kube-state-metrics"}),
        ("staging", {"kube_state_metrics": {"mode": "off"}}, {"kube-state-metrics"}),
        ("staging", {"pushgateway": {"mode": "off"}}, {"pushgateway"}),
        ("staging", {"alertmanager": {"mode": "existing", "existing": [{"address": "a:1"}]}}, {"alertmanager"}),
    ],
)
def test_images_are_needed_for_what_the_stack_deploys(stack: str, sections: dict[str, Any], missing: set[str]) -> None:
    assert roles(settings(stack, None, **sections)) == tuple(role for role in EVERY_ROLE if role not in missing)


def test_prometheus_that_runs_already_needs_no_image_and_comes_first() -> None:
    assert roles(existing()) == EVERY_ROLE[1:]
    assert [system.name for system in systems(existing(), BUILT)] == list(EVERY_ROLE)


def test_image_list_without_a_needed_role_is_refused_before_anything_is_decided(tmp_path: Path) -> None:
    path = tmp_path / "images.json"
    path.write_text("{}")
    with pytest.raises(DeployError, match="has no image for prometheus, alertmanager, pushgateway"):
        plan(settings("local", path))


def test_each_system_runs_the_image_of_its_role() -> None:
    """A system of one program has the role of its name; SwanLab's programs have roles that begin with it."""
    for name, promise in promises(settings("local")).items():
        for workload in promise.workloads:
            for image in workload.images:
                role = {"recovery-store": "object-store", "keep-lock": "recovery"}.get(image.container, name)
                wanted = BUILT[f"swanlab-{image.container}" if name == "swanlab" else role]
                assert (image.reference, image.image_id) == (wanted.reference, wanted.image_id)
            assert len(workload.images) == (2 if name == "recovery" else 1)


def test_stand_ins_are_simulated_and_the_rest_is_live() -> None:
    assert {name: promise.tier for name, promise in promises(settings("local")).items()} == {
        "prometheus": "live",
        "alertmanager": "live",
        "pushgateway": "live",
        "kube-state-metrics": "simulated",
        "node-exporter": "live",
        "dcgm-exporter": "simulated",
        "object-store": "live",
        "swanlab": "simulated",
        "swanlab-gate": "live",
        "recovery": "live",
        "victoria-logs": "live",
        "jaeger": "live",
        "otel-collector": "live",
    }


@pytest.mark.parametrize("role", EVERY_ROLE)
def test_a_stand_in_is_never_more_than_simulated(role: str) -> None:
    images = UPSTREAM | {role: replace(UPSTREAM[role], stand_in=True)}
    assert promises(settings("staging"), images)[role].tier == "simulated"


def test_upstream_exporter_measures_real_gpus() -> None:
    assert promises(settings("staging"), UPSTREAM)["dcgm-exporter"].tier == "gpu"
    assert {p.tier for name, p in promises(settings("staging"), UPSTREAM).items() if name != "dcgm-exporter"} == {
        "live"
    }


def test_simulated_mode_is_never_a_measurement_whatever_the_image() -> None:
    assert promises(settings("local"), BUILT | UPSTREAM)["dcgm-exporter"].tier == "simulated"


def test_pins_of_upstream_are_no_stand_ins() -> None:
    found = resolve(settings("staging").images, EVERY_ROLE)
    assert not [role for role, pin in found.items() if pin.stand_in]


OTHER_PLACES = {"recovery": {"plumbline", "plumbline-swanlab"}, "otel-collector": {"plumbline-node"}}
"""System → namespaces other than its own, in which it lets its pods in, or runs beside what it reads."""
AGENTS: dict[str, set[tuple[str, str, int | None]]] = {"otel-collector": {("DaemonSet", "otel-agent", None)}}
"""System → workloads that are promised as a component of their own, since they lie in another namespace."""


def test_node_agents_and_swanlab_lie_in_namespaces_of_their_own() -> None:
    for system in systems(settings("local"), BUILT):
        wanted = NAMESPACES.get(system.name, "plumbline")
        assert (system.promise.namespace or "plumbline") == wanted
        there = {m["metadata"]["namespace"] for m in system.manifests.values() if "namespace" in m["metadata"]}
        assert there == {wanted} | OTHER_PLACES.get(system.name, set())


def test_each_workload_and_claim_is_promised_as_it_is_deployed() -> None:
    """SwanLab's workloads are its chart's: of them there are no manifests here."""
    for system in systems(settings("local"), BUILT):
        deployed = {
            (m["kind"], m["metadata"]["name"], m["spec"].get("replicas"))
            for m in system.manifests.values()
            if m["kind"] in ("StatefulSet", "Deployment", "DaemonSet")
        }
        promised = {(w.kind, w.name, w.replicas) for w in system.promise.workloads}
        assert promised if system.name == "swanlab" else promised | AGENTS.get(system.name, set()) == deployed
        claims = {
            m["metadata"]["name"]: m["spec"]["resources"]["requests"]["storage"]
            for m in system.manifests.values()
            if m["kind"] == "PersistentVolumeClaim"
        }
        assert {claim.name: claim.size for claim in system.promise.claims} == claims


def test_each_endpoint_is_a_service_with_that_port() -> None:
    for system in systems(settings("local"), BUILT):
        if system.name == "swanlab":
            continue  # its Services are its chart's
        services = {
            (m["metadata"]["name"], port["port"])
            for m in system.manifests.values()
            if m["kind"] == "Service"
            for port in m["spec"]["ports"]
        }
        own = {(e.service, e.port) for name, e in system.promise.endpoints.items() if name != "sink"}
        assert own <= services


def test_node_namespace_exists_with_its_agents_alone(tmp_path: Path) -> None:
    images = write_images(tmp_path / "images.json")
    everything = set(plan(settings("local", images)).foundation)
    node = {"node-namespace", "node-quota", "node-default-deny-ingress"}
    assert everything == {"namespace", "default-deny-ingress", "contract", *node}
    agents_off = {"node_exporter": {"mode": "off"}, "dcgm_exporter": {"mode": "off"}}
    assert set(plan(settings("local", images, **agents_off)).foundation) == everything - node
    one = {"node_exporter": {"mode": "off"}}
    assert set(plan(settings("local", images, **one)).foundation) == everything


def test_namespaces_come_before_everything_that_lies_in_them(tmp_path: Path) -> None:
    there: list[str] = []
    for manifest in plan(settings("local", write_images(tmp_path / "images.json"))).manifests():
        meta = manifest["metadata"]
        if manifest["kind"] == "Namespace":
            there.append(meta["name"])
        assert meta.get("namespace", there[0]) in there, meta["name"]
    assert there == ["plumbline", "plumbline-node", "plumbline-swanlab", "plumbline-recovery"]


def test_namespace_gets_the_labels_by_which_somebody_elses_prometheus_selects_it() -> None:
    found = plan(existing(existing_prometheus={"namespace_labels": {"monitored": "yes"}})).foundation["namespace"]
    assert found["metadata"]["labels"]["monitored"] == "yes"
    assert found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("name", ["prometheus", "alertmanager"])
def test_revision_follows_the_configuration(name: str) -> None:
    plain = promises(settings("local"))[name].revision
    receivers = {key: [{"url": f"https://pager.example.com/{key}"}] for key in ("P0", "P1", "P2", "P3", "watchdog")}
    changed = settings("local", None, prometheus={"scrape_interval": "30s"}, alertmanager={"receivers": receivers})
    assert plain is not None
    assert promises(changed)[name].revision != plain
    assert promises(settings("local"))[name].revision == plain


@pytest.mark.parametrize("mode", ["managed", "off"])
def test_what_somebody_elses_prometheus_may_see_of_swanlab_comes_after_its_namespace(mode: str) -> None:
    """SwanLab's namespace is no part of the foundation; a right or a policy in it would find nothing to lie in."""
    found = {
        system.name: system
        for system in systems(existing("local", swanlab={"mode": mode}, recovery={"mode": mode}), BUILT)
    }
    order = list(found)
    assert found["prometheus"].after == (("swanlab",) if mode == "managed" else ())
    assert all(order.index(name) < order.index("prometheus") for name in found["prometheus"].after)
