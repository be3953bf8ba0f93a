"""Is this the cluster that the contract means?"""

from __future__ import annotations

from typing import Any

from smoke.model import Problem

Json = dict[str, Any]


def same_cluster(kube_system: Json, expected_uid: str, context: str) -> list[Problem]:
    """The uid of namespace kube-system is the identity of a cluster."""
    seen = (kube_system.get("metadata") or {}).get("uid") or ""
    if seen == expected_uid and seen:
        return []
    subject = f"cluster behind context {context}"
    return [Problem(subject, f"uid {seen or 'missing'}", f"uid {expected_uid} of the contract", terminal=True)]
