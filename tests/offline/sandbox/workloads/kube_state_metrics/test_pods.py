"""Pods: expected series follow the cases of upstream's `internal/store/pod_test.go` at v2.19.1."""

from __future__ import annotations

from typing import Any

import pytest

from tests.offline.sandbox.workloads.kube_state_metrics.written import lines, page

ID = 'namespace="ns1",pod="pod1",uid="uid1"'


def pod(**parts: Any) -> dict[str, Any]:  # noqa: ANN401  # parts of an API object, as JSON has them
    """A pod with these top-level parts; metadata is laid over its name."""
    return {**parts, "metadata": {"namespace": "ns1", "name": "pod1", "uid": "uid1", **parts.get("metadata", {})}}


def with_status(**status: object) -> dict[str, Any]:
    """A pod with one container `c` whose status has these fields."""
    return pod(spec={"containers": [{"name": "c"}]}, status={"containerStatuses": [{"name": "c", **status}]})


def test_headers_and_order_are_upstreams() -> None:
    assert page("pods", pod()).splitlines()[:6] == [
        "# HELP kube_pod_container_info [STABLE] Information about a container in a pod.",
        "# TYPE kube_pod_container_info gauge",
        "# HELP kube_pod_container_resource_limits [STABLE] The number of requested limit resource by a container. "
        "It is recommended to use the kube_pod_resource_limits metric exposed by kube-scheduler instead, as it is "
        "more precise.",
        "# TYPE kube_pod_container_resource_limits gauge",
        "# HELP kube_pod_container_resource_requests [STABLE] The number of requested request resource by a "
        "container. It is recommended to use the kube_pod_resource_requests metric exposed by kube-scheduler instead, "
        "as it is more precise.",
        "# TYPE kube_pod_container_resource_requests gauge",
    ]


def test_families_that_upstream_may_change_are_not_called_stable() -> None:
    assert [line for line in page("pods", pod()).splitlines() if "HELP" in line and "[STABLE]" not in line] == [
        "# HELP kube_pod_container_status_last_terminated_reason Describes the last reason the container was in "
        "terminated state.",
        "# HELP kube_pod_status_reason The pod status reasons",
    ]


def test_container_info_joins_what_was_asked_with_what_runs() -> None:
    obj = pod(
        spec={"containers": [{"name": "a", "image": "k8s.gcr.io/a_spec"}, {"name": "waits", "image": "b"}]},
        status={
            "containerStatuses": [
                {"name": "a", "image": "k8s.gcr.io/a", "imageID": "docker://sha256:aaa", "containerID": "docker://ab1"}
            ]
        },
    )
    assert lines("pods", obj, "kube_pod_container_info") == [
        f'kube_pod_container_info{{{ID},container="a",image_spec="k8s.gcr.io/a_spec",image="k8s.gcr.io/a",'
        'image_id="docker://sha256:aaa",container_id="docker://ab1"} 1'
    ]


@pytest.mark.parametrize("side", ["requests", "limits"])
def test_resources_have_sanitised_names_and_units(side: str) -> None:
    amounts = {
        "cpu": "200m",
        "memory": "100M",
        "ephemeral-storage": "300M",
        "storage": "400M",
        "nvidia.com/gpu": "2",
        "hugepages-2Mi": "4Mi",
        "attachable-volumes-aws-ebs": "3",
        "kubernetes.io/batch": "1",
        "unheard-of": "1",
    }
    obj = pod(spec={"nodeName": "n1", "containers": [{"name": "c", "resources": {side: amounts}}]})
    head = f'kube_pod_container_resource_{side}{{{ID},container="c",node="n1",resource='
    assert lines("pods", obj, f"kube_pod_container_resource_{side}") == [
        head + '"attachable_volumes_aws_ebs",unit="byte"} 3',
        head + '"cpu",unit="core"} 0.2',
        head + '"ephemeral_storage",unit="byte"} 3e+08',
        head + '"hugepages_2Mi",unit="byte"} 4.194304e+06',
        head + '"memory",unit="byte"} 1e+08',
        head + '"nvidia_com_gpu",unit="integer"} 2',
        head + '"storage",unit="byte"} 4e+08',
    ]
    other = {"requests": "limits", "limits": "requests"}[side]
    assert lines("pods", obj, f"kube_pod_container_resource_{other}") == []


def test_container_status_numbers() -> None:
    obj = with_status(ready=True, restartCount=7)
    assert lines("pods", obj, "kube_pod_container_status_ready") == [
        f'kube_pod_container_status_ready{{{ID},container="c"}} 1'
    ]
    assert lines("pods", obj, "kube_pod_container_status_restarts_total") == [
        f'kube_pod_container_status_restarts_total{{{ID},container="c"}} 7'
    ]
    assert "# TYPE kube_pod_container_status_restarts_total counter\n" in page("pods", obj)


def test_waiting_reason_is_there_only_while_waiting() -> None:
    name = "kube_pod_container_status_waiting_reason"
    waiting = with_status(state={"waiting": {"reason": "CrashLoopBackOff"}})
    assert lines("pods", waiting, name) == [f'{name}{{{ID},container="c",reason="CrashLoopBackOff"}} 1']
    assert lines("pods", with_status(state={"running": {}}), name) == []


