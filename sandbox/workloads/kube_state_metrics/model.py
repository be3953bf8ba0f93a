"""The shape of what is exposed: samples, families and the API resources they are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Object = Mapping[str, Any]
"""An API object or a part of one, decoded from JSON, in Kubernetes' own spelling."""


@dataclass(frozen=True)
class Sample:
    """One series of one object, without the labels that name the object. labels: (name, value) in upstream's order."""

    value: float
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Family:
    """One metric family. stable: upstream promises it, which its HELP says. samples: object → its series."""

    name: str
    help: str
    samples: Callable[[Object], Iterable[Sample]]
    type: Literal["gauge", "counter"] = "gauge"
    stable: bool = True


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A kind of API object and its families.

    name: plural, as in `--resources`. group: path of its API group and version. identity: (label, field of metadata)
    pairs that lead every series. families: allowed label keys → families in upstream's order. labelled: whether there
    is a family of labels for which keys can be allowed. type: Go name, the `resource` label of the self metrics.
    """

    name: str
    group: str
    type: str
    identity: tuple[tuple[str, str], ...]
    families: Callable[[tuple[str, ...]], tuple[Family, ...]]
    namespaced: bool = True
    labelled: bool = False

    def path(self, namespace: str = "") -> str:
        """Where the API lists it: across all namespaces, or in one."""
        scope = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{self.group}{scope}/{self.name}"
