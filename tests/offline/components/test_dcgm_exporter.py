"""Decisions about dcgm-exporter's objects, and the counters file as upstream's parser reads it."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.dcgm_exporter.args import Counter, DcgmExporterArgs
from components.dcgm_exporter.component import DcgmExporter
from components.dcgm_exporter.counters import config_name, counters_csv
from components.dcgm_exporter.manifests import manifests
from components.errors import DeployError
from tests.offline.components.exporter_args import COUNTERS, DCGM
from tests.offline.components.pulumi_mocks import record

if TYPE_CHECKING:
    from components.objects import Manifest

ATTACHED = replace(DCGM, hostengine="nvidia-dcgm.gpu-operator.svc:5555")
SHARED = replace(DCGM, kubernetes_virtual_gpus=True)
SIMULATED = replace(DCGM, simulated=True, runtime_class="nvidia", hostengine="h:5555")


def pod(args: DcgmExporterArgs = DCGM) -> dict[str, Any]:
    found: dict[str, Any] = manifests(args)["daemon-set"]["spec"]["template"]["spec"]
    return found


def container(args: DcgmExporterArgs = DCGM) -> dict[str, Any]:
    found: dict[str, Any] = pod(args)["containers"][0]
    return found


def environment(args: DcgmExporterArgs = DCGM) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container(args)["env"] if "value" in entry}


def mounts(found: dict[str, Any]) -> dict[str, Manifest]:
    return {mount["name"]: mount for mount in found["volumeMounts"]}


def test_upstreams_contract_of_ports_and_variables() -> None:
    # As in deployment/templates/daemonset.yaml and pkg/cmd/app.go of dcgm-exporter.
    assert container()["name"] == "exporter"
    assert container()["ports"] == [{"name": "metrics", "containerPort": 9400, "protocol": "TCP"}]
    assert environment() == {
        "DCGM_EXPORTER_KUBERNETES": "true",
        "DCGM_EXPORTER_LISTEN": ":9400",
        "DCGM_EXPORTER_INTERVAL": "30000",
        "DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE": "uid",
    }
    assert container()["args"] == ["-f", "/etc/dcgm-exporter-counters/counters.csv"]


def test_switches_become_upstreams_variables() -> None:
    args = replace(
        DCGM,
        interval_ms=1000,
        gpu_id_type="device-name",
        kubernetes_virtual_gpus=True,
        dra=True,
        resource_names=("nvidia.com/a100", "nvidia.com/a10"),
    )
    assert (
        environment(args).items()
        >= {
            "DCGM_EXPORTER_INTERVAL": "1000",
            "DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE": "device-name",
            "KUBERNETES_VIRTUAL_GPUS": "true",
            "KUBERNETES_ENABLE_DRA": "true",
            "NVIDIA_RESOURCE_NAMES": "nvidia.com/a100,nvidia.com/a10",
        }.items()
    )


def test_managed_pod_has_one_capability_and_runs_where_the_gpus_are() -> None:
    assert container()["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["SYS_ADMIN"]}
    assert pod(replace(DCGM, runtime_class="nvidia"))["runtimeClassName"] == "nvidia"
    assert pod()["nodeSelector"] == {"kubernetes.io/os": "linux", "nvidia.com/gpu.present": "true"}


def test_attached_pod_reads_nothing_by_itself() -> None:
    assert container(ATTACHED)["args"][-2:] == ["-r", "nvidia-dcgm.gpu-operator.svc:5555"]
    assert container(ATTACHED)["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_simulated_pod_asks_for_no_gpu() -> None:
    assert container(SIMULATED)["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert "runtimeClassName" not in pod(SIMULATED)
    assert pod(SIMULATED)["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert "-r" not in container(SIMULATED)["args"]


@pytest.mark.parametrize("args", [DCGM, ATTACHED, SIMULATED], ids=["managed", "attached", "simulated"])
def test_every_pod_can_ask_the_kubelet(args: DcgmExporterArgs) -> None:
    """The socket is made by the kubelet, with its user as owner and the umask's mode: root alone may write to it."""
    assert pod(args)["securityContext"]["runAsUser"] == 0
    assert mounts(container(args))["pod-resources"] == {
        "name": "pod-resources",
        "mountPath": "/var/lib/kubelet/pod-resources",
        "readOnly": True,
    }


def test_kubelet_of_another_root_is_mounted_where_the_exporter_looks() -> None:
    args = replace(DCGM, pod_resources="/var/snap/kubelet/pod-resources")
    volumes = {volume["name"]: volume for volume in pod(args)["volumes"]}
    assert volumes["pod-resources"]["hostPath"] == {"path": "/var/snap/kubelet/pod-resources", "type": "Directory"}
    assert mounts(container(args))["pod-resources"]["mountPath"] == "/var/lib/kubelet/pod-resources"


def test_counters_are_mounted_as_a_directory_beside_the_images_own() -> None:
    assert mounts(container())["counters"]["mountPath"] == "/etc/dcgm-exporter-counters"
    assert "subPath" not in mounts(container())["counters"]