def test_last_terminated_reason() -> None:
    name = "kube_pod_container_status_last_terminated_reason"
    killed = with_status(state={"running": {}}, lastState={"terminated": {"reason": "OOMKilled", "exitCode": 137}})
    assert lines("pods", killed, name) == [f'{name}{{{ID},container="c",reason="OOMKilled"}} 1']
    assert lines("pods", with_status(state={"terminated": {"reason": "OOMKilled"}}), name) == []


def test_pod_info_names_the_controller_and_no_other_owner() -> None:
    obj = pod(
        metadata={
            "ownerReferences": [
                {"kind": "Workflow", "name": "w1"},
                {"kind": "ReplicaSet", "name": "rs-name", "controller": True},
            ]
        },
        spec={"nodeName": "node1", "priorityClassName": "system-node-critical", "hostNetwork": True},
        status={"hostIP": "1.1.1.1", "podIP": "1.2.3.4"},
    )
    assert lines("pods", obj, "kube_pod_info") == [
        f'kube_pod_info{{{ID},host_ip="1.1.1.1",pod_ip="1.2.3.4",node="node1",created_by_kind="ReplicaSet",'
        'created_by_name="rs-name",priority_class="system-node-critical",host_network="true"} 1'
    ]
    assert lines("pods", obj, "kube_pod_owner") == [
        f'kube_pod_owner{{{ID},owner_kind="Workflow",owner_name="w1",owner_is_controller="false"}} 1',
        f'kube_pod_owner{{{ID},owner_kind="ReplicaSet",owner_name="rs-name",owner_is_controller="true"}} 1',
    ]


def test_pod_of_nobody() -> None:
    assert lines("pods", pod(), "kube_pod_info") == [
        f'kube_pod_info{{{ID},host_ip="",pod_ip="",node="",created_by_kind="",created_by_name="",priority_class="",'
        'host_network="false"} 1'
    ]
    assert lines("pods", pod(), "kube_pod_owner") == [
        f'kube_pod_owner{{{ID},owner_kind="",owner_name="",owner_is_controller=""}} 1'
    ]


def test_start_time_is_in_whole_seconds() -> None:
    obj = pod(status={"startTime": "2017-08-01T06:30:18Z"})
    assert lines("pods", obj, "kube_pod_start_time") == [f"kube_pod_start_time{{{ID}}} 1.501569018e+09"]
    assert lines("pods", pod(), "kube_pod_start_time") == []


def test_phase_is_one_series_per_phase() -> None:
    assert lines("pods", pod(status={"phase": "Running"}), "kube_pod_status_phase") == [
        f'kube_pod_status_phase{{{ID},phase="Pending"}} 0',
        f'kube_pod_status_phase{{{ID},phase="Succeeded"}} 0',
        f'kube_pod_status_phase{{{ID},phase="Failed"}} 0',
        f'kube_pod_status_phase{{{ID},phase="Unknown"}} 0',
        f'kube_pod_status_phase{{{ID},phase="Running"}} 1',
    ]
    assert lines("pods", pod(), "kube_pod_status_phase") == []


def test_ready_condition() -> None:
    obj = pod(status={"conditions": [{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": "False"}]})
    assert lines("pods", obj, "kube_pod_status_ready") == [
        f'kube_pod_status_ready{{{ID},condition="true"}} 0',
        f'kube_pod_status_ready{{{ID},condition="false"}} 1',
        f'kube_pod_status_ready{{{ID},condition="unknown"}} 0',
    ]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ({"reason": "Evicted"}, "Evicted"),
        ({"conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}, "SchedulingGated"),
        ({"containerStatuses": [{"name": "c", "state": {"terminated": {"reason": "Shutdown"}}}]}, "Shutdown"),
        ({"reason": "other reason"}, None),
    ],
)
def test_status_reason_is_one_series_per_known_reason(status: dict[str, Any], reason: str | None) -> None:
    known = (
        *("Evicted", "NodeAffinity", "NodeLost", "PreemptionByScheduler", "SchedulingGated", "Shutdown"),
        *("TerminationByKubelet", "UnexpectedAdmissionError"),
    )
    assert lines("pods", pod(status=status), "kube_pod_status_reason") == [
        f'kube_pod_status_reason{{{ID},reason="{name}"}} {int(name == reason)}' for name in known
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((), []),
        (("*",), [f'kube_pod_labels{{{ID},label_app="example",label_team="a"}} 1']),
        (("app",), [f'kube_pod_labels{{{ID},label_app="example"}} 1']),
        (("wildcard-not-first", "*"), [f"kube_pod_labels{{{ID}}} 1"]),
    ],
)
def test_labels_are_shown_as_allowed(keys: tuple[str, ...], expected: list[str]) -> None:
    obj = pod(metadata={"labels": {"app": "example", "team": "a"}})
    assert lines("pods", obj, "kube_pod_labels", keys) == expected
