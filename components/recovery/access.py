"""What the creating pod may ask of Kubernetes: to scale the writers down for a quiesced point, and up again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.exporters import service_account
from components.objects import Manifest, metadata
from components.recovery.names import CREATE, object_labels

if TYPE_CHECKING:
    from components.recovery.args import RecoveryArgs


def access(args: RecoveryArgs) -> dict[str, Manifest]:
    """Role → account, Role and RoleBinding in SwanLab's namespace. No Secret, and nothing that starts a pod."""
    own, here = object_labels(args.instance), args.swanlab_namespace
    workloads = ["deployments", "statefulsets"]
    scales = [f"{kind}/scale" for kind in workloads]
    return {
        "service-account": service_account(CREATE, here, own),
        "role": {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": metadata(CREATE, own, here),
            "rules": [
                {"apiGroups": ["apps"], "resources": workloads, "verbs": ["get", "list", "patch"]},
                {"apiGroups": ["apps"], "resources": scales, "verbs": ["get", "patch"]},
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
                # Who scales a writer by itself would start it again while it is stopped.
                {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["list"]},
            ],
        },
        "role-binding": {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": metadata(CREATE, own, here),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": CREATE},
            "subjects": [{"kind": "ServiceAccount", "name": CREATE, "namespace": here}],
        },
    }
