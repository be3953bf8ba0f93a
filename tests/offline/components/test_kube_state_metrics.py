"""Decisions about kube-state-metrics' objects, rights and command line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.kube_state_metrics.component import KubeStateMetrics
from components.kube_state_metrics.manifests import manifests
from components.kube_state_metrics.options import API_GROUPS, arguments
from tests.offline.components.exporter_args import KUBE_STATE_METRICS as ARGS
from tests.offline.components.pulumi_mocks import record

if TYPE_CHECKING:
    from components.kube_state_metrics.args import KubeStateMetricsArgs


FEW = replace(
    ARGS,
    objects=("pods", "nodes", "statefulsets", "jobs", "daemonsets"),
    metric_allowlist="^kube_pod_info$,^kube_pod_labels$",
    labels_allowlist="pods=[plumbline.dev/team,plumbline.dev/job-id]",
)


def container(args: KubeStateMetricsArgs = ARGS) -> dict[str, Any]:
    found: dict[str, Any] = manifests(args)["deployment"]["spec"]["template"]["spec"]["containers"][0]
    return found


def flag(name: str, args: KubeStateMetricsArgs = ARGS) -> str:
    return next(found.partition("=")[2] for found in arguments(args) if found.startswith(f"--{name}="))


def test_rights_are_list_and_watch_of_what_is_read() -> None:
    assert manifests(FEW)["cluster-role"]["rules"] == [
        {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["daemonsets", "statefulsets"], "verbs": ["list", "watch"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "watch"]},
    ]


def test_rights_and_command_line_name_the_same_kinds() -> None:
    granted = {kind for rule in manifests(ARGS)["cluster-role"]["rules"] for kind in rule["resources"]}
    assert set(flag("resources").split(",")) == granted == set(ARGS.objects)


def test_contents_of_secrets_are_never_read() -> None:
    assert not {"secrets", "configmaps"} & set(API_GROUPS)


def test_the_role_is_bound_to_the_account_of_the_pod() -> None:
    built = manifests(ARGS)
    assert built["cluster-role-binding"]["roleRef"]["name"] == built["cluster-role"]["metadata"]["name"]
    assert built["cluster-role"]["metadata"]["name"] == "plumbline-kube-state-metrics"
    spec = built["deployment"]["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] == built["cluster-role-binding"]["subjects"][0]["name"]
    assert spec["automountServiceAccountToken"] is True


def test_allow_list_matches_whole_names_alone() -> None:
    # Upstream compiles each entry and lets it match anywhere in the name of a family.
    allowed = [re.compile(entry) for entry in flag("metric-allowlist", FEW).split(",")]
    shown = [
        name
        for name in ("kube_pod_info", "kube_pod_labels", "kube_pod_info_extra", "x_kube_pod_info", "kube_pod_owner")
        if any(pattern.search(name) for pattern in allowed)
    ]
    assert shown == ["kube_pod_info", "kube_pod_labels"]


def test_labels_are_shown_by_key() -> None:
    assert flag("metric-labels-allowlist", FEW) == "pods=[plumbline.dev/team,plumbline.dev/job-id]"
    assert not [found for found in arguments(replace(FEW, labels_allowlist="")) if "labels-allowlist" in found]


def test_ports_and_probes_are_upstreams() -> None:
    # As in examples/standard/deployment.yaml of v2.19.1.
    assert {port["name"]: port["containerPort"] for port in container()["ports"]} == {
        "http-metrics": 8080,
        "telemetry": 8081,
    }
    assert container()["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "telemetry"}
    assert container()["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "http-metrics"}


def test_two_never_run_at_once() -> None:
    assert manifests(ARGS)["deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    assert manifests(ARGS)["deployment"]["spec"]["replicas"] == 1


def test_both_ports_are_open_to_the_stack() -> None:
    rule = manifests(ARGS)["network-policy"]["spec"]["ingress"][0]
    assert [port["port"] for port in rule["ports"]] == [8080, 8081]
    assert rule["from"] == [{"podSelector": {}}]
    assert "network-policy" not in manifests(replace(ARGS, network_policies=False))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"objects": ("pods", "secrets")}, "objects `secrets`: accepted are"),
        ({"objects": ("pods", "pod")}, "objects `pod`"),
        ({"objects": (), "labels_allowlist": ""}, "no objects"),
        ({"metric_allowlist": "kube_pod_info,^kube_pod_labels$"}, "metric_allowlist `kube_pod_info`"),
        ({"metric_allowlist": "", "labels_allowlist": ""}, "metric_allowlist ``"),
        ({"metric_allowlist": "^kube_pod_info$"}, "needs pods in objects and kube_pod_labels"),
        ({"labels_allowlist": "services=[a]"}, "labels_allowlist names services"),
        ({"labels_allowlist": "pods=[*]"}, "labels_allowlist `pods=[*]`"),
        ({"labels_allowlist": "pods=[a"}, "labels_allowlist `pods=[a`"),
    ],
)
def test_arguments_that_expose_nothing_or_everything_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(DeployError) as caught:
        manifests(replace(FEW, **changes))
    assert words in str(caught.value)


def test_component_registers_what_the_manifests_say() -> None:
    recording = record(lambda: KubeStateMetrics("kube-state-metrics", ARGS))
    registered = {r.name: r.inputs for r in recording.resources if r.type.startswith("kubernetes:")}
    assert registered == {f"kube-state-metrics-{role}": m for role, m in manifests(ARGS).items()}
    needed = {"kube-state-metrics-cluster-role-binding", "kube-state-metrics-service-account"}
    assert needed <= set(recording.named("kube-state-metrics-deployment").depends_on)
