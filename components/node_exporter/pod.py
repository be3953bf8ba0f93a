"""The pod that runs node-exporter on each node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.exporters import probe
from components.node_exporter.names import (
    CONTAINER,
    NAME,
    PORT_NAME,
    PROCFS_PATH,
    ROOTFS_PATH,
    SYSFS_PATH,
    TEXTFILE_PATH,
)
from components.pods import NOBODY, quantities, restricted_container

if TYPE_CHECKING:
    from components.node_exporter.args import NodeExporterArgs
    from components.objects import Manifest

_ONLY_WANTED: Final = "--collector.disable-defaults"
_DECIDED_HERE: Final = ("--web.", "--path.", "--collector.textfile.directory")


@dataclass(frozen=True)
class _HostMount:
    """A directory of the node, mounted for reading."""

    name: str
    source: str
    target: str


def pod_spec(args: NodeExporterArgs) -> Manifest:
    """The spec of the pod template. The host's processes are not needed: its procfs is mounted as it is."""
    mounts = _mounts(args)
    return {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [dict(toleration) for toleration in args.tolerations],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(args, mounts)],
        "volumes": [{"name": mount.name, "hostPath": {"path": mount.source, "type": "Directory"}} for mount in mounts],
    }


def _container(args: NodeExporterArgs, mounts: tuple[_HostMount, ...]) -> Manifest:
    return {
        "name": CONTAINER,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(args),
        "env": [{"name": "HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}],
        # The port of the node as well: with it the scheduler sees that another pod has it, and says so.
        "ports": [{"name": PORT_NAME, "containerPort": args.port, "hostPort": args.port, "protocol": "TCP"}],
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        "readinessProbe": probe("/", PORT_NAME, every=10, failures=3),
        "livenessProbe": probe("/", PORT_NAME, every=10, failures=6),
        "volumeMounts": [_volume_mount(mount, args) for mount in mounts],
    }


def _mounts(args: NodeExporterArgs) -> tuple[_HostMount, ...]:
    found = (
        _HostMount("procfs", "/proc", PROCFS_PATH),
        _HostMount("sysfs", "/sys", SYSFS_PATH),
        _HostMount("rootfs", "/", ROOTFS_PATH),
    )
    if args.textfile_directory is None:
        return found
    return (*found, _HostMount("textfile", args.textfile_directory, TEXTFILE_PATH))


def _volume_mount(mount: _HostMount, args: NodeExporterArgs) -> Manifest:
    """Without propagation, a file system mounted later would be reported with the numbers of the one beneath it."""
    propagation = {"mountPropagation": "HostToContainer"} if mount.name == "rootfs" and args.follow_mounts else {}
    return {"name": mount.name, "mountPath": mount.target, "readOnly": True, **propagation}


def arguments(args: NodeExporterArgs) -> list[str]:
    """The command line: the node's address alone, the paths of the node, and the collectors of the catalogue.

    The brackets hold for both families of addresses. Raises DeployError for flags that contradict that.
    """
    contradicting = [flag for flag in args.flags if flag.startswith(_DECIDED_HERE)]
    if contradicting or _ONLY_WANTED not in args.flags:
        raise DeployError(
            f"the flags of node-exporter must hold {_ONLY_WANTED} and nothing of {', '.join(_DECIDED_HERE)}; remove "
            f"{', '.join(contradicting) or 'nothing'} and see signals/catalogue/node_exporter.py."
        )
    textfile = (f"--collector.textfile.directory={TEXTFILE_PATH}",) if args.textfile_directory else ()
    return [
        f"--web.listen-address=[$(HOST_IP)]:{args.port}",
        f"--path.procfs={PROCFS_PATH}",
        f"--path.sysfs={SYSFS_PATH}",
        f"--path.rootfs={ROOTFS_PATH}",
        f"--path.udev.data={ROOTFS_PATH}/run/udev/data",
        *args.flags,
        *textfile,
    ]
