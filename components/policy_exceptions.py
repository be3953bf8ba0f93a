"""What components/policy.py lets pass, entry by entry, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from components.dcgm_exporter.names import VIRTUAL_GPUS

if TYPE_CHECKING:
    from components.objects import Manifest


@dataclass(frozen=True, kw_only=True)
class PolicyException:
    """One complaint that is accepted. kind, name: of the object. rule: name of the function that complains.

    name and complaint are patterns in which `*` stands for any text: a namespace or a path that settings decide.
    switch: variable of a container that must be `true`, where the reason holds only with it.
    """

    kind: str
    name: str
    rule: str
    complaint: str
    reason: str
    switch: str | None = None

    def covers(self, manifest: Manifest, rule: str, complaint: str) -> bool:
        """Whether this very complaint of this rule about this object is accepted."""
        return (
            (manifest["kind"], rule) == (self.kind, self.rule)
            and fnmatchcase(manifest["metadata"]["name"], self.name)
            and fnmatchcase(complaint, self.complaint)
            and (self.switch is None or _is_on(self.switch, manifest))
        )


def _is_on(switch: str, manifest: Manifest) -> bool:
    containers = manifest["spec"]["template"]["spec"]["containers"]
    variables = (variable for container in containers for variable in container.get("env", ()))
    return any(variable["name"] == switch and variable.get("value") == "true" for variable in variables)


_ROOT_REASON = (
    "the kubelet's PodResources socket belongs to root and nobody else may connect; it says which pod has which GPU"
)

EXCEPTIONS: tuple[PolicyException, ...] = (
    PolicyException(
        kind="Namespace",
        name="*-node",
        rule="namespace_is_restricted",
        complaint="lets in pods of level privileged; *",
        reason="Pod Security refuses every host path below this level, and node agents are made of them; "
        "nothing else of the stack lives there",
    ),
    PolicyException(
        kind="Namespace",
        name="*-swanlab",
        rule="namespace_is_restricted",
        complaint="lets in pods of level baseline; *",
        reason="the chart of SwanLab is somebody else's, and some of its containers prepare their volumes as root; "
        "SwanLab and its stores live there, and nothing else",
    ),
    PolicyException(
        kind="Job",
        name="swanlab-postgres-rotation-*",
        rule="has_probes",
        complaint="container rotate has no readinessProbe",
        reason="it serves nobody and ends; what waits for it waits for its end",
    ),
    PolicyException(
        kind="CronJob",
        name="recovery-*",
        rule="has_probes",
        complaint="container recovery has no readinessProbe",
        reason="it serves nobody and ends; what it did is told by its metrics and by the restore points",
    ),
    PolicyException(
        kind="Service",
        name="object-store",
        rule="is_not_exposed",
        complaint="is of type NodePort; *",
        reason="signed addresses lead browsers and SDKs outside of the cluster to it; it asks for a key itself",
    ),
    PolicyException(
        kind="DaemonSet",
        name="dcgm-exporter",
        rule="runs_as_non_root",
        complaint="container exporter may run as root; *",
        reason=_ROOT_REASON,
    ),
    PolicyException(
        kind="DaemonSet",
        name="dcgm-exporter",
        rule="has_no_privileges",
        complaint="container exporter adds capability SYS_ADMIN; *",
        reason="the driver gives profiling counters (DCGM_FI_PROF_*) to nobody without it; "
        "neither a simulated exporter nor one attached to a hostengine has it",
    ),
    PolicyException(
        kind="DaemonSet",
        name="dcgm-exporter",
        rule="stays_off_the_node",
        complaint="volume pod-resources mounts the node's * read-only",
        reason=_ROOT_REASON,
    ),
    PolicyException(
        kind="DaemonSet",
        name="dcgm-exporter",
        rule="stays_off_the_node",
        complaint="hostPID is set",
        reason="on a shared GPU the driver tells use per process, by its number on the node, and /proc names its pod; "
        "without it every pod would be given a use of 0",
        switch=VIRTUAL_GPUS,
    ),
    PolicyException(
        kind="DaemonSet",
        name="node-exporter",
        rule="stays_off_the_node",
        complaint="hostNetwork is set",
        reason="interfaces, sockets and connections belong to a network namespace, and the node's are asked for",
    ),
    *(
        PolicyException(
            kind="DaemonSet",
            name="node-exporter",
            rule="stays_off_the_node",
            complaint=f"volume {volume} mounts the node's {path} read-only",
            reason=reason,
        )
        for volume, path, reason in (
            ("procfs", "/proc", "a container's own procfs shows neither the node's processes nor its mounts"),
            ("sysfs", "/sys", "a container's own sysfs hides devices of the node"),
            ("rootfs", "/", "free space is asked of a mounted file system, wherever it is mounted"),
            (
                "textfile",
                "*",
                "programs of the node leave metrics of their own there, if the settings name a directory",
            ),
        )
    ),
    PolicyException(
        kind="DaemonSet",
        name="otel-agent",
        rule="runs_as_non_root",
        complaint="container otel-agent may run as root; *",
        reason="the runtime writes logs of containers for root alone, and the kubelet makes the queue's directory for "
        "root; without a capability it is no more than the owner of those files",
    ),
    PolicyException(
        kind="DaemonSet",
        name="otel-agent",
        rule="stays_off_the_node",
        complaint="volume pod-logs mounts the node's /var/log/pods read-only",
        reason="what containers print is nowhere else",
    ),
    PolicyException(
        kind="DaemonSet",
        name="otel-agent",
        rule="stays_off_the_node",
        complaint="volume queue mounts the node's * writable",
        reason="how far each log was read, and what the gateway has not taken, must outlive the pod on its node; the "
        "settings name the directory, which may be neither the root nor among the logs",
    ),
)
