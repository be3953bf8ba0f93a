"""The conflict doctor: each situation that it knows, as the API shows it, and the words with which it answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml

from components.dcgm_exporter.doctor import examine
from components.dcgm_exporter.findings import Existing, Finding, Wanted
from components.dcgm_exporter.manifests import manifests
from components.dcgm_exporter.seen import from_api
from stacks.exporters import DcgmExporter as DcgmExporterSettings
from tests.offline.components.exporter_args import DCGM
from tests.offline.components.gpu_clusters import (
    GKE,
    GKE_LABELS,
    GPU_NODES,
    HOSTENGINE,
    OPERATOR,
    OPERATOR_LABELS,
    PRESENT,
    Json,
    alone,
    cluster,
    daemon_set,
    node,
    pods_of,
    template,
)

if TYPE_CHECKING:
    from components.dcgm_exporter.seen import Cluster

MANAGED = Wanted(mode="managed", instance="plumbline", node_selector=PRESENT, fields=("DCGM_FI_DEV_GPU_TEMP",))
EXISTING = Wanted(
    mode="existing",
    instance="plumbline",
    existing=Existing(namespace="gpu-operator", labels={"app": "nvidia-dcgm-exporter"}, port="metrics"),
)
SIMULATED = Wanted(mode="simulated", instance="plumbline")


def kinds(wanted: Wanted, found: Cluster) -> dict[str, bool]:
    """Kind of each finding → whether it is fatal."""
    return {finding.kind: finding.fatal for finding in examine(wanted, found)}


def only(wanted: Wanted, found: Cluster) -> Finding:
    findings = examine(wanted, found)
    assert len(findings) == 1, [finding.kind for finding in findings]
    return findings[0]


def settings_in(remedy: str) -> Json:
    """The lines that a remedy gives, as the stack file would be read."""
    text = remedy.partition("Set:\n")[2]
    indented = [line for line in text.splitlines() if line.startswith((" ", "plumbline:"))]
    found: Json = yaml.safe_load("\n".join(indented))["plumbline:dcgm_exporter"]
    return found


def test_nothing_in_the_way_is_nothing_to_say() -> None:
    assert examine(MANAGED, cluster()) == []
    assert examine(SIMULATED, cluster(nodes=[node("a", gpu="8")])) == []
    assert examine(EXISTING, cluster((OPERATOR, ("a", "bb")))) == []
    assert examine(replace(MANAGED, mode="off"), cluster((OPERATOR, ("a",)))) == []


@pytest.mark.parametrize(
    ("found", "labels"), [(OPERATOR, OPERATOR_LABELS), (GKE, GKE_LABELS)], ids=["gpu-operator", "gke"]
)
def test_a_second_exporter_is_refused_with_the_lines_that_use_the_first(found: Json, labels: dict[str, str]) -> None:
    finding = only(MANAGED, cluster((found, ("a",))))
    assert (finding.kind, finding.fatal) == ("second_exporter", True)
    assert finding.where == f"DaemonSet/{found['metadata']['namespace']}/{found['metadata']['name']}"
    assert "already runs on a;" in finding.why
    lines = settings_in(finding.remedy)
    assert lines == {
        "mode": "existing",
        "existing": {"namespace": found["metadata"]["namespace"], "labels": labels, "port": "metrics"},
    }
    assert DcgmExporterSettings.model_validate(lines).mode == "existing"


def test_the_lines_that_were_given_are_then_accepted() -> None:
    seen = cluster((GKE, ("a", "bb")))
    lines = settings_in(only(MANAGED, seen).remedy)["existing"]
    assert examine(replace(EXISTING, existing=Existing(**lines)), seen) == []


def test_exporter_on_other_nodes_is_no_conflict() -> None:
    nodes = [node("a", {**PRESENT, "pool": "x"}, gpu="8"), node("bb", PRESENT, gpu="8")]
    wanted = replace(MANAGED, node_selector={"pool": "x"})
    assert kinds(wanted, cluster((OPERATOR, ("bb",)), nodes=nodes)) == {"gpu_nodes_not_selected": False}


def test_exporter_that_waits_for_nodes_is_a_warning() -> None:
    finding = only(MANAGED, cluster((OPERATOR, ())))
    assert (finding.kind, finding.fatal) == ("idle_exporter", False)
    assert "Remove it before GPU nodes join" in finding.remedy


def test_ended_pods_do_not_count() -> None:
    seen = from_api([OPERATOR], pods_of(OPERATOR, "a", phase="Failed"), GPU_NODES, [])
    assert kinds(MANAGED, seen) == {"idle_exporter": False}


def test_hostengine_is_refused_with_the_line_that_attaches() -> None:
    finding = only(MANAGED, cluster((HOSTENGINE, ("a", "bb"))))
    assert (finding.kind, finding.fatal) == ("hostengine_running", True)
    assert settings_in(finding.remedy) == {"hostengine": "nvidia-dcgm.gpu-operator.svc:5555"}
    attached = replace(MANAGED, **settings_in(finding.remedy))
    assert examine(attached, cluster((HOSTENGINE, ("a", "bb")))) == []


def hostengine(**spec: object) -> Json:
    pod = template({"app": "dcgm"}, "registry.example.com/mirror/tools:1", command=["/usr/bin/nv-hostengine", "-n"])
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": 5555, **spec.pop("port", {})}]  # type: ignore[dict-item]  # spec is free
    pod["spec"] |= spec
    return daemon_set("tools", "engine", {"app": "dcgm"}, pod)


@pytest.mark.parametrize(
    ("found", "address"),
    [
        (hostengine(hostNetwork=True), "$(NODE_IP):5555"),
        (hostengine(port={"hostPort": 5555}), "$(NODE_IP):5555"),
        (hostengine(), "<Service>.tools.svc:5555"),
    ],
    ids=["host-network", "host-port", "pod-network"],
)
def test_hostengine_is_known_by_its_command_and_reached_by_what_it_opens(found: Json, address: str) -> None:
    finding = only(MANAGED, cluster((found, ("a",))))
    assert settings_in(finding.remedy) == {"hostengine": address}
    assert ("internalTrafficPolicy Local" in finding.remedy) is address.startswith("<")


def test_hostengine_that_no_pod_runs_is_a_warning() -> None:
    finding = only(replace(MANAGED, hostengine="$(NODE_IP):5555"), cluster())
    assert (finding.kind, finding.fatal) == ("hostengine_not_seen", False)


def own(instance: str) -> Json:
    args = replace(DCGM, instance=instance, namespace=f"{instance}-node")
    found: Json = manifests(args)["daemon-set"]
    return found


def test_own_exporter_is_no_conflict_and_another_stacks_is() -> None:
    assert examine(MANAGED, cluster((own("plumbline"), ("a", "bb")))) == []
    finding = only(MANAGED, cluster((own("other"), ("a", "bb"))))
    assert (finding.kind, finding.fatal) == ("second_exporter", True)
    assert "of the Plumbline stack in namespace other" in finding.why
    assert settings_in(finding.remedy)["existing"]["namespace"] == "other-node"


def test_pod_without_a_daemon_set_is_seen_too() -> None:
    pod = alone(template({"app": "x", "pod-template-hash": "1"}, "dcgm-exporter@sha256:0"), "team", "mine", "a")
    finding = only(MANAGED, from_api([], [pod], GPU_NODES, []))
    assert finding.where == "Pod/team/mine"
    assert settings_in(finding.remedy)["existing"] == {"namespace": "team", "labels": {"app": "x"}, "port": "metrics"}
    assert "no name yet" in finding.remedy


def test_mirrored_image_is_known_by_its_labels_and_a_sidecar_is_not_taken_for_it() -> None:
    labels = {"app.kubernetes.io/name": "dcgm-exporter"}
    pod = template(labels, "registry.example.com/a/b:1", ports=[{"name": "metrics", "containerPort": 9400}])
    assert kinds(MANAGED, cluster((daemon_set("x", "y", labels, pod), ("a",)))) == {"second_exporter": True}
    proxy = {"name": "proxy", "image": "kube-rbac-proxy:1", "ports": [{"name": "https", "containerPort": 8443}]}
    pod = template(labels, "nvidia/dcgm-exporter:4", ports=[{"name": "gpu", "containerPort": 9400}])
    pod["spec"]["containers"].insert(0, proxy)
    finding = only(MANAGED, cluster((daemon_set("x", "y", labels, pod), ("a",))))
    assert settings_in(finding.remedy)["existing"]["port"] == "gpu"


@pytest.mark.parametrize("port", [5555, 9400])
def test_unknown_holder_of_a_port_of_dcgm_is_a_warning(port: int) -> None:
    pod = template({"app": "x"}, "mirror/agent:1", ports=[{"containerPort": 80, "hostPort": port}])
    assert kinds(MANAGED, cluster((daemon_set("x", "y", {"app": "x"}, pod), ("a",)))) == {"port_held": False}
    elsewhere = template({"app": "x"}, "mirror/agent:1", ports=[{"containerPort": port}])
    assert kinds(MANAGED, cluster((daemon_set("x", "y", {"app": "x"}, elsewhere), ("a",)))) == {}


def test_service_of_the_node_is_refused_with_its_addresses() -> None:
    served = {**PRESENT, "kubernetes.azure.com/dcgm-exporter": "enabled"}
    finding = only(MANAGED, cluster(nodes=[node("a", served, gpu="1"), node("bb", served, gpu="1")]))
    assert finding.kind == "second_exporter"
    assert settings_in(finding.remedy) == {
        "mode": "existing",
        "targets": [{"node": "a", "address": "10.0.0.1:19400"}, {"node": "bb", "address": "10.0.0.2:19400"}],
    }


def test_no_gpu_node_is_a_warning_and_gpus_that_are_not_selected_are_refused() -> None:
    assert kinds(MANAGED, cluster(nodes=[node("a")])) == {"no_gpu_nodes": False}
    nodes = [node("a", {"pool": "gpu"}, gpu="8"), node("bb", {"pool": "cpu"})]
    finding = only(MANAGED, cluster(nodes=nodes))
    assert (finding.kind, finding.fatal) == ("gpu_nodes_not_selected", True)
    assert "no node with GPUs has the labels nvidia.com/gpu.present=true; missed: a" in finding.why
    assert "pool=gpu" in finding.remedy
    some = [node("a", {"pool": "gpu"}, gpu="8"), node("bb", PRESENT, gpu="8")]
    assert kinds(MANAGED, cluster(nodes=some)) == {"gpu_nodes_not_selected": False}


def test_runtime_class_must_exist_and_nvidias_is_recommended() -> None:
    finding = only(replace(MANAGED, runtime_class="nvidia"), cluster(classes=("kata",)))
    assert (finding.kind, finding.fatal) == ("runtime_class_missing", True)
    assert "Accepted: kata;" in finding.remedy
    finding = only(MANAGED, cluster(classes=("nvidia",)))
    assert (finding.kind, finding.fatal) == ("runtime_class_unset", False)
    assert settings_in(finding.remedy) == {"runtime_class": "nvidia"}
    assert examine(replace(MANAGED, runtime_class="nvidia"), cluster(classes=("nvidia",))) == []


@pytest.mark.parametrize(
    "labels",
    [
        {"nvidia.com/gpu.replicas": "10"},
        {"nvidia.com/gpu.sharing-strategy": "mps"},
        {"nvidia.com/gpu.product": "A100-SXM4-40GB-SHARED"},
        {"cloud.google.com/gke-gpu-sharing-strategy": "time-sharing"},
    ],
)
def test_shared_gpus_are_a_warning_with_the_line(labels: dict[str, str]) -> None:
    seen = cluster(nodes=[node("a", {**PRESENT, **labels}, gpu="10")])
    finding = only(MANAGED, seen)
    assert (finding.kind, finding.fatal, finding.where) == ("shared_gpus", False, "a")
    assert settings_in(finding.remedy) == {"virtual_gpus": True}
    assert examine(replace(MANAGED, virtual_gpus=True), seen) == []


def test_one_replica_is_not_shared() -> None:
    labels = {"nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none"}
    assert examine(MANAGED, cluster(nodes=[node("a", {**PRESENT, **labels}, gpu="8")])) == []


def test_dra_driver_and_setting_belong_together() -> None:
    labels = {"app.kubernetes.io/name": "nvidia-dra-driver-gpu"}
    driver = daemon_set("dra", "kubelet-plugin", labels, template(labels, "nvcr.io/nvidia/k8s-dra-driver-gpu:v25.3.0"))
    finding = only(MANAGED, cluster((driver, ("a",))))
    assert (finding.kind, finding.fatal) == ("dra_unused", False)
    assert settings_in(finding.remedy) == {"dra": True}
    assert examine(replace(MANAGED, dra=True), cluster((driver, ("a",)))) == []
    assert kinds(replace(MANAGED, dra=True), cluster()) == {"dra_driver_not_seen": False}


PROFILING = replace(MANAGED, fields=("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_PCIE_TX_BYTES"))


@pytest.mark.parametrize(
    ("labels", "resources", "kind", "absent"),
    [
        ({"nvidia.com/vgpu.present": "true"}, {"gpu": "1"}, "profiling_on_vgpu", PROFILING.fields),
        ({"nvidia.com/gpu.product": "GRID-T4-8Q"}, {"gpu": "1"}, "profiling_on_vgpu", PROFILING.fields),
        (
            {"nvidia.com/gpu.product": "NVIDIA-GeForce-RTX-4090"},
            {"gpu": "1"},
            "profiling_on_consumer",
            PROFILING.fields,
        ),
        ({}, {"mig-1g.10gb": "7"}, "profiling_on_mig", PROFILING.fields[1:]),
        ({"nvidia.com/gpu.product": "A100-MIG-1g.5gb"}, {"gpu": "7"}, "profiling_on_mig", PROFILING.fields[1:]),
    ],
)
def test_profiling_fields_that_will_be_absent_are_named(
    labels: dict[str, str], resources: dict[str, str], kind: str, absent: tuple[str, ...]
) -> None:
    seen = cluster(nodes=[node("a", {**PRESENT, **labels}, **resources)])
    finding = only(PROFILING, seen)
    assert (finding.kind, finding.fatal) == (kind, False)
    assert finding.why.endswith(f"absent: {', '.join(absent)}")
    assert examine(MANAGED, seen) == []


def test_mig_capable_nodes_that_are_not_split_are_fine() -> None:
    labels = {**PRESENT, "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "mixed"}
    assert examine(PROFILING, cluster(nodes=[node("a", labels, gpu="8")])) == []


def test_existing_that_is_not_there_is_refused_with_what_is() -> None:
    wanted = replace(EXISTING, existing=Existing(namespace="monitoring", labels={"app": "x"}, port="metrics"))
    finding = only(wanted, cluster((OPERATOR, ("a", "bb"))))
    assert (finding.kind, finding.fatal) == ("existing_not_found", True)
    assert "DaemonSet/gpu-operator/nvidia-dcgm-exporter:" in finding.remedy
    assert settings_in(finding.remedy)["existing"]["namespace"] == "gpu-operator"
    assert only(wanted, cluster()).remedy == "No exporter was found; set mode `managed`."
    assert only(replace(wanted, existing=None), cluster()).why == "nothing is named"


def test_existing_may_be_addresses_alone() -> None:
    assert examine(replace(EXISTING, existing=None, targets=("a", "bb")), cluster()) == []


def test_existing_port_must_be_a_name_that_the_pods_have() -> None:
    given = Existing(namespace="gpu-operator", labels=OPERATOR_LABELS, port="gpu-metrics")
    finding = only(replace(EXISTING, existing=given), cluster((OPERATOR, ("a", "bb"))))
    assert (finding.kind, finding.fatal) == ("existing_port_unknown", True)
    assert finding.remedy == "Accepted for plumbline:dcgm_exporter.existing.port: metrics."


def test_gpu_nodes_without_the_existing_exporter_are_a_warning() -> None:
    finding = only(EXISTING, cluster((OPERATOR, ("a",))))
    assert (finding.kind, finding.fatal, finding.where) == ("gpu_nodes_without_exporter", False, "bb")
    assert examine(replace(EXISTING, targets=("bb",)), cluster((OPERATOR, ("a",)))) == []


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"env": []}, False),
        ({"env": [{"name": "DCGM_EXPORTER_KUBERNETES", "value": "false"}]}, False),
        ({"env": [{"name": "DCGM_EXPORTER_KUBERNETES", "valueFrom": {}}]}, True),
        ({"env": [], "envFrom": [{"configMapRef": {"name": "x"}}]}, True),
        ({"env": [], "args": ["-k"]}, True),
    ],
)
def test_existing_exporter_that_names_no_pods_is_a_warning(changes: Json, *, named: bool) -> None:
    container = OPERATOR["spec"]["template"]["spec"]["containers"][0]
    pod = {**OPERATOR["spec"]["template"], "spec": {"containers": [{**container, **changes}]}}
    found = daemon_set("gpu-operator", "nvidia-dcgm-exporter", OPERATOR_LABELS, pod)
    assert kinds(EXISTING, cluster((found, ("a", "bb")))) == ({} if named else {"pods_not_named": False})


def test_two_exporters_of_others_are_a_warning() -> None:
    finding = only(EXISTING, cluster((OPERATOR, ("a", "bb")), (GKE, ("bb",))))
    assert (finding.kind, finding.fatal) == ("two_exporters", False)
    assert finding.where == "DaemonSet/gke-managed-system/dcgm-exporter"
    assert "on bb;" in finding.why


@pytest.mark.parametrize(
    "label",
    [
        "nvidia.com/gpu.present=true",
        "nvidia.com/cuda.driver.major=550",
        "nvidia.com/cuda.driver-version.full=550.54.15",
        "feature.node.kubernetes.io/pci-10de.present=true",
        "feature.node.kubernetes.io/pci-0302_10de.present=true",
        "cloud.google.com/gke-accelerator=nvidia-h100-80gb",
        "k8s.amazonaws.com/accelerator=nvidia-tesla-k80",
        "kubernetes.azure.com/accelerator=nvidia",
    ],
)
def test_simulation_beside_real_gpus_is_refused(label: str) -> None:
    key, _, value = label.partition("=")
    finding = only(SIMULATED, cluster(nodes=[node("a", {key: value}), node("bb", gpu="8")]))
    assert (finding.kind, finding.fatal, finding.where) == ("real_gpus", True, "Node/a")
    assert label in finding.why


@pytest.mark.parametrize(
    "label",
    [
        "nvidia.com/gpu.present=false",
        "feature.node.kubernetes.io/pci-0300_1002.present=true",
        "kubernetes.azure.com/accelerator=amd",
        "plumbline/simulated-gpus=true",
    ],
)
def test_other_labels_are_no_gpus(label: str) -> None:
    key, _, value = label.partition("=")
    assert examine(SIMULATED, cluster(nodes=[node("a", {key: value}, gpu="8")])) == []


def test_fatal_findings_come_first_and_read_as_one_text() -> None:
    seen = cluster((OPERATOR, ("a",)), classes=("nvidia",))
    findings = examine(MANAGED, seen)
    assert [finding.fatal for finding in findings] == [True, False]
    assert str(findings[0]) == f"{findings[0].where}: {findings[0].why}\n{findings[0].remedy}"


def test_many_nodes_are_counted_not_listed() -> None:
    nodes = [node(f"n{number}", PRESENT, gpu="8") for number in range(9)]
    finding = only(MANAGED, cluster((OPERATOR, tuple(f"n{number}" for number in range(9))), nodes=nodes))
    assert "runs on n0, n1, n2, n3, n4 and 4 more;" in finding.why
