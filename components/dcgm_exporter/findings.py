"""What the conflict doctor is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Mode = Literal["managed", "existing", "simulated", "off"]

SECTION = "plumbline:dcgm_exporter"
"""The settings that findings speak of."""
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Existing:
    """Pods of an exporter that somebody else deploys. labels: all of them have these. port: name of the port."""

    namespace: str
    labels: dict[str, str]
    port: str


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the settings ask for.

    instance: the stack's namespace. fields: of the counters file. existing: for mode `existing`. targets: nodes whose
    exporter is scraped by address.
    """

    mode: Mode
    instance: str
    node_selector: dict[str, str] = field(default_factory=dict)
    hostengine: str | None = None
    runtime_class: str | None = None
    virtual_gpus: bool = False
    dra: bool = False
    fields: tuple[str, ...] = ()
    existing: Existing | None = None
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is wrong. kind: stable name. where: object, node or setting. fatal: nothing must be deployed like this."""

    kind: str
    where: str
    why: str
    remedy: str
    fatal: bool

    def __str__(self) -> str:
        """`where: why` and, on lines of its own, what to do."""
        return f"{self.where}: {self.why}\n{self.remedy}"


def shown(names: Sequence[str]) -> str:
    """At most five names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
