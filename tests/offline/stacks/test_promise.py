"""The outputs contract says what the stack is, per profile and stack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from signals.catalogue import PRODUCERS
from stacks.bundle import Plan, plan
from stacks.contract import Contract
from tests.offline.stacks.examples import IMAGE_ID, LOCAL_IMAGE, STACKS, UID, settings, write_images

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = {
    *("cluster.identity", "pods.running", "pods.not_restarted", "workloads.rolled_out", "workloads.image"),
    *("claims.bound", "prometheus.reload", "prometheus.revision", "prometheus.flags", "prometheus.rules_healthy"),
    *("prometheus.sentinel_rule", "prometheus.storage_fresh", "scrape.expected_jobs", "scrape.all_up"),
    *("scrape.no_duplicates", "scrape.labels", "signals.contract", "signals.fresh", "pod.security", "pod.volume"),
    "node.conditions",
}
NODE_CHECKS = {"node.kernel", "node.cgroup", "node.runtime", "node.kubelet", "node.disk", "node.clock"}


def planned(stack: str, tmp_path: Path) -> Plan:
    return plan(settings(stack, write_images(tmp_path / "images.json")))


@pytest.mark.parametrize(
    ("stack", "capabilities"),
    [
        ("local", ("metrics", "node-access", "disruptive")),
        ("kind", ("metrics", "disruptive")),
        ("staging", ("metrics",)),
        ("prod", ("metrics",)),
    ],
)
def test_capabilities(stack: str, capabilities: tuple[str, ...], tmp_path: Path) -> None:
    assert planned(stack, tmp_path).contract.capabilities == capabilities


@pytest.mark.parametrize("stack", STACKS)
def test_expected_checks_are_those_of_the_smoke_suite(stack: str, tmp_path: Path) -> None:
    expected = CHECKS | (NODE_CHECKS if stack == "local" else set())
    found = planned(stack, tmp_path).contract.expected_checks
    assert set(found) == expected
    assert len(found) == len(expected)


def test_every_job_of_the_catalogue_is_promised(tmp_path: Path) -> None:
    found = {job.job: job.min_targets for job in planned("local", tmp_path).contract.scrape}
    assert found == dict.fromkeys((page.job for page in PRODUCERS), 1)


def test_prometheus_is_described_as_deployed(tmp_path: Path) -> None:
    decided = planned("local", tmp_path)
    found = decided.contract.components["prometheus"]
    assert found.tier == "live"
    assert found.endpoints["http"].model_dump() == {
        "service": "prometheus",
        "port": 9090,
        "scheme": "http",
        "url": None,
    }
    assert [claim.model_dump() for claim in found.claims] == [
        {"name": "prometheus-data", "size": "4Gi", "mounted_at": "/prometheus"}
    ]
    assert found.revision == decided.rendered.revision
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
    path = write_images(tmp_path / "images.json")
    found = plan(settings("local", path, network={"policies": False})).manifests()
    assert [m["kind"] for m in found if m["kind"] == "NetworkPolicy"] == []
