"""Pods of smoke's own. They conform to `restricted`, end by themselves, and are found by their label."""

from __future__ import annotations

from typing import Any, Final

from smoke import limits
from smoke.proofs.model import LABEL

Json = dict[str, Any]

NOBODY: Final = 65534


def sentinel(name: str, kind: str, container: Json, *, labels: Json | None = None, **spec: object) -> Json:
    """A pod that runs one container once.

    kind: value of LABEL. labels: further ones. container: everything but its securityContext. spec: more fields of it.
    """
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {LABEL: kind, **(labels or {})}},
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": limits.SENTINEL_LIFE,
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": NOBODY,
                "runAsGroup": NOBODY,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    **container,
                    "imagePullPolicy": "IfNotPresent",
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
            **spec,
        },
    }
