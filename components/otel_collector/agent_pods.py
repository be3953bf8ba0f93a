"""The pod that runs an agent on each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.fixed_config import volume
from components.otel_collector.abilities import K8S_ATTRIBUTES
from components.otel_collector.containers import container
from components.otel_collector.names import (
    AGENT,
    AGENT_CONFIG,
    AGENT_FILES,
    CONFIG_PATH,
    DEBUG_PATH,
    POD_LOGS,
    PORTS,
    QUEUE_PATH,
    debug_config,
)

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

_STOP_SECONDS: Final = 30


def agent_pod(args: OtelCollectorArgs, revision: str) -> Manifest:
    """The spec of the pod template.

    Root, because the runtime writes logs that nobody else may read, and the kubelet makes the directory for root.
    Without a capability it is the owner of those files and no more.
    """
    return {
        "serviceAccountName": AGENT,
        "automountServiceAccountToken": K8S_ATTRIBUTES in args.abilities,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [dict(toleration) for toleration in args.agent.tolerations],
        "securityContext": {
            "runAsNonRoot": False,
            "runAsUser": 0,
            "runAsGroup": 0,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(args)],
        "volumes": [
            volume(AGENT_CONFIG, revision),
            {"name": "debug", "configMap": {"name": debug_config(args.lowest_level)}},
            {"name": "pod-logs", "hostPath": {"path": POD_LOGS, "type": "Directory"}},
            {"name": "queue", "hostPath": {"path": args.agent.directory, "type": "DirectoryOrCreate"}},
        ],
    }


def _container(args: OtelCollectorArgs) -> Manifest:
    """The debug file comes second: it replaces one condition of the first."""
    return container(
        AGENT,
        args.image,
        args.agent,
        files=AGENT_FILES,
        ports=PORTS,
        mounts=[
            {"name": "config", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "debug", "mountPath": DEBUG_PATH, "readOnly": True},
            {"name": "pod-logs", "mountPath": POD_LOGS, "readOnly": True},
            {"name": "queue", "mountPath": QUEUE_PATH},
        ],
    )
