"""Configuration files and command lines of the cluster's processes: pure functions of paths and facts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from sandbox.cluster import layout
from sandbox.cluster.layout import port

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.cluster.facts import Machine
    from sandbox.hosttools import HostTools

PROVISIONER_NAMESPACE = "plumbline-volumes"


@dataclass(frozen=True)
class Paths:
    """Directories of one cluster state."""

    state: Path

    @property
    def pki(self) -> Path:
        """Authority, certificates, kubeconfigs."""
        return self.state / "pki"

    @property
    def config(self) -> Path:
        """Rendered configuration, written anew at each start."""
        return self.state / "config"

    @property
    def logs(self) -> Path:
        """One log per process."""
        return self.state / "logs"

    @property
    def volumes(self) -> Path:
        """Persistent volumes of the pods."""
        return self.state / "volumes"

    def kubeconfig(self, name: str) -> Path:
        """Kubeconfig of one identity."""
        return self.pki / f"{name}.kubeconfig"


def containerd(paths: Paths, tools: HostTools, machine: Machine, pause: str) -> str:
    """TOML configuration of the private containerd."""
    root = paths.state / "containerd"
    return f"""version = 2
root = "{root}"
state = "{layout.CONTAINERD_RUN}/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "{layout.CONTAINERD_SOCKET}"
[ttrpc]
  address = "{layout.CONTAINERD_SOCKET}.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = {str(not machine.may_raise_oom_score).lower()}
  stream_server_address = "{layout.LOOPBACK}"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{tools.cni}"
    conf_dir = "{paths.config}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{tools.bin}/runc"
"""


def cni() -> str:
    """CNI chain: a bridge with host-local addresses, and port mappings."""
    return json.dumps(
        {
            "cniVersion": "0.4.0",
            "name": layout.CNI_NETWORK,
            "plugins": [
                {
                    "type": "bridge",
                    "bridge": layout.BRIDGE,
                    "isGateway": True,
                    "ipMasq": True,
                    "hairpinMode": True,
                    "ipam": {
                        "type": "host-local",
                        "ranges": [[{"subnet": layout.POD_CIDR, "gateway": layout.BRIDGE_ADDRESS}]],
                        "routes": [{"dst": "0.0.0.0/0"}],
                    },
                },
                {"type": "portmap", "capabilities": {"portMappings": True}},
            ],
        },
        indent=2,
    )


def kubelet(paths: Paths, machine: Machine) -> str:
    """KubeletConfiguration."""
    config: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": layout.BRIDGE_ADDRESS,
        "port": port("kubelet", "API"),
        "readOnlyPort": 0,
        "healthzBindAddress": layout.LOOPBACK,
        "healthzPort": port("kubelet", "health"),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(paths.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(paths.pki / "kubelet-server.crt"),
        "tlsPrivateKeyFile": str(paths.pki / "kubelet-server.key"),
        "cgroupDriver": "cgroupfs",
        "clusterDNS": [layout.DNS_ADDRESS],
        "clusterDomain": layout.CLUSTER_DOMAIN,
        "resolvConf": str(paths.config / "resolv.conf"),
        "containerRuntimeEndpoint": f"unix://{layout.CONTAINERD_SOCKET}",
        "failSwapOn": False,
        # Ten percent of a large shared disk is soon reached, and an evicted Prometheus is a false alarm here.
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,
        "syncFrequency": "10s",
        "maxPods": 110,
        "serializeImagePulls": False,
        "makeIPTablesUtilChains": True,
    }
    if machine.cgroup == "v1":
        config["failCgroupV1"] = False
    return yaml.safe_dump(config)


def kube_proxy(paths: Paths) -> str:
    """KubeProxyConfiguration: iptables, and connection tracking limits left as the machine has them."""
    return yaml.safe_dump(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "clientConnection": {"kubeconfig": str(paths.kubeconfig("kube-proxy"))},
            "clusterCIDR": layout.POD_CIDR,
            "hostnameOverride": layout.NODE_NAME,
            "bindAddress": layout.BRIDGE_ADDRESS,
            "metricsBindAddress": f"{layout.LOOPBACK}:{port('kube-proxy', 'metrics')}",
            "healthzBindAddress": f"{layout.LOOPBACK}:{port('kube-proxy', 'health')}",
            "nodePortAddresses": [f"{layout.BRIDGE_ADDRESS}/32"],
            "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }
    )


def corefile(paths: Paths) -> str:
    """CoreDNS serves the cluster's names and forwards the rest to the machine's resolvers."""
    return f""".:53 {{
    bind {layout.DNS_ADDRESS}
    errors
    health {layout.LOOPBACK}:{port("coredns", "health")}
    kubernetes {layout.CLUSTER_DOMAIN} in-addr.arpa {{
        kubeconfig {paths.kubeconfig("coredns")}
        pods insecure
        ttl 5
    }}
    forward . /etc/resolv.conf
    cache 5
}}
"""


def provisioner(paths: Paths, helper_image: str) -> dict[str, str]:
    """Data of the provisioner's ConfigMap: where volumes lie, and how a directory is made and removed."""
    helper = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "volume-helper"},
        "spec": {
            "priorityClassName": "system-node-critical",
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "helper", "image": helper_image, "imagePullPolicy": "IfNotPresent"}],
        },
    }
    return {
        "config.json": json.dumps({"nodePathMap": [{"node": layout.NODE_NAME, "paths": [str(paths.volumes)]}]}),
        # Mode 0777 lets a non-root container in before fsGroup has been applied.
        "setup": '#!/bin/sh\nset -eu\nmkdir -m 0777 -p "$VOL_DIR"\n',
        "teardown": '#!/bin/sh\nset -eu\nrm -rf "$VOL_DIR"\n',
        "helperPod.yaml": yaml.safe_dump(helper),
    }
