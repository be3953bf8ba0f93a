"""What the stand-in writes for one object, without HTTP around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.workloads.kube_state_metrics.families import RESOURCES
from sandbox.workloads.kube_state_metrics.store import Store, exposition

if TYPE_CHECKING:
    from sandbox.workloads.kube_state_metrics.model import Object


def page(resource: str, obj: Object, keys: tuple[str, ...] = ()) -> str:
    """The whole text for one object. keys: allowed label keys."""
    kind = RESOURCES[resource]
    store = Store(kind, kind.families(keys))
    store.put({**obj, "metadata": {"uid": "uid0", **obj.get("metadata", {})}})
    return exposition([store])


def lines(resource: str, obj: Object, family: str, keys: tuple[str, ...] = ()) -> list[str]:
    """The series of one family, in the order they are written."""
    text = page(resource, obj, keys).splitlines()
    return [line for line in text if line.split("{")[0].split(" ")[0] == family]
