"""What the doctor needs to know of a cluster, read from objects as the API serves them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from components.naming import PART_OF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HOSTENGINE_PORT: Final = 5555
EXPORTER_PORT: Final = 9400
GPU_OPERATOR_HOSTENGINE: Final = "nvidia-dcgm"
"""Label `app`, and name of the Service, of the hostengine that the GPU Operator deploys."""
AKS_LABEL: Final = "kubernetes.azure.com/dcgm-exporter"
"""On nodes where AKS runs the exporter as a service of the node, which no pod shows. Source: AKS, managed GPU nodes."""

Role = Literal["exporter", "hostengine", "dra-driver", "port-holder"]

_NAME_LABELS = ("app.kubernetes.io/name", "app", "k8s-app", "name")
_PER_ROLLOUT = frozenset({"controller-revision-hash", "pod-template-generation", "pod-template-hash"})
_REAL = re.compile(
    r"nvidia\.com/gpu\.present=true|nvidia\.com/cuda\.driver(-version)?\..+=.+"
    r"|feature\.node\.kubernetes\.io/pci-([0-9a-f]{4}_)?10de(_.+)?\.present=true|cloud\.google\.com/gke-accelerator=.+"
    r"|k8s\.amazonaws\.com/accelerator=nvidia.*|karpenter\.k8s\.aws/instance-gpu-manufacturer=nvidia|kubernetes\.azure\.com/accelerator=nvidia"
)
_GPU_RESOURCE = re.compile(r"nvidia\.com/(gpu(\.shared)?|mig-.+)")


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A DaemonSet, or a pod or service of the node that belongs to none, that works with DCGM or holds its ports.

    where: `DaemonSet/namespace/name`, or in words. namespace, labels, port_name: how its pods are found and scraped;
    empty for a service of the node. nodes: where it runs now. address: `host:port` at which a hostengine can be
    attached to, if that can be told. names_pods: an exporter that says which pod uses which GPU. instance: of the
    Plumbline stack that it belongs to, None if to none.
    """

    role: Role
    where: str
    namespace: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    port_name: str | None = None
    nodes: frozenset[str] = frozenset()
    address: str | None = None
    names_pods: bool = True
    instance: str | None = None


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod that has not ended. ports: names of its container ports. node: empty before it is scheduled."""

    namespace: str
    name: str
    node: str
    labels: dict[str, str]
    ports: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node. address: its InternalIP. resources: extended resource of NVIDIA's → number that it has or had."""

    name: str
    address: str
    labels: dict[str, str]
    resources: dict[str, int]

    @property
    def has_gpus(self) -> bool:
        """Whether it offers GPUs, or says that it holds some."""
        return any(self.resources.values()) or bool(self.real)

    @property
    def real(self) -> tuple[str, ...]:
        """Labels, as `key=value`, that only a real driver, a real device or a cloud's GPU machine gets."""
        return tuple(text for key, value in sorted(self.labels.items()) if _REAL.fullmatch(text := f"{key}={value}"))


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Everything that bears on who measures the GPUs. runtime_classes: names."""

    agents: tuple[Agent, ...]
    pods: tuple[Pod, ...]
    nodes: tuple[Node, ...]
    runtime_classes: frozenset[str]


def from_api(
    daemonsets: Iterable[Mapping[str, Any]],
    pods: Iterable[Mapping[str, Any]],
    nodes: Iterable[Mapping[str, Any]],
    runtime_classes: Iterable[Mapping[str, Any]],
) -> Cluster:
    """A Cluster from the `items` of four lists: all DaemonSets and pods of all namespaces, nodes, RuntimeClasses."""
    alive = [pod for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
    seen_nodes = tuple(_node(node) for node in nodes)
    sets = {(s["metadata"]["namespace"], s["metadata"]["name"]): s for s in daemonsets}
    found: list[Agent] = []
    for (namespace, name), daemon_set in sets.items():
        own = [pod for pod in alive if _daemon_set_of(pod) == (namespace, name)]
        template = daemon_set["spec"]["template"]
        selected = daemon_set["spec"].get("selector", {}).get("matchLabels", {})
        found += _agents(f"DaemonSet/{namespace}/{name}", namespace, template, selected, own)
    for pod in alive:
        if _daemon_set_of(pod) not in sets:
            meta = pod["metadata"]
            found += _agents(f"Pod/{meta['namespace']}/{meta['name']}", meta["namespace"], pod, {}, [pod])
    return Cluster(
        agents=(*found, *_aks(seen_nodes)),
        pods=tuple(_pod(pod) for pod in alive),
        nodes=seen_nodes,
        runtime_classes=frozenset(item["metadata"]["name"] for item in runtime_classes),
    )


def _agents(
    where: str,
    namespace: str,
    template: Mapping[str, Any],
    selected: Mapping[str, str],
    pods: list[Mapping[str, Any]],
) -> Iterator[Agent]:
    """At most one for each role. template: anything with the metadata and spec of a pod."""
    labels_ = template.get("metadata", {}).get("labels", {})
    spec = template["spec"]
    roles = _roles(labels_, spec)
    for role, container in roles.items():
        yield Agent(
            role=role,
            where=where,
            namespace=namespace,
            labels=dict(selected) or {key: value for key, value in labels_.items() if key not in _PER_ROLLOUT},
            port_name=_port_name(container),
            nodes=frozenset(node for pod in pods if (node := pod["spec"].get("nodeName"))),
            address=_address(namespace, labels_, spec, container) if role == "hostengine" else None,
            names_pods=_names_pods(container),
            instance=labels_.get("app.kubernetes.io/instance") if _is_plumbline(labels_) else None,
        )


def _roles(labels_: Mapping[str, str], spec: Mapping[str, Any]) -> dict[Role, Mapping[str, Any]]:
    """Role → container. By program; where a mirror renamed the image, by labels; last by DCGM's ports of the node."""
    containers = spec["containers"]
    for judge in (_by_program, lambda _: _by_labels(labels_), lambda c: _by_port(c, spec)):
        found: dict[Role, Mapping[str, Any]] = {}
        for container in containers:
            role = judge(container)
            if role is not None:
                found.setdefault(role, container)
        if found:
            return found
    return {}


