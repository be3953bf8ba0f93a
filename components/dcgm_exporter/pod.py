"""The pod that runs dcgm-exporter on each node with GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.dcgm_exporter.counters import config_name, counters_csv
from components.dcgm_exporter.names import (
    CONTAINER,
    COUNTERS_FILE,
    COUNTERS_PATH,
    NAME,
    POD_RESOURCES_PATH,
    PORT,
    PORT_NAME,
    VIRTUAL_GPUS,
)
from components.exporters import probe
from components.pods import quantities, restricted_container

if TYPE_CHECKING:
    from components.dcgm_exporter.args import DcgmExporterArgs
    from components.objects import Manifest

_START_SECONDS = 600


def pod_spec(args: DcgmExporterArgs) -> Manifest:
    """The spec of the pod template. It names the counters file by its content, see counters.config_name()."""
    selected = {} if args.simulated else args.node_selector
    runtime = {} if args.simulated or args.runtime_class is None else {"runtimeClassName": args.runtime_class}
    # A process on a shared GPU is known by its number on the node, and belongs to the pod that its cgroup names.
    processes = {"hostPID": True} if args.kubernetes_virtual_gpus and not args.simulated else {}
    return {
        **runtime,
        **processes,
        "serviceAccountName": NAME,
        "automountServiceAccountToken": args.dra or args.kubernetes_virtual_gpus,
        "enableServiceLinks": False,
        "nodeSelector": {"kubernetes.io/os": "linux", **selected},
        "tolerations": [dict(toleration) for toleration in args.tolerations],
        "securityContext": {
            # Owner of the kubelet's socket, which lets nobody else connect. Without capabilities that is all it is.
            "runAsNonRoot": False,
            "runAsUser": 0,
            "runAsGroup": 0,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(args)],
        "volumes": [
            {"name": "counters", "configMap": {"name": config_name(counters_csv(args.counters))}},
            # The directory, not the socket in it: a restarted kubelet makes a new one.
            {"name": "pod-resources", "hostPath": {"path": args.pod_resources, "type": "Directory"}},
            # The embedded hostengine writes temporary files.
            {"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}},
        ],
    }


def _container(args: DcgmExporterArgs) -> Manifest:
    return {
        "name": CONTAINER,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "args": _arguments(args),
        "env": _environment(args),
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "resources": quantities(args.resources),
        "securityContext": _security(args),
        # The driver may still be loading, and the first measurement of many GPUs takes its time.
        "startupProbe": probe("/health", PORT_NAME, every=5, failures=_START_SECONDS // 5),
        "readinessProbe": probe("/health", PORT_NAME, every=10, failures=3),
        "livenessProbe": probe("/health", PORT_NAME, every=10, failures=6),
        "volumeMounts": [
            {"name": "counters", "mountPath": COUNTERS_PATH, "readOnly": True},
            {"name": "pod-resources", "mountPath": POD_RESOURCES_PATH, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  # a path in the container, of its own
        ],
    }


def _arguments(args: DcgmExporterArgs) -> list[str]:
    attach = [] if args.simulated or args.hostengine is None else ["-r", args.hostengine]
    return ["-f", f"{COUNTERS_PATH}/{COUNTERS_FILE}", *attach]


def _security(args: DcgmExporterArgs) -> Manifest:
    """Profiling counters need SYS_ADMIN where they are read: in the hostengine, which may be somebody else's."""
    found = restricted_container()
    if not args.simulated and args.hostengine is None:
        found["capabilities"] = {"drop": ["ALL"], "add": ["SYS_ADMIN"]}
    return found


def _environment(args: DcgmExporterArgs) -> list[Manifest]:
    values = {
        "DCGM_EXPORTER_KUBERNETES": "true",
        "DCGM_EXPORTER_LISTEN": f":{PORT}",
        "DCGM_EXPORTER_INTERVAL": str(args.interval_ms),
        "DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE": args.gpu_id_type,
        **({VIRTUAL_GPUS: "true"} if args.kubernetes_virtual_gpus else {}),
        **({"KUBERNETES_ENABLE_DRA": "true"} if args.dra else {}),
        **({"NVIDIA_RESOURCE_NAMES": ",".join(args.resource_names)} if args.resource_names else {}),
    }
    fields = {"NODE_NAME": "spec.nodeName", "NODE_IP": "status.hostIP"}
    return [
        *({"name": name, "value": value} for name, value in values.items()),
        *({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()),
    ]
