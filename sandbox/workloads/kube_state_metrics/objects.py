"""Reading decoded API objects: what is absent or null reads as empty, as Go's zero values do."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from sandbox.workloads.kube_state_metrics.model import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sandbox.workloads.kube_state_metrics.model import Object

_STATUSES: Final = ("True", "False", "Unknown")


def part(obj: Object, *path: str) -> dict[str, Any]:
    """The object at `path`, empty where it is absent."""
    found: Any = obj
    for name in path:
        found = (found or {}).get(name)
    return dict(found or {})


def items(obj: Object, *path: str) -> list[dict[str, Any]]:
    """The list of objects at `path`, empty where it is absent."""
    return list(part(obj, *path[:-1]).get(path[-1]) or [])


def text(obj: Object, *path: str) -> str:
    """The string at `path`, `""` where it is absent."""
    return str(part(obj, *path[:-1]).get(path[-1]) or "")


def value(obj: Object, *path: str) -> Iterator[Sample]:
    """One sample with the number at `path`, 0 where it is absent: for fields that Go holds by value."""
    yield Sample(float(part(obj, *path[:-1]).get(path[-1]) or 0))


def pointer(obj: Object, *path: str) -> Iterator[Sample]:
    """One sample with the number or flag at `path`, none where it is absent: for fields that Go holds by pointer."""
    found = part(obj, *path[:-1]).get(path[-1])
    if found is not None:
        yield Sample(float(found))


def moment(obj: Object, *path: str) -> Iterator[Sample]:
    """One sample with the time at `path` in whole seconds since 1970, none where it is absent."""
    found = text(obj, *path)
    if found:
        yield Sample(float(int(datetime.fromisoformat(found).timestamp())))


def condition(status: str, labels: tuple[tuple[str, str], ...], name: str) -> Iterator[Sample]:
    """One sample per status that a condition can have, 1 on the one it has. name: label that holds the status."""
    for candidate in _STATUSES:
        yield Sample(float(status == candidate), (*labels, (name, candidate.lower())))


def condition_of(obj: Object, kind: str) -> Iterator[Sample]:
    """The samples of the condition of this type, none while the object does not have it."""
    for found in items(obj, "status", "conditions"):
        if found.get("type") == kind:
            yield from condition(text(found, "status"), (), "condition")


def one_of(current: str, candidates: Iterable[str], name: str) -> Iterator[Sample]:
    """One sample per candidate, 1 on the current one."""
    for candidate in candidates:
        yield Sample(float(current == candidate), ((name, candidate),))


def owners(obj: Object) -> Iterator[Sample]:
    """One sample per owner; one with empty labels for an object that nobody owns."""
    found = items(obj, "metadata", "ownerReferences")
    for owner in found:
        controls = "true" if owner.get("controller") else "false"
        yield _owner(text(owner, "kind"), text(owner, "name"), controls)
    if not found:
        yield _owner("", "", "")


def _owner(kind: str, name: str, controls: str) -> Sample:
    return Sample(1.0, (("owner_kind", kind), ("owner_name", name), ("owner_is_controller", controls)))
