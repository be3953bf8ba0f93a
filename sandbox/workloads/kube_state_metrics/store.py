"""What one list-and-watch has seen, already written out: a scrape only joins text."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sandbox.workloads.kube_state_metrics.text import header, series

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sandbox.workloads.kube_state_metrics.model import Family, Object, Resource


class Store:
    """The series of every object of one resource, by uid. Safe to use from several threads."""

    def __init__(self, resource: Resource, families: tuple[Family, ...]) -> None:
        """Empty until the first list."""
        self.resource, self.families = resource, families
        self._lock = threading.Lock()
        self._objects: dict[str, tuple[str, ...]] = {}

    def replace(self, objects: Iterable[Object]) -> None:
        """Hold exactly these objects."""
        written = {_uid(obj): self._write(obj) for obj in objects}
        with self._lock:
            self._objects = written

    def put(self, obj: Object) -> None:
        """Add an object, or replace what it looked like before."""
        written = self._write(obj)
        with self._lock:
            self._objects[_uid(obj)] = written

    def remove(self, obj: Object) -> None:
        """Forget an object; one that is not held is no error."""
        with self._lock:
            self._objects.pop(_uid(obj), None)

    def snapshot(self) -> list[tuple[str, ...]]:
        """Per object, the text of each family."""
        with self._lock:
            return list(self._objects.values())

    def _write(self, obj: Object) -> tuple[str, ...]:
        return tuple(series(self.resource, family, obj) for family in self.families)


def _uid(obj: Object) -> str:
    return str(obj["metadata"]["uid"])


def exposition(stores: Sequence[Store]) -> str:
    """All stores of one resource as text: family by family, each with its header.

    As upstream: a family without series still has its header, and a resource without objects has nothing at all.
    """
    objects = [written for store in stores for written in store.snapshot()]
    if not objects:
        return ""
    return "".join(
        header(family) + "".join(written[at] for written in objects) for at, family in enumerate(stores[0].families)
    )