def test_new_counters_make_new_pods_and_the_same_ones_do_not() -> None:
    fewer = replace(DCGM, counters=COUNTERS[:1])
    assert pod(fewer) != pod()
    assert pod(replace(DCGM, counters=tuple(COUNTERS))) == pod()
    name = manifests(fewer)["counters"]["metadata"]["name"]
    assert {"name": "counters", "configMap": {"name": name}} in pod(fewer)["volumes"]
    assert name != manifests(DCGM)["counters"]["metadata"]["name"]


def test_exporter_asks_the_api_server_for_nothing_unless_gpus_are_shared_or_claimed() -> None:
    assert "cluster-role" not in manifests(DCGM)
    assert pod()["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("args", "kinds"),
    [(SHARED, {"pods"}), (replace(DCGM, dra=True), {"pods", "resourceslices"})],
    ids=["shared", "claimed"],
)
def test_rights_and_token_that_name_pods_of_shared_and_claimed_gpus(args: DcgmExporterArgs, kinds: set[str]) -> None:
    """As deployment/templates/clusterrole.yaml of dcgm-exporter, each kind in the group that has it."""
    groups = {"pods": "", "resourceslices": "resource.k8s.io"}
    assert pod(args)["automountServiceAccountToken"] is True
    assert manifests(args)["cluster-role"]["rules"] == [
        {"apiGroups": [groups[kind]], "resources": [kind], "verbs": ["get", "list", "watch"]} for kind in sorted(kinds)
    ]
    subject = manifests(args)["cluster-role-binding"]["subjects"][0]
    assert subject == {"kind": "ServiceAccount", "name": "dcgm-exporter", "namespace": "plumbline-node"}


def test_pod_that_maps_processes_to_pods_sees_those_of_the_node_and_no_other_does() -> None:
    """It reads /proc/<pid>/cgroup of every process on a GPU; invented GPUs have none."""
    assert pod(SHARED)["hostPID"] is True
    for args in (DCGM, ATTACHED, SIMULATED, replace(DCGM, dra=True), replace(SHARED, simulated=True)):
        assert "hostPID" not in pod(args)


def test_pods_of_the_stack_alone_may_scrape() -> None:
    policy = manifests(DCGM)["network-policy"]
    assert policy["metadata"]["namespace"] == "plumbline-node"
    assert policy["spec"]["ingress"] == [
        {
            "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "plumbline"}}}],
            "ports": [{"port": 9400, "protocol": "TCP"}],
        }
    ]
    assert "network-policy" not in manifests(replace(DCGM, network_policies=False))


def test_selectors_hold_no_version_and_match_the_pods() -> None:
    spec = manifests(DCGM)["daemon-set"]["spec"]
    selected = spec["selector"]["matchLabels"]
    assert selected == {"app.kubernetes.io/name": "dcgm-exporter", "app.kubernetes.io/instance": "plumbline"}
    assert selected.items() <= spec["template"]["metadata"]["labels"].items()
    assert manifests(DCGM)["service"]["spec"]["selector"] == selected


def test_a_roll_out_never_runs_two_pods_on_one_node() -> None:
    strategy = manifests(replace(DCGM, max_unavailable="3"))["daemon-set"]["spec"]["updateStrategy"]
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 3, "maxSurge": 0}}
    assert manifests(DCGM)["daemon-set"]["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == "10%"


def test_counters_read_back_as_three_fields_each() -> None:
    # Go's encoding/csv, as upstream uses it, then Trim of blanks: the same as this reader.
    records = [[cell.strip(" ") for cell in row] for row in csv.reader(counters_csv(COUNTERS).splitlines())]
    assert records == [[counter.field, counter.type, counter.help] for counter in COUNTERS]


GOOD = COUNTERS[0]


@pytest.mark.parametrize(
    ("counters", "words"),
    [
        ((), "there are none"),
        ((GOOD, GOOD), "DCGM_FI_DEV_GPU_TEMP stands twice"),
        ((replace(GOOD, field="DCGM_FI_DEV_gpu"),), "`DCGM_FI_DEV_gpu` is no field"),
        ((replace(GOOD, field="# DCGM_FI_DEV_X"),), "is no field"),
        ((Counter(field="DCGM_FI_DEV_X", type="histogram", help="x"),), "has type `histogram`"),  # type: ignore[arg-type]  # the point of the case
        ((replace(GOOD, help="in C, or K"),), "has help 'in C, or K'"),
        ((replace(GOOD, help='the "core"'),), "has help"),
        ((replace(GOOD, help="a\nb"),), "has help"),
        ((replace(GOOD, help=""),), "has help ''"),
    ],
)
def test_counters_that_the_exporter_cannot_read_are_refused(counters: tuple[Counter, ...], words: str) -> None:
    with pytest.raises(DeployError) as caught:
        counters_csv(counters)
    assert words in str(caught.value)


def test_name_of_the_counters_follows_their_text() -> None:
    assert config_name("a") == config_name("a") != config_name("b")


def test_component_registers_what_the_manifests_say() -> None:
    recording = record(lambda: DcgmExporter("dcgm-exporter", replace(DCGM, dra=True)))
    registered = {r.name: r.inputs for r in recording.resources if r.type.startswith("kubernetes:")}
    assert registered == {f"dcgm-exporter-{role}": m for role, m in manifests(replace(DCGM, dra=True)).items()}
    assert "dcgm-exporter-counters" in recording.named("dcgm-exporter-daemon-set").depends_on
    assert recording.outputs["dcgm-exporter"] == {"service_name"}
