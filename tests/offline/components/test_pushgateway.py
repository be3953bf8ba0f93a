"""The Pushgateway: what its manifests decide, and that the real program keeps to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import requests

from components.images import ImagePin
from components.policy import violations
from components.prometheus.args import Resources
from components.pushgateway.args import PushgatewayArgs
from components.pushgateway.component import Pushgateway
from components.pushgateway.manifests import manifests
from components.pushgateway.names import CLAIM, DATA_PATH, FLAGS, NAME, arguments
from tests.offline.components.pulumi_mocks import record
from tests.offline.programs import free_port, require, running

if TYPE_CHECKING:
    from pathlib import Path

ARGS = PushgatewayArgs(
    stack="local",
    namespace="plumbline",
    image=ImagePin(reference="quay.io/prometheus/pushgateway:v1.11.1"),
    volume="1Gi",
    storage_class=None,
    resources=Resources(cpu_request="10m", memory_request="32Mi", memory_limit="128Mi"),
    network_policies=True,
)


def pod(args: PushgatewayArgs = ARGS) -> dict[str, Any]:
    found: dict[str, Any] = manifests(args)["stateful-set"]["spec"]["template"]["spec"]
    return found


def test_no_rule_is_broken() -> None:
    assert violations(manifests(ARGS).values()) == []


def test_claim_is_retained_and_says_whose_it_is() -> None:
    meta = manifests(ARGS)["data"]["metadata"]
    assert (meta["name"], meta["annotations"]["plumbline/retain"]) == (CLAIM, "true")
    assert meta["labels"]["plumbline/stack"] == "local"


def test_file_lies_on_the_claim() -> None:
    mounted = {mount["name"]: mount["mountPath"] for mount in pod()["containers"][0]["volumeMounts"]}
    assert mounted == {"data": DATA_PATH}
    assert FLAGS["persistence.file"].startswith(f"{DATA_PATH}/")


def test_closed_doors_are_not_opened_by_an_argument() -> None:
    assert pod()["containers"][0]["args"] == [
        "--persistence.file=/pushgateway/metrics",
        "--persistence.interval=10s",
    ]


def test_pod_has_no_account_of_the_cluster() -> None:
    assert pod()["automountServiceAccountToken"] is False


def test_own_namespace_alone_may_push_unless_told_otherwise() -> None:
    assert sources(ARGS) == ["plumbline"]
    assert sources(replace(ARGS, push_from=("backup", "batch", "backup"))) == ["plumbline", "backup", "batch"]


def test_network_policy_opens_one_port() -> None:
    rule = manifests(ARGS)["network-policy"]["spec"]["ingress"][0]
    assert rule["ports"] == [{"port": 9091, "protocol": "TCP"}]


def test_network_policy_can_be_left_out() -> None:
    assert "network-policy" not in manifests(replace(ARGS, network_policies=False))


def test_component_registers_every_manifest_and_starts_the_pod_last() -> None:
    recorded = record(lambda: Pushgateway("pushgateway", ARGS))
    assert {r.name for r in recorded.resources} == {"pushgateway", *(f"pushgateway-{role}" for role in manifests(ARGS))}
    assert "pushgateway-data" in recorded.named("pushgateway-stateful-set").depends_on
    assert {r.name for r in recorded.resources if r.retained} == {"pushgateway-data"}
    assert recorded.outputs["pushgateway"] == {"service_name"}


@pytest.fixture
def command(tmp_path: Path) -> tuple[list[str], str]:
    """The command line of the pod, with its volume in a directory and its port on this machine."""
    port = free_port()
    moved = [text.replace(DATA_PATH, str(tmp_path)) for text in arguments()]
    return [require(NAME), *moved, f"--web.listen-address=127.0.0.1:{port}"], f"http://127.0.0.1:{port}"


def test_program_reports_the_flags_and_keeps_its_doors_closed(command: tuple[list[str], str], tmp_path: Path) -> None:
    words, url = command
    with running(words, f"{url}/-/ready", tmp_path / "log"):
        flags = requests.get(f"{url}/api/v1/status", timeout=60).json()["data"]["flags"]
        wiped = requests.put(f"{url}/api/v1/admin/wipe", timeout=60)
        quitted = requests.post(f"{url}/-/quit", timeout=60)
    expected = {name: value.replace(DATA_PATH, str(tmp_path)) for name, value in FLAGS.items()}
    assert {name: flags.get(name) for name in FLAGS} == expected
    assert (wiped.status_code, quitted.status_code) == (404, 403)


def test_what_was_pushed_survives_a_restart(command: tuple[list[str], str], tmp_path: Path) -> None:
    words, url = command
    with running(words, f"{url}/-/ready", tmp_path / "log"):
        pushed = requests.post(f"{url}/metrics/job/backup/instance/db", data="backup_success_seconds 17\n", timeout=60)
    with running(words, f"{url}/-/ready", tmp_path / "log"):
        shown = requests.get(f"{url}/metrics", timeout=60).text
    assert pushed.ok
    assert 'backup_success_seconds{instance="db",job="backup"} 17\n' in shown


def test_a_push_that_contradicts_another_is_refused(command: tuple[list[str], str], tmp_path: Path) -> None:
    words, url = command
    with running(words, f"{url}/-/ready", tmp_path / "log"):
        first = requests.post(f"{url}/metrics/job/a", data="# TYPE x gauge\nx 1\n", timeout=60)
        other = requests.post(f"{url}/metrics/job/b", data="# TYPE x counter\nx 1\n", timeout=60)
    assert (first.status_code, other.status_code) == (200, 400)


def sources(args: PushgatewayArgs) -> list[str]:
    origins = manifests(args)["network-policy"]["spec"]["ingress"][0]["from"]
    return [origin["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] for origin in origins]
