"""Decisions about node-exporter's objects and command line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.node_exporter.component import NodeExporter
from components.node_exporter.manifests import manifests
from components.node_exporter.pod import arguments
from signals.catalogue.node_exporter import FLAGS
from tests.offline.components.exporter_args import NODE
from tests.offline.components.pulumi_mocks import record

if TYPE_CHECKING:
    from components.node_exporter.args import NodeExporterArgs

TEXTFILE = replace(NODE, textfile_directory="/var/lib/metrics")


def pod(args: NodeExporterArgs = NODE) -> dict[str, Any]:
    found: dict[str, Any] = manifests(args)["daemon-set"]["spec"]["template"]["spec"]
    return found


def container(args: NodeExporterArgs = NODE) -> dict[str, Any]:
    found: dict[str, Any] = pod(args)["containers"][0]
    return found


def test_listens_on_the_address_of_the_node_and_holds_its_port() -> None:
    args = replace(NODE, port=19100)
    assert "--web.listen-address=[$(HOST_IP)]:19100" in arguments(args)
    assert container(args)["env"] == [{"name": "HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}]
    ports = [{"name": "metrics", "containerPort": 19100, "hostPort": 19100, "protocol": "TCP"}]
    assert container(args)["ports"] == ports
    assert manifests(args)["service"]["spec"]["ports"][0]["port"] == 19100


def test_collectors_are_those_of_the_catalogue() -> None:
    assert set(FLAGS) <= set(arguments(NODE))
    assert [flag for flag in arguments(NODE) if flag not in FLAGS] == [
        "--web.listen-address=[$(HOST_IP)]:9100",
        "--path.procfs=/host/proc",
        "--path.sysfs=/host/sys",
        "--path.rootfs=/host/root",
        "--path.udev.data=/host/root/run/udev/data",
    ]


def test_paths_are_those_of_the_mounts() -> None:
    targets = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
    sources = {volume["name"]: volume["hostPath"]["path"] for volume in pod()["volumes"]}
    assert sources == {"procfs": "/proc", "sysfs": "/sys", "rootfs": "/"}
    assert {f"--path.{name}={targets[name]}" for name in sources} <= set(arguments(NODE))
    assert all(mount["readOnly"] for mount in container()["volumeMounts"])


def test_later_mounts_are_followed_where_the_node_allows() -> None:
    def propagation(args: NodeExporterArgs) -> dict[str, str]:
        mounts = container(args)["volumeMounts"]
        return {mount["name"]: mount["mountPropagation"] for mount in mounts if "mountPropagation" in mount}

    assert propagation(NODE) == {"rootfs": "HostToContainer"}
    assert propagation(replace(NODE, follow_mounts=False)) == {}


def test_textfile_directory_is_mounted_and_named() -> None:
    assert arguments(TEXTFILE)[-1] == "--collector.textfile.directory=/host/textfile"
    volume = {"name": "textfile", "hostPath": {"path": "/var/lib/metrics", "type": "Directory"}}
    assert volume in pod(TEXTFILE)["volumes"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--collector.cpu",), "must hold --collector.disable-defaults"),
        ((*FLAGS, "--path.rootfs=/"), "remove --path.rootfs=/ "),
        ((*FLAGS, "--web.listen-address=:9100"), "remove --web.listen-address=:9100 "),
    ],
)
def test_flags_that_contradict_the_pod_are_refused(flags: tuple[str, ...], words: str) -> None:
    with pytest.raises(DeployError, match=re.escape(words)):
        arguments(replace(NODE, flags=flags))


def test_pod_is_the_nodes_guest_and_nobody() -> None:
    assert pod()["hostNetwork"] is True
    assert "hostPID" not in pod()
    assert pod()["securityContext"]["runAsUser"] == 65534
    assert pod()["automountServiceAccountToken"] is False
    assert pod()["tolerations"] == [{"operator": "Exists"}]
    assert pod()["priorityClassName"] == "system-node-critical"


def test_component_registers_what_the_manifests_say() -> None:
    recording = record(lambda: NodeExporter("node-exporter", NODE))
    registered = {r.name: r.inputs for r in recording.resources if r.type.startswith("kubernetes:")}
    assert registered == {f"node-exporter-{role}": m for role, m in manifests(NODE).items()}
    assert "node-exporter-service-account" in recording.named("node-exporter-daemon-set").depends_on
