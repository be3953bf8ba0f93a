"""A node's exporter: its GPUs, the containers that hold them, the incidents that are played, and the page.

The same for a pod on a real node and for each node of the fleet.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sandbox.workloads.gpu import board, gpu, identity
from sandbox.workloads.gpu.collector import Collector, Entity, Shape
from sandbox.workloads.gpu.exposition import RenderError, render
from sandbox.workloads.gpu.gpu import Gpu, Stress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.workloads.gpu.board import Incident
    from sandbox.workloads.gpu.fields import Instance
    from sandbox.workloads.gpu.kubelet import Pod

BITS: Final = {name: bit for bit, name in gpu.CLOCK_EVENTS.items()}


@dataclass(frozen=True)
class Page:
    """An answer to a scrape. delay: seconds before it is given."""

    status: int
    body: str
    delay: float = 0.0


class Node:
    """The exporter of one node. Calls may come from several threads."""

    def __init__(self, shape: Shape, now: float, sliced: Mapping[int, Sequence[Instance]] | None = None) -> None:
        """shape: what is exported, and under which labels. sliced: GPU index → its MIG instances."""
        self._shape, self._sliced = shape, dict(sliced or {})
        self._collector = Collector(shape)
        self._lock = threading.RLock()
        self._gpus: dict[str, Gpu] = {}
        self._missing: frozenset[str] = frozenset()
        self._ticked = now
        self.board = board.Board()

    def reshape(self, shape: Shape) -> None:
        """Export something else from now on; the GPUs stay as they are."""
        with self._lock:
            self._shape, self._collector = shape, Collector(shape)

    def devices(self, uuids: Sequence[str], now: float) -> None:
        """These are the healthy GPUs now. One that is gone has no series until it is back."""
        with self._lock:
            known = identity.indices(self._shape.node, [*self._gpus, *uuids])
            for uuid in uuids:
                if uuid not in self._gpus:
                    self._gpus[uuid] = Gpu(uuid, known[uuid], now)
            self._missing = frozenset(self._gpus) - set(uuids)

    def tick(self, now: float, pods: Mapping[str, Pod]) -> None:
        """DCGM samples: every GPU moves on to `now`."""
        with self._lock:
            active = self.board.active()
            for item in self._gpus.values():
                item.advance(now, _stress(active, item.index), held=item.uuid in pods, keep=self._shape.longest_window)
            self._ticked = now

    @property
    def ticked(self) -> float:
        """When DCGM sampled last."""
        return self._ticked

    def play(self, request: object, now: float) -> Incident:
        """Let something go wrong. request: a JSON document as in board.KINDS. Raises IncidentError."""
        with self._lock:
            indices = frozenset(item.index for item in self._gpus.values())
            incident = board.parse(request, indices, self.board.number())
            hit = [item for item in self._gpus.values() if incident.concerns(item.index)]
            if incident.kind not in board.MOMENTARY:
                self.board.put(incident)
            for item in hit:
                _strike(item, incident, now)
            return incident

    def calm(self, number: int | None) -> list[Incident]:
        """End one incident, or all with None; returns what ended. A failed row remapping is repaired with it."""
        with self._lock:
            gone = self.board.take(number)
            failed = [i for i in self.board.active() if i.kind == "row_remap_failure"]
            for item in self._gpus.values():
                item.memory.remap_failed = any(i.concerns(item.index) for i in failed)
            return gone

    def page(self, pods: Mapping[str, Pod], now: float) -> Page:
        """The answer to a scrape at `now`."""
        with self._lock:
            active = self.board.active()
            kinds = {incident.kind: incident for incident in active}
            delay = float(kinds["slow"].options["seconds"]) if "slow" in kinds else 0.0
            if "down" in kinds:
                return Page(500, "internal server error\n", delay)
            if "empty_page" in kinds:
                return Page(200, "", delay)
            entities = self._entities(active)
            try:
                families = self._collector.families(entities, pods, active, now)
                return Page(200, render(families), delay)
            except RenderError:
                return Page(500, "internal server error\n", delay)

    def _entities(self, active: list[Incident]) -> list[Entity]:
        lost = [i for i in active if i.kind == "gpu_lost"]
        found = []
        for item in sorted(self._gpus.values(), key=lambda g: g.index):
            if item.uuid in self._missing or any(i.concerns(item.index) for i in lost):
                continue
            slices = self._sliced.get(item.index)
            found += [Entity(item, part) for part in slices] if slices else [Entity(item, None)]
        return found

    def summary(self) -> dict[str, Any]:
        """For the control interface: GPUs, and what lasts."""
        with self._lock:
            return {
                "node": self._shape.node,
                "gpus": [{"index": g.index, "uuid": g.uuid} for g in self._gpus.values()],
                "incidents": [incident.document() for incident in self.board.active()],
            }


def _stress(active: list[Incident], index: int) -> Stress:
    """What the incidents that last do to one GPU."""
    celsius, reasons, frozen = None, 0, False
    for incident in active:
        if not incident.concerns(index):
            continue
        if incident.kind == "hot":
            celsius = float(incident.options["celsius"])
        elif incident.kind == "throttle":
            reasons |= BITS[board.REASONS[incident.options["reason"]]]
        elif incident.kind == "frozen":
            frozen = True
    return Stress(celsius, reasons, frozen)


def _strike(item: Gpu, incident: Incident, now: float) -> None:
    """What happens to a GPU at once."""
    if incident.kind == "xid":
        item.fail(incident.options["code"], now)
    elif incident.kind == "ecc_dbe":
        item.lose_bits(incident.options["errors"])
    elif incident.kind == "row_remap_failure":
        item.memory.remap_failed = True
    elif incident.kind == "restart" and incident.options["scope"] == "exporter":
        item.restart_exporter()
    elif incident.kind == "restart":
        item.reload_driver()
