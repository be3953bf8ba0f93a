"""Nodes: expected series follow the cases of upstream's `internal/store/node_test.go` at v2.19.1."""

from __future__ import annotations

from tests.offline.sandbox.workloads.kube_state_metrics.written import lines

NODE = {
    "metadata": {"name": "127.0.0.1", "labels": {"nvidia.com/gpu.product": "H100"}},
    "spec": {
        "unschedulable": True,
        "providerID": "provider://i-uniqueid",
        "podCIDR": "172.24.10.0/24",
        "taints": [
            {"key": "node.kubernetes.io/memory-pressure", "value": "true", "effect": "PreferNoSchedule"},
            {"key": "Dedicated", "effect": "NoSchedule"},
        ],
    },
    "status": {
        "nodeInfo": {
            "kernelVersion": "kernel",
            "kubeletVersion": "kubelet",
            "kubeProxyVersion": "kubeproxy",
            "osImage": "osimage",
            "containerRuntimeVersion": "rkt",
            "systemUUID": "6a934e21-5207-4a84-baea-3a952d926c80",
        },
        "addresses": [{"type": "Hostname", "address": "n1"}, {"type": "InternalIP", "address": "1.2.3.4"}],
        "capacity": {
            "cpu": "4300m",
            "memory": "2G",
            "pods": "1000",
            "storage": "3G",
            "ephemeral-storage": "4G",
            "nvidia.com/gpu": "4",
            "unheard-of": "1",
        },
        "allocatable": {"cpu": "3", "memory": "16256896Ki", "pods": "555", "nvidia.com/gpu": "1"},
        "conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "Unknown"}],
    },
}


def test_info() -> None:
    assert lines("nodes", NODE, "kube_node_info") == [
        'kube_node_info{node="127.0.0.1",kernel_version="kernel",os_image="osimage",container_runtime_version="rkt",'
        'kubelet_version="kubelet",kubeproxy_version="deprecated",provider_id="provider://i-uniqueid",'
        'pod_cidr="172.24.10.0/24",system_uuid="6a934e21-5207-4a84-baea-3a952d926c80",internal_ip="1.2.3.4"} 1'
    ]


def test_capacity_counts_pods_and_leaves_out_unknown_resources() -> None:
    head = 'kube_node_status_capacity{node="127.0.0.1",resource='
    assert lines("nodes", NODE, "kube_node_status_capacity") == [
        head + '"cpu",unit="core"} 4.3',
        head + '"ephemeral_storage",unit="byte"} 4e+09',
        head + '"memory",unit="byte"} 2e+09',
        head + '"nvidia_com_gpu",unit="integer"} 4',
        head + '"pods",unit="integer"} 1000',
        head + '"storage",unit="byte"} 3e+09',
    ]


def test_allocatable() -> None:
    head = 'kube_node_status_allocatable{node="127.0.0.1",resource='
    assert lines("nodes", NODE, "kube_node_status_allocatable") == [
        head + '"cpu",unit="core"} 3',
        head + '"memory",unit="byte"} 1.6647061504e+10',
        head + '"nvidia_com_gpu",unit="integer"} 1',
        head + '"pods",unit="integer"} 555',
    ]


def test_conditions_are_one_series_per_status() -> None:
    head = 'kube_node_status_condition{node="127.0.0.1",condition='
    assert lines("nodes", NODE, "kube_node_status_condition") == [
        head + '"DiskPressure",status="true"} 0',
        head + '"DiskPressure",status="false"} 1',
        head + '"DiskPressure",status="unknown"} 0',
        head + '"Ready",status="true"} 0',
        head + '"Ready",status="false"} 0',
        head + '"Ready",status="unknown"} 1',
    ]


def test_taints() -> None:
    head = 'kube_node_spec_taint{node="127.0.0.1",key='
    assert lines("nodes", NODE, "kube_node_spec_taint") == [
        head + '"node.kubernetes.io/memory-pressure",value="true",effect="PreferNoSchedule"} 1',
        head + '"Dedicated",value="",effect="NoSchedule"} 1',
    ]


def test_unschedulable() -> None:
    assert lines("nodes", NODE, "kube_node_spec_unschedulable") == ['kube_node_spec_unschedulable{node="127.0.0.1"} 1']
    assert lines("nodes", {"metadata": {"name": "n"}}, "kube_node_spec_unschedulable") == [
        'kube_node_spec_unschedulable{node="n"} 0'
    ]


def test_labels() -> None:
    assert lines("nodes", NODE, "kube_node_labels", ("nvidia.com/gpu.product",)) == [
        'kube_node_labels{node="127.0.0.1",label_nvidia_com_gpu_product="H100"} 1'
    ]