def _by_program(container: Mapping[str, Any]) -> Role | None:
    image = _image_name(str(container.get("image", "")))
    words = [str(word).rpartition("/")[2] for word in (*container.get("command", ()), *container.get("args", ()))]
    if image.endswith("dcgm-exporter") or "dcgm-exporter" in words:
        return "exporter"
    if image == "dcgm" or any("nv-hostengine" in word for word in words):
        return "hostengine"
    return "dra-driver" if "dra-driver" in image and "gpu" in image else None


def _by_labels(labels_: Mapping[str, str]) -> Role | None:
    names = [labels_.get(key, "") for key in _NAME_LABELS]
    if any(name.endswith("dcgm-exporter") for name in names):
        return "exporter"
    return "hostengine" if GPU_OPERATOR_HOSTENGINE in names else None


def _by_port(container: Mapping[str, Any], spec: Mapping[str, Any]) -> Role | None:
    held = _node_ports(container, host_network=bool(spec.get("hostNetwork")))
    return "port-holder" if held & {HOSTENGINE_PORT, EXPORTER_PORT} else None


def _image_name(reference: str) -> str:
    """`registry.example.com:5000/nvidia/k8s/dcgm-exporter:4@sha256:…` → `dcgm-exporter`."""
    return reference.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _node_ports(container: Mapping[str, Any], *, host_network: bool) -> set[int]:
    """Ports of the node that the container holds, as far as it declares them."""
    ports = container.get("ports", ())
    return {int(port["containerPort"] if host_network else port.get("hostPort", 0)) for port in ports}


def _address(
    namespace: str, labels_: Mapping[str, str], spec: Mapping[str, Any], container: Mapping[str, Any]
) -> str | None:
    if labels_.get("app") == GPU_OPERATOR_HOSTENGINE:
        return f"{GPU_OPERATOR_HOSTENGINE}.{namespace}.svc:{HOSTENGINE_PORT}"
    if HOSTENGINE_PORT in _node_ports(container, host_network=bool(spec.get("hostNetwork"))):
        return f"$(NODE_IP):{HOSTENGINE_PORT}"
    return None


def _port_name(container: Mapping[str, Any]) -> str | None:
    """Name of the port that serves metrics: the exporter's number, else the usual name, else the only one."""
    ports = [port for port in container.get("ports", ()) if port.get("name")]
    usual = [port for port in ports if port["containerPort"] == EXPORTER_PORT or port["name"] == "metrics"]
    return next((str(port["name"]) for port in usual or ports), None)


def _names_pods(container: Mapping[str, Any]) -> bool:
    """Whether it is told to ask the kubelet. A value from elsewhere cannot be seen and counts as yes."""
    for variable in container.get("env", ()):
        if variable["name"] == "DCGM_EXPORTER_KUBERNETES":
            return "valueFrom" in variable or str(variable.get("value", "")).lower() in ("true", "1", "t")
    flags = {str(flag).partition("=")[0] for flag in (*container.get("command", ()), *container.get("args", ()))}
    return bool(container.get("envFrom")) or bool(flags & {"-k", "--kubernetes"})


def _is_plumbline(labels_: Mapping[str, str]) -> bool:
    return labels_.get("app.kubernetes.io/part-of") == PART_OF


def _daemon_set_of(pod: Mapping[str, Any]) -> tuple[str, str] | None:
    for owner in pod["metadata"].get("ownerReferences", ()):
        if owner["kind"] == "DaemonSet":
            return pod["metadata"]["namespace"], owner["name"]
    return None


def _pod(pod: Mapping[str, Any]) -> Pod:
    ports = (port for container in pod["spec"]["containers"] for port in container.get("ports", ()))
    return Pod(
        namespace=pod["metadata"]["namespace"],
        name=pod["metadata"]["name"],
        node=pod["spec"].get("nodeName", ""),
        labels=dict(pod["metadata"].get("labels", {})),
        ports=frozenset(str(port["name"]) for port in ports if port.get("name")),
    )


def _node(node: Mapping[str, Any]) -> Node:
    """Capacity counts, not what is allocatable: a node whose device plugin is away still holds its GPUs."""
    status = node.get("status", {})
    offered = {**status.get("allocatable", {}), **status.get("capacity", {})}
    addresses = {address["type"]: address["address"] for address in status.get("addresses", ())}
    return Node(
        name=node["metadata"]["name"],
        address=addresses.get("InternalIP", ""),
        labels=dict(node["metadata"].get("labels", {})),
        resources={name: _count(count) for name, count in offered.items() if _GPU_RESOURCE.fullmatch(name)},
    )


def _count(quantity: object) -> int:
    """Extended resources are whole numbers; a large one arrives as `1k`, and then only that it is there matters."""
    text = str(quantity)
    return int(text) if text.isdecimal() else 1


def _aks(nodes: tuple[Node, ...]) -> Iterator[Agent]:
    served = frozenset(node.name for node in nodes if node.labels.get(AKS_LABEL) == "enabled")
    if served:
        yield Agent(role="exporter", where=f"the service of AKS on nodes with {AKS_LABEL}=enabled", nodes=served)
