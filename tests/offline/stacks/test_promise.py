"""The outputs contract says what the stack is, per profile and stack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from components.prometheus.config import SENTINEL_FILE
from signals.catalogue import PRODUCERS
from stacks.bundle import Plan, plan
from stacks.contract import CAPABILITIES, Contract
from stacks.promise import capabilities
from tests.offline.stacks.examples import IMAGE_ID, LOCAL_IMAGE, UID, existing, settings, stack_file, write_images
from tests.offline.stacks.test_recovery_relations import EXTERNAL

if TYPE_CHECKING:
    from pathlib import Path

ALWAYS = {
    *("cluster.identity", "pods.running", "pods.not_restarted", "workloads.rolled_out", "workloads.image"),
    *("claims.bound", "node.conditions", "pod.security"),
    *("prometheus.rules_healthy", "prometheus.sentinel_rule", "scrape.expected_jobs", "scrape.all_up"),
    *("scrape.no_duplicates", "scrape.labels"),
    *("signals.contract", "signals.fresh", "signals.budget", "signals.banned"),
    *("boards.choices", "boards.answered"),
}
OWN_PROMETHEUS = {
    *("prometheus.reload", "prometheus.revision", "prometheus.flags", "prometheus.storage_fresh"),
    "pod.volume",
}
PUSH = {"push.flags", "push.labels"}
GPU = {"gpu.count", "gpu.attribution", "gpu.handover"}
ALERTING = {"alertmanager.config", "alertmanager.connected"}
OBJECTS = {"objects.roundtrip", "objects.anonymous"}
EXPERIMENTS = {
    *("swanlab.ready", "swanlab.activated", "swanlab.closed", "swanlab.large_bodies", "swanlab.volumes"),
    "swanlab.roundtrip",
}
RECOVERY = {"recovery.jobs", "recovery.points", "recovery.target"}
TELEMETRY = {
    *(
        f"telemetry.{name}"
        for name in ("config", "accounting", "redaction", "log", "trace", "sampling", "span_metrics")
    ),
    *("logs.retention", "traces.retention"),
}
NODE = {"node.kernel", "node.cgroup", "node.runtime", "node.kubelet", "node.disk", "node.clock"}


RECEIVERS = stack_file("staging")["plumbline:alertmanager"]["receivers"]
MONITORED = ("metrics", "prometheus-managed", "kube-state", "push")
KEPT = ("object-store", "experiments", "experiments-pod")
WATCHED = ("telemetry", "logs", "traces")


def planned(stack: str, tmp_path: Path) -> Plan:
    return plan(settings(stack, write_images(tmp_path / "images.json")))


@pytest.mark.parametrize(
    ("stack", "capabilities"),
    [
        (
            "local",
            (*MONITORED, *KEPT, "gpu", "alerting", "alert-sink", "recovery", *WATCHED, "node-access", "disruptive"),
        ),
        ("kind", (*MONITORED, "disruptive")),
        ("staging", (*MONITORED, "gpu", "alerting", "grafana")),
        ("prod", (*MONITORED, "gpu", "alerting", "grafana")),
    ],
)
def test_capabilities(stack: str, capabilities: tuple[str, ...], tmp_path: Path) -> None:
    found = planned(stack, tmp_path).contract.capabilities
    assert set(found) == set(capabilities)
    assert list(found) == [name for name in CAPABILITIES if name in capabilities]


EVERYTHING = ALWAYS | OWN_PROMETHEUS | PUSH | GPU | ALERTING
DELIVERY = {"alerting.delivery"}
GRAFANA = {f"grafana.{name}" for name in ("health", "closed", "datasources", "boards", "panels")}


@pytest.mark.parametrize(
    ("stack", "checks"),
    [
        (
            "local",
            EVERYTHING | DELIVERY | NODE | OBJECTS | EXPERIMENTS | {"swanlab.roundtrip_pod"} | RECOVERY | TELEMETRY,
        ),
        ("kind", ALWAYS | OWN_PROMETHEUS | PUSH),
        ("staging", EVERYTHING | GRAFANA),
        ("prod", EVERYTHING | GRAFANA),
    ],
)
def test_expected_checks_follow_from_what_the_stack_has(stack: str, checks: set[str], tmp_path: Path) -> None:
    found = planned(stack, tmp_path).contract.expected_checks
    assert set(found) == checks
    assert len(found) == len(checks)


def test_stack_with_somebody_elses_prometheus_promises_nothing_of_its_inside() -> None:
    """The same stack, but its alerts go where that Prometheus sends them, unless it is told of ours as well."""
    told = plan(existing()).contract
    assert told.capabilities == ("metrics", "gpu", "kube-state", "push", "grafana")
    assert set(told.expected_checks) == ALWAYS | PUSH | GPU | GRAFANA
    assert told.receivers == ()
    ours = plan(existing(existing_prometheus={"tells_our_alertmanager": True})).contract
    assert ours.capabilities == ("metrics", "gpu", "kube-state", "alerting", "push", "grafana")
    assert set(ours.expected_checks) == ALWAYS | PUSH | GPU | GRAFANA | ALERTING
    assert ours.receivers
    sink = {"sink": {"namespace": "sink", "service": "sink", "port": 8080}}
    read_back = plan(existing(existing_prometheus={"tells_our_alertmanager": True}, alertmanager=sink)).contract
    assert set(read_back.expected_checks) == ALWAYS | PUSH | GPU | GRAFANA | ALERTING | DELIVERY


@pytest.mark.parametrize(
    ("sections", "gained", "lost"),
    [
        ({"dcgm_exporter": {"mode": "off"}}, set(), {"gpu"}),
        ({"dcgm_exporter": {"mode": "off", "targets": [{"node": "n", "address": "n:9400"}]}}, set(), set()),
        ({"kube_state_metrics": {"mode": "off"}}, set(), {"kube-state"}),
        ({"pushgateway": {"mode": "off"}}, set(), {"push"}),
        ({"grafana": {"mode": "off"}}, set(), {"grafana"}),
        # Of somebody else's the password is not known.
        ({"grafana": {"mode": "existing", "existing": {"namespace": "team"}}}, set(), {"grafana"}),
        ({"alertmanager": {"mode": "off"}}, set(), {"alerting"}),
        ({"alertmanager": {"mode": "existing", "existing": [{"address": "am.x:9093"}]}}, set(), {"alerting"}),
        (
            {"alertmanager": {"sink": {"namespace": "sink", "service": "sink", "port": 8080}}},
            {"alert-sink"},
            set(),
        ),
        ({"cluster": {"node_access": True}}, {"node-access"}, set()),
        ({"object_store": {"mode": "managed", "buckets": [{"name": "media"}]}}, {"object-store"}, set()),
        ({"swanlab": {"mode": "managed"}}, {"experiments"}, set()),
        ({"swanlab": {"mode": "managed", "sdk_image": "r.example.org/sdk:1"}}, {*KEPT} - {"object-store"}, set()),
        ({"swanlab": {"mode": "off", "sdk_image": "r.example.org/sdk:1"}}, set(), set()),
    ],
    ids=[
        *(
            "no GPUs",
            "GPUs outside",
            "no objects",
            "no pushes",
            "no Grafana",
            "a team's Grafana",
            "nobody",
            "a team's own",
            "sink",
            "node",
        ),
        *("buckets", "experiments", "an SDK for pods", "an SDK for nothing"),
    ],
)
def test_each_capability_follows_from_its_setting(
    sections: dict[str, dict[str, Any]], gained: set[str], lost: set[str]
) -> None:
    plain = set(capabilities(settings("staging")))
    assert set(capabilities(settings("staging", None, **sections))) == (plain | gained) - lost


def test_every_job_of_the_catalogue_is_promised(tmp_path: Path) -> None:
    found = {job.job: job.min_targets for job in planned("local", tmp_path).contract.scrape}
    assert found == dict.fromkeys((page.job for page in PRODUCERS if page.job != "grafana"), 1)
    elsewhere = {job.job: job.min_targets for job in planned("staging", tmp_path).contract.scrape}
    assert elsewhere["grafana"] == 1


def test_prometheus_is_described_as_deployed(tmp_path: Path) -> None:
    decided = planned("local", tmp_path)
    found = decided.contract.components["prometheus"]
    assert found.tier == "live"
    assert found.endpoints["http"].model_dump() == {
        "service": "prometheus",
        "namespace": None,
        "port": 9090,
        "scheme": "http",
        "url": None,
    }
    assert [claim.model_dump() for claim in found.claims] == [
        {"name": "prometheus-data", "size": "4Gi", "mounted_at": "/prometheus"}
    ]
    assert decided.systems[0].name == "prometheus"
    files = decided.systems[0].manifests["config"]["data"]
    (shown,) = yaml.safe_load(files[SENTINEL_FILE])["groups"][0]["rules"]
    assert found.revision == shown["labels"]["revision"]
    image = found.workloads[0].images[0]
    assert (image.container, image.reference, image.image_id) == ("prometheus", LOCAL_IMAGE.reference, IMAGE_ID)


def test_identity_is_the_clusters(tmp_path: Path) -> None:
    found = planned("kind", tmp_path).contract.cluster
    assert (found.uid, found.context, found.name, found.environment) == (UID, "kind-kind", "kind", "dev")


def test_config_map_holds_the_same_contract_as_the_output(tmp_path: Path) -> None:
    decided = planned("local", tmp_path)
    text = decided.foundation["contract"]["data"]["contract.json"]
    assert Contract.model_validate_json(text) == decided.contract
    assert json.loads(text) == decided.contract.model_dump(mode="json")
    assert decided.foundation["contract"]["metadata"]["name"] == "plumbline-contract"


def test_network_policies_can_be_left_out(tmp_path: Path) -> None:
    """Those of SwanLab and of its restore points too; an object store cannot be without."""
    path = write_images(tmp_path / "images.json")
    elsewhere = {"target": {"external": EXTERNAL}}
    without: dict[str, Any] = {"object_store": {"mode": "off"}, "swanlab": {"stores": {}}, "recovery": elsewhere}
    closed = plan(settings("local", path, **without))
    assert {"swanlab", "swanlab-gate", "recovery"} <= {
        s.name for s in closed.systems for m in s.manifests.values() if policy(m)
    }
    found = plan(settings("local", path, network={"policies": False}, **without))
    assert [m["metadata"]["name"] for m in found.manifests() if policy(m)] == []


def policy(manifest: dict[str, Any]) -> bool:
    return bool(manifest["kind"] == "NetworkPolicy")


def test_receivers_of_the_contract_name_files_never_contents() -> None:
    found = {receiver.name: receiver.webhooks for receiver in plan(settings("staging")).contract.receivers}
    assert list(found) == ["P0", "P1", "P2", "P3", "watchdog"]
    (hook,) = found["P0"]
    assert (hook.url, hook.url_file) == (None, "/etc/alertmanager-secrets/alert-receivers/p0")
    token = {"url": "https://pager.example.com/v1", "token": {"name": "pager", "key": "token"}}
    with_token = settings("staging", None, alertmanager={"receivers": RECEIVERS | {"P1": [token]}})
    (told,) = {receiver.name: receiver.webhooks for receiver in plan(with_token).contract.receivers}["P1"]
    assert (told.url, told.credentials_file) == (token["url"], "/etc/alertmanager-secrets/pager/token")


def test_component_that_somebody_else_runs_is_not_managed() -> None:
    found = plan(existing()).contract.components["prometheus"]
    assert (found.managed, found.namespace, found.workloads, found.claims) == (False, "team-monitoring", (), ())
    assert found.endpoints["http"].service == "prometheus-operated"


def test_sink_stands_beside_the_alertmanager_that_writes_to_it(tmp_path: Path) -> None:
    found = planned("local", tmp_path).contract.components["alertmanager"].endpoints["sink"]
    assert (found.namespace, found.service, found.port) == ("plumbline-sandbox", "alert-sink", 8080)
    assert "sink" not in plan(settings("staging")).contract.components["alertmanager"].endpoints


@pytest.mark.parametrize(("asked", "pods"), [(True, 0), (False, None)])
def test_exporter_of_a_pool_that_may_be_empty_needs_no_pod(*, asked: bool, pods: int | None) -> None:
    found = plan(settings("staging", None, dcgm_exporter={"may_be_empty": asked}))
    [workload] = found.contract.components["dcgm-exporter"].workloads
    assert workload.replicas == pods
