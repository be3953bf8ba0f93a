"""Addresses, ports and fixed paths of the embedded cluster: one cluster per machine, so they are constants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NODE_NAME: Final = "plumbline"
GPUS: Final = 8  # simulated, as an eight-GPU server has
CONTEXT: Final = "plumbline-local"
BRIDGE: Final = "plumbline0"
BRIDGE_ADDRESS: Final = "10.203.0.1"
POD_CIDR: Final = "10.203.0.0/24"
SERVICE_CIDR: Final = "10.203.16.0/22"
SERVICE_ADDRESS: Final = "10.203.16.1"  # the first of SERVICE_CIDR is always the API server's
DNS_ADDRESS: Final = BRIDGE_ADDRESS
CLUSTER_DOMAIN: Final = "cluster.local"

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True)
class Listener:
    """A socket that a process of the cluster opens: never anything but loopback or the pod bridge."""

    process: str
    purpose: str
    address: str
    port: int


LISTENERS: Final = (
    Listener("etcd", "clients", LOOPBACK, 23790),
    Listener("etcd", "peers", LOOPBACK, 23800),
    Listener("kube-apiserver", "API", BRIDGE_ADDRESS, 6443),
    Listener("kube-controller-manager", "metrics", LOOPBACK, 10257),
    Listener("kube-scheduler", "metrics", LOOPBACK, 10259),
    Listener("kubelet", "API", BRIDGE_ADDRESS, 10250),
    Listener("kubelet", "health", LOOPBACK, 10248),
    Listener("kube-proxy", "metrics", LOOPBACK, 10249),
    Listener("kube-proxy", "health", LOOPBACK, 10256),
    Listener("coredns", "DNS", BRIDGE_ADDRESS, 53),
    Listener("coredns", "health", LOOPBACK, 10253),
)


def port(process: str, purpose: str) -> int:
    """Port of one listener."""
    return next(item.port for item in LISTENERS if (item.process, item.purpose) == (process, purpose))


API_URL: Final = f"https://{BRIDGE_ADDRESS}:{port('kube-apiserver', 'API')}"

NO_PROXY: Final = f"{POD_CIDR},{SERVICE_CIDR},{BRIDGE_ADDRESS},{LOOPBACK},localhost"


def direct(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with the cluster's addresses exempt from any proxy: none can reach a bridge of this machine."""
    known = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    exempt = f"{known},{NO_PROXY}" if known else NO_PROXY
    return {**environment, "NO_PROXY": exempt, "no_proxy": exempt}


RUN: Final = Path("/run/plumbline")
LOCK: Final = RUN / "lock"
OWNER: Final = RUN / "owner.json"
CONTAINERD_RUN: Final = RUN / "containerd"
LOST_GPUS: Final = RUN / "lost-gpus"  # indices of GPUs that the node has lost, one per line; absent: none
CONTAINERD_SOCKET: Final = CONTAINERD_RUN / "containerd.sock"

KUBELET_ROOT: Final = Path("/var/lib/kubelet")
KUBELET_MARK: Final = KUBELET_ROOT / ".plumbline"

# Paths that the kubelet uses whatever it is told: ours only while the mark is there, refused when someone else's.
KUBELET_PATHS: Final = (Path("/var/log/pods"), Path("/var/log/containers"), KUBELET_ROOT)
CNI_NETWORK: Final = "plumbline"
CNI_STATE: Final = Path("/var/lib/cni")

MARK_VARIABLE: Final = "PLUMBLINE_CLUSTER"  # in the environment of each process, so that a stray one is recognised
