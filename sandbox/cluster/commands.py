"""Command lines of the cluster's processes, in the order in which they start."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.cluster import gpus, layout
from sandbox.cluster.configs import PROVISIONER_NAMESPACE, Paths
from sandbox.cluster.layout import port
from sandbox.programs.build import binary

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.home import Home
    from sandbox.hosttools import HostTools


@dataclass(frozen=True)
class Context:
    """What a command line is made of."""

    home: Home
    paths: Paths
    tools: HostTools
    helper_image: str


def containerd(c: Context) -> list[str]:
    """Private container runtime: its own root, state and socket."""
    return [str(c.tools.bin / "containerd"), "--config", str(c.paths.config / "containerd.toml")]


def etcd(c: Context) -> list[str]:
    """Store of the API server, on loopback, with client certificates."""
    clients = f"https://{layout.LOOPBACK}:{port('etcd', 'clients')}"
    peers = f"https://{layout.LOOPBACK}:{port('etcd', 'peers')}"
    pki = c.paths.pki
    tls = [f"--cert-file={pki}/etcd.crt", f"--key-file={pki}/etcd.key", f"--trusted-ca-file={pki}/ca.crt"]
    peer_tls = [option.replace("--", "--peer-", 1) for option in tls]
    return [
        str(binary(c.home, "etcd")),
        "--name=plumbline",
        f"--data-dir={c.paths.state}/etcd",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=plumbline={peers}",
        "--client-cert-auth=true",
        "--peer-client-cert-auth=true",
        *tls,
        *peer_tls,
        "--auto-compaction-retention=1",
        "--quota-backend-bytes=2147483648",
    ]


def kube_apiserver(c: Context) -> list[str]:
    """API server on the bridge's address."""
    pki = c.paths.pki
    return [
        str(binary(c.home, "kube-apiserver")),
        f"--bind-address={layout.BRIDGE_ADDRESS}",
        f"--advertise-address={layout.BRIDGE_ADDRESS}",
        f"--secure-port={port('kube-apiserver', 'API')}",
        f"--etcd-servers=https://{layout.LOOPBACK}:{port('etcd', 'clients')}",
        f"--etcd-cafile={pki}/ca.crt",
        f"--etcd-certfile={pki}/etcd-client.crt",
        f"--etcd-keyfile={pki}/etcd-client.key",
        f"--service-cluster-ip-range={layout.SERVICE_CIDR}",
        f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--kubelet-client-certificate={pki}/apiserver-kubelet.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-account-key-file={pki}/service-account.pub",
        f"--service-account-signing-key-file={pki}/service-account.key",
        f"--service-account-issuer=https://kubernetes.default.svc.{layout.CLUSTER_DOMAIN}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--anonymous-auth=false",
        "--profiling=false",
        # In-flight requests end soon after SIGTERM; a stop that waits for watches of a minute helps nobody here.
        "--shutdown-delay-duration=0s",
    ]


def kube_controller_manager(c: Context) -> list[str]:
    """Controllers; the node's pod range is allocated here because the policy engine reads it."""
    pki, kubeconfig = c.paths.pki, c.paths.kubeconfig("controller-manager")
    return [
        str(binary(c.home, "kube-controller-manager")),
        f"--bind-address={layout.LOOPBACK}",
        f"--secure-port={port('kube-controller-manager', 'metrics')}",
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--root-ca-file={pki}/ca.crt",
        f"--service-account-private-key-file={pki}/service-account.key",
        "--use-service-account-credentials=true",
        "--allocate-node-cidrs=true",
        f"--cluster-cidr={layout.POD_CIDR}",
        "--node-cidr-mask-size=24",
        "--leader-elect=false",
        "--profiling=false",
    ]


def kube_scheduler(c: Context) -> list[str]:
    """Scheduler."""
    kubeconfig = c.paths.kubeconfig("scheduler")
    return [
        str(binary(c.home, "kube-scheduler")),
        f"--bind-address={layout.LOOPBACK}",
        f"--secure-port={port('kube-scheduler', 'metrics')}",
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--profiling=false",
    ]


def coredns(c: Context) -> list[str]:
    """Cluster DNS on the bridge's address."""
    return [str(binary(c.home, "coredns")), "-conf", str(c.paths.config / "Corefile")]


def kubelet(c: Context) -> list[str]:
    """The node."""
    return [
        str(binary(c.home, "kubelet")),
        f"--config={c.paths.config}/kubelet.yaml",
        f"--kubeconfig={c.paths.kubeconfig('kubelet')}",
        f"--root-dir={layout.KUBELET_ROOT}",
        f"--hostname-override={layout.NODE_NAME}",
        f"--node-ip={layout.BRIDGE_ADDRESS}",
        # Deprecated, yet without it no container_* series of cAdvisor names its container, pod and namespace.
        f"--containerd={layout.CONTAINERD_SOCKET}",
    ]


def kube_proxy(c: Context) -> list[str]:
    """Service addresses."""
    return [str(binary(c.home, "kube-proxy")), f"--config={c.paths.config}/kube-proxy.yaml"]


def local_path_provisioner(c: Context) -> list[str]:
    """Dynamic volumes."""
    return [
        str(binary(c.home, "local-path-provisioner")),
        "start",
        f"--config={c.paths.config}/provisioner/config.json",
        f"--kubeconfig={c.paths.kubeconfig('provisioner')}",
        f"--namespace={PROVISIONER_NAMESPACE}",
        f"--helper-image={c.helper_image}",
        "--configmap-name=local-path-config",
        "--service-account-name=default",
    ]


def kube_router(c: Context) -> list[str]:
    """Network policies."""
    return [
        str(binary(c.home, "kube-router")),
        "--run-router=false",
        "--run-service-proxy=false",
        "--run-firewall=true",
        "--run-loadbalancer=false",
        f"--kubeconfig={c.paths.kubeconfig('network-policy')}",
        f"--hostname-override={layout.NODE_NAME}",
        f"--service-cluster-ip-range={layout.SERVICE_CIDR}",
        "--metrics-port=0",
        "--health-port=0",
    ]


def gpu_plugin(c: Context) -> list[str]:
    """Device plugin of the simulated GPUs, on a socket beside the kubelet's."""
    return [
        "/usr/bin/env",
        f"PYTHONPATH={c.paths.config / gpus.DIRECTORY}",
        sys.executable,
        "-P",
        "-m",
        gpus.MODULE,
        f"--node={layout.NODE_NAME}",
        f"--count={layout.GPUS}",
        f"--directory={layout.KUBELET_ROOT}/device-plugins",
        f"--lost={layout.LOST_GPUS}",
        "--process-name=gpu-plugin",
    ]


BEFORE_API: Final[dict[str, Callable[[Context], list[str]]]] = {
    "containerd": containerd,
    "etcd": etcd,
    "kube-apiserver": kube_apiserver,
}
CONTROL: Final[dict[str, Callable[[Context], list[str]]]] = {
    "kube-controller-manager": kube_controller_manager,
    "kube-scheduler": kube_scheduler,
    "coredns": coredns,
}
AFTER_NODE: Final[dict[str, Callable[[Context], list[str]]]] = {
    "kube-proxy": kube_proxy,
    "local-path-provisioner": local_path_provisioner,
    "kube-router": kube_router,
    "gpu-plugin": gpu_plugin,
}
ALL: Final = (*BEFORE_API, *CONTROL, "kubelet", *AFTER_NODE)
