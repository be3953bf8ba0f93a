"""Privileges of a pod by its live spec: for containers without a shell to look from, and for agents of the node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smoke.model import Problem

Json = dict[str, Any]

HOST = ("hostNetwork", "hostPID", "hostIPC")


@dataclass(frozen=True)
class Allowed:
    """What an agent of a node may. added: capabilities. written: where paths of the node may be mounted writable."""

    root: bool = False
    added: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


AGENTS: dict[str, Allowed] = {
    "dcgm-exporter": Allowed(root=True, added=frozenset({"SYS_ADMIN"})),
    "otel-agent": Allowed(root=True, written=frozenset({"/var/lib/otelcol"})),
}
"""Component → what its agent may; any other agent: nothing of it.

The kubelet's socket belongs to root, and the driver gives profiling counters to SYS_ADMIN alone. The runtime writes
logs of containers for root alone, and how far they were read must outlive the pod, on its node.
"""

SHARED_GPUS = "KUBERNETES_VIRTUAL_GPUS"
"""With this variable `true`, dcgm-exporter maps processes on a GPU to pods, for which it must see them."""


def restricted(pod: Json, subject: str) -> list[Problem]:
    """The spec allows no root, no capability or way to gain one, no writable root file system, nothing of the node."""
    problems = [*_containers(pod, subject, root=False, added=frozenset()), *_host(pod, subject, allowed=())]
    paths = [volume["name"] for volume in pod["spec"].get("volumes") or [] if "hostPath" in volume]
    return [*problems, *(Problem(subject, f"volume {name} is a path of the node", "none") for name in paths)]


def agent(pod: Json, component: str, subject: str) -> list[Problem]:
    """The spec of a node's agent allows what the component needs and no more.

    It may only read what is the node's, but for a directory of its own.
    """
    may = AGENTS.get(component, Allowed())
    paths = {volume["name"] for volume in pod["spec"].get("volumes") or [] if "hostPath" in volume}
    writable = [
        Problem(
            f"{subject} container {container['name']}", f"may write to the node at {mount['mountPath']}", "read-only"
        )
        for container in _all(pod)
        for mount in container.get("volumeMounts") or []
        if mount["name"] in paths and not mount.get("readOnly") and mount["mountPath"] not in may.written
    ]
    problems = _containers(pod, subject, root=may.root, added=may.added)
    processes = ("hostPID",) if component == "dcgm-exporter" and _is_on(SHARED_GPUS, pod) else ()
    return [*problems, *_host(pod, subject, allowed=("hostNetwork", *processes)), *writable]


def _is_on(switch: str, pod: Json) -> bool:
    variables = [variable for container in _all(pod) for variable in container.get("env") or []]
    return any(variable["name"] == switch and variable.get("value") == "true" for variable in variables)


def _host(pod: Json, subject: str, allowed: tuple[str, ...]) -> list[Problem]:
    shared = [name for name in HOST if pod["spec"].get(name) and name not in allowed]
    return [Problem(subject, f"{name} is set", "not set") for name in shared]


def _containers(pod: Json, subject: str, *, root: bool, added: frozenset[str]) -> list[Problem]:
    own = pod["spec"].get("securityContext") or {}
    problems = []
    for container in _all(pod):
        context = own | (container.get("securityContext") or {})
        capabilities = context.get("capabilities") or {}
        more = sorted(set(capabilities.get("add") or []) - added)
        faults = {
            "privileged": bool(context.get("privileged")),
            "may run as root": not root and not (context.get("runAsNonRoot") and context.get("runAsUser") != 0),
            "may gain privileges": context.get("allowPrivilegeEscalation") is not False,
            "root file system writable": not context.get("readOnlyRootFilesystem"),
            "keeps capabilities": "ALL" not in (capabilities.get("drop") or []),
            f"adds {', '.join(more)}": bool(more),
            "no seccomp filter": (context.get("seccompProfile") or {}).get("type")
            not in ("RuntimeDefault", "Localhost"),
        }
        name = f"{subject} container {container['name']}"
        problems += [
            Problem(name, fault, "as the component's manifest has it") for fault, there in faults.items() if there
        ]
    return problems


def _all(pod: Json) -> list[Json]:
    return [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]
