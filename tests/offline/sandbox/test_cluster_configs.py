"""Rendered configuration follows the facts of the machine, and opens nothing to others."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from sandbox.cluster import addons, configs
from sandbox.cluster.configs import Paths
from sandbox.hosttools import HostTools
from tests.offline.sandbox.fakes import machine

if TYPE_CHECKING:
    from sandbox.cluster.facts import Machine

PATHS = Paths(Path("/h/state/local"))
TOOLS = HostTools(Path("/h/tools"))
PAUSE = "plumbline.local/pause:1-aaaaaaaa"
CRI = "io.containerd.grpc.v1.cri"
BRIDGE, LOOPBACK = "10.203.0.1", "127.0.0.1"


def containerd(facts: Machine) -> dict[str, Any]:
    """The runtime's configuration, parsed."""
    return tomllib.loads(configs.containerd(PATHS, TOOLS, facts, PAUSE))


def kubelet(facts: Machine) -> dict[str, Any]:
    """The kubelet's configuration, parsed."""
    return dict(yaml.safe_load(configs.kubelet(PATHS, facts)))


def kube_proxy() -> dict[str, Any]:
    """The proxy's configuration, parsed."""
    return dict(yaml.safe_load(configs.kube_proxy(PATHS)))


def rendered() -> dict[str, str]:
    """Every file that a start writes."""
    provisioner = configs.provisioner(PATHS, "helper")
    return {
        "containerd": configs.containerd(PATHS, TOOLS, machine(), PAUSE),
        "cni": configs.cni(),
        "kubelet": configs.kubelet(PATHS, machine()),
        "kube-proxy": configs.kube_proxy(PATHS),
        "corefile": configs.corefile(PATHS),
        "addons": addons.manifests(provisioner),
        **provisioner,
    }


@pytest.mark.parametrize("name", rendered())
def test_no_file_binds_to_all_addresses(name: str) -> None:
    # 0.0.0.0/0 is the default route of the pods, no address to bind to.
    assert not re.search(r"0\.0\.0\.0(?!/0)|\[::\]|: ['\"]?::['\"]?$", rendered()[name], re.M)


def test_cgroup_v1_must_be_allowed_to_the_kubelet() -> None:
    assert kubelet(machine(cgroup="v1"))["failCgroupV1"] is False


def test_cgroup_v2_needs_no_permission() -> None:
    assert "failCgroupV1" not in kubelet(machine(cgroup="v2"))


def test_pods_get_no_lower_oom_score_than_we_may_set() -> None:
    settings = containerd(machine(may_raise_oom_score=False))["plugins"][CRI]
    assert settings["restrict_oom_score_adj"] is True


def test_oom_score_is_not_restricted_where_it_may_be_set() -> None:
    assert containerd(machine(may_raise_oom_score=True))["plugins"][CRI]["restrict_oom_score_adj"] is False


def test_runtime_is_apart_from_the_machines_own() -> None:
    settings = containerd(machine())
    assert settings["root"] == "/h/state/local/containerd"
    assert settings["state"].startswith("/run/plumbline/")
    assert settings["grpc"]["address"] == "/run/plumbline/containerd/containerd.sock"


def test_runtime_streams_on_loopback() -> None:
    assert containerd(machine())["plugins"][CRI]["stream_server_address"] == LOOPBACK


def test_runtime_uses_our_pause_image() -> None:
    assert containerd(machine())["plugins"][CRI]["sandbox_image"] == PAUSE


def test_runtime_uses_the_unpacked_programs() -> None:
    settings = containerd(machine())["plugins"][CRI]
    assert settings["cni"]["bin_dir"] == "/h/tools/tree/usr/lib/cni"
    assert settings["containerd"]["runtimes"]["runc"]["options"]["BinaryName"] == "/h/tools/bin/runc"


def test_kubelet_listens_on_bridge_and_loopback_alone() -> None:
    settings = kubelet(machine())
    assert (settings["address"], settings["healthzBindAddress"], settings["readOnlyPort"]) == (BRIDGE, LOOPBACK, 0)


def test_kubelet_lets_nobody_in_unasked() -> None:
    settings = kubelet(machine())
    assert settings["authentication"]["anonymous"]["enabled"] is False
    assert settings["authorization"]["mode"] == "Webhook"


def test_kubelet_talks_to_our_runtime() -> None:
    assert kubelet(machine())["containerRuntimeEndpoint"] == "unix:///run/plumbline/containerd/containerd.sock"


def test_kubelet_evicts_nothing_from_a_large_shared_disk() -> None:
    assert kubelet(machine())["evictionHard"]["nodefs.available"] == "1%"


def test_proxy_listens_on_bridge_and_loopback_alone() -> None:
    settings = kube_proxy()
    assert settings["bindAddress"] == BRIDGE
    assert settings["metricsBindAddress"] == f"{LOOPBACK}:10249"
    assert settings["healthzBindAddress"] == f"{LOOPBACK}:10256"
    assert settings["nodePortAddresses"] == [f"{BRIDGE}/32"]


def test_proxy_leaves_the_machines_connection_limits() -> None:
    assert kube_proxy()["conntrack"] == {
        "maxPerCore": 0,
        "min": 0,
        "tcpEstablishedTimeout": "0s",
        "tcpCloseWaitTimeout": "0s",
    }


def test_dns_is_bound_to_the_bridge() -> None:
    text = configs.corefile(PATHS)
    assert f"    bind {BRIDGE}\n" in text
    assert f"    health {LOOPBACK}:10253\n" in text


def test_pods_get_addresses_of_the_bridges_network() -> None:
    bridge, portmap = json.loads(configs.cni())["plugins"]
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.203.0.0/24", "gateway": BRIDGE}]]
    assert bridge["bridge"] == "plumbline0"
    assert portmap["type"] == "portmap"


def test_volumes_lie_with_the_state() -> None:
    content = json.loads(configs.provisioner(PATHS, "helper")["config.json"])
    assert content == {"nodePathMap": [{"node": "plumbline", "paths": ["/h/state/local/volumes"]}]}


def test_volume_helper_uses_the_image_that_was_built() -> None:
    pod = yaml.safe_load(configs.provisioner(PATHS, "plumbline.local/helper:1-a")["helperPod.yaml"])
    (container,) = pod["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"]) == ("plumbline.local/helper:1-a", "IfNotPresent")


@pytest.mark.parametrize("script", ["setup", "teardown"])
def test_volume_scripts_stop_at_the_first_failure(script: str) -> None:
    assert "set -eu\n" in configs.provisioner(PATHS, "helper")[script]


def test_storage_class_is_the_default_and_waits_for_its_pod() -> None:
    objects = list(yaml.safe_load_all(addons.manifests({"config.json": "{}"})))
    (found,) = [item for item in objects if item["kind"] == "StorageClass"]
    assert found["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    assert found["volumeBindingMode"] == "WaitForFirstConsumer"


def test_host_processes_have_rights_of_their_own_alone() -> None:
    objects = list(yaml.safe_load_all(addons.manifests({"config.json": "{}"})))
    bindings = [item for item in objects if item["kind"] == "ClusterRoleBinding"]
    subjects = {(b["roleRef"]["name"], b["subjects"][0]["name"]) for b in bindings}
    users = ("plumbline:coredns", "plumbline:network-policy", "plumbline:provisioner")
    assert subjects == {(user, user) for user in users}
