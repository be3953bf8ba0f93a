"""Who a run was at a time: pods, nodes, devices; and what of that is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from smoke.run_evidence.facts import Pod, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from smoke.run_evidence.facts import Board, Device
    from smoke.run_evidence.looking import Looking
    from smoke.run_evidence.read_logs import Logs

SLACK: Final = 90.0
"""Seconds by which identity, attribution and scrapes may be behind what they tell of."""


@dataclass(frozen=True)
class Whose:
    """nodes: pod → node."""

    pods: tuple[Pod, ...]
    devices: tuple[Device, ...]
    nodes: Mapping[tuple[str, str], str]

    @property
    def boards(self) -> list[Board]:
        """Each once."""
        return sorted({device.board for device in self.devices})

    def holders(self, board: Board) -> str:
        """Pods of the run that hold a board, in words."""
        return ", ".join(sorted({"/".join(one.pod) for one in self.devices if one.board == board}))


def at(look: Looking, pods: Sequence[Pod], logs: Logs | None, span: Span, every: int) -> Whose:
    """The run in a span. pods: by identity, over a longer time. every: seconds between two looks at what pods hold."""
    present = [pod for pod in pods if pod.life.meets(span.wider(SLACK))]
    present += _unnamed(look, present, logs, span) if logs else []
    if not present:
        look.miss("the run's pods", "none of them was seen at this time, neither by identity nor by its lines")
    keys = {pod.key for pod in present}
    wide = span.wider(SLACK)
    devices = look.ask("which GPUs its pods held", lambda: look.metrics.devices(wide, pods=keys, every=every)) or []
    nodes = look.ask("nodes of its pods", lambda: look.metrics.nodes(keys, wide), essential=False) or {}
    asked = look.ask("how many GPUs its pods ask for", lambda: look.metrics.requested(keys, wide), essential=False)
    for what, why in missing(present, devices, asked, nodes):
        look.miss(what, why)
    nodes = {**{one.pod: one.board.node for one in devices}, **nodes}
    for pod in present:
        if pod.key not in nodes:
            look.miss(f"the node of pod {pod}", "neither kube-state-metrics nor a GPU names it", essential=False)
    return Whose(tuple(present), tuple(devices), nodes)


def missing(
    pods: Collection[Pod],
    devices: Collection[Device],
    asked: Mapping[tuple[str, str], float] | None,
    nodes: Mapping[tuple[str, str], str],
) -> list[tuple[str, str]]:
    """GPUs that pods have and that no series names: what, and why it cannot be looked at."""
    found = []
    for pod in pods:
        held = sum(device.pod == pod.key for device in devices)
        if asked is None or pod.key not in {**asked, **nodes}:
            if not held:
                found.append((f"GPUs of pod {pod}", "no GPU names the pod, and nobody tells how many it asks for"))
            continue
        wanted = int(asked.get(pod.key, 0))
        if held < wanted:
            found.append((f"{wanted - held} of the {wanted} GPUs of pod {pod}", "no series of a GPU names the pod"))
    return found


def _unnamed(look: Looking, present: Sequence[Pod], logs: Logs, span: Span) -> list[Pod]:
    """Pods that wrote lines of the run and have no identity: their label may be missing."""
    known = {pod.key for pod in present}
    told = look.ask("which pods wrote lines of the run", lambda: logs.pods(span), essential=False) or set()
    found = [Pod(namespace, name, span, {}) for namespace, name in sorted(told - known)]
    for pod in found:
        look.miss(f"identity of pod {pod}", "it wrote lines of the run and no series says so", essential=False)
    return found
