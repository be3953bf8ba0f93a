"""Judges what the collectors are told before anything exists: relations that each setting alone cannot show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.otel_collector.abilities import LOAD_BALANCING
from components.otel_collector.backends import backends
from components.otel_collector.debug import LEVELS
from components.otel_collector.names import POD_LOGS
from components.otel_collector.sizes import above_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.otel_collector.args import Gateway, OtelCollectorArgs, Sampling

MAX_QUEUE_PERCENT: Final = 80
"""Share of a volume that queues may be given: a queue's file keeps free pages, and grows while it is made smaller."""
TRACES_PER_SECOND: Final = 10
"""Traces that must find room for the whole wait, as those do whose root never comes; with less room senders wait."""
TRACE_BYTES: Final = 1024
"""What a trace of one span takes in memory at least."""
_MAX_PERCENT: Final = 100.0
_HALF: Final = 2


def validate(args: OtelCollectorArgs) -> None:
    """Raise DeployError with everything that is wrong, if anything is."""
    found = complaints(args)
    if found:
        raise DeployError("the settings of the collectors:\n" + "\n".join(f"- {line}" for line in found))


def complaints(args: OtelCollectorArgs) -> list[str]:
    """What is wrong, each as `where: what; what is accepted`."""
    return [
        *_replicas(args),
        *(f"gateway.{what}" for what in above_limit(args.gateway.memory_bytes, args.gateway.resources)),
        *(f"agent.{what}" for what in above_limit(args.agent.memory_bytes, args.agent.resources)),
        *_gateway_queues(args.gateway, len(args.backends)),
        *_agent_queues(args),
        *_shares(args.sampling),
        *_waiting(args.sampling, args.gateway.memory_bytes),
        *_level(args.lowest_level),
        *backends(args),
    ]


def _replicas(args: OtelCollectorArgs) -> Iterator[str]:
    replicas = args.gateway.replicas
    if replicas < 1:
        yield f"gateway.replicas: {replicas}; accepted is 1 or more"
    if replicas > 1 and LOAD_BALANCING not in args.abilities:
        yield (
            f"gateway.replicas: {replicas}, but the image {args.image.reference} is not known to route by trace id "
            f"(ability `{LOAD_BALANCING}`): each replica would decide over a part of a trace, and most traces with an "
            "error would be kept in part; accepted is 1, or an image with that ability"
        )


def _gateway_queues(gateway: Gateway, queues: int) -> Iterator[str]:
    """queues: one for each signal that goes to a backend."""
    if gateway.volume_bytes <= 0:
        yield "gateway.volume: the queue is on no claim and would be lost with its pod; accepted is a size, as `5Gi`"
        return
    most = gateway.volume_bytes * MAX_QUEUE_PERCENT // 100
    if gateway.queue_bytes <= 0:
        yield f"gateway.queue: {gateway.queue_bytes} bytes; accepted is more than 0"
    elif gateway.queue_bytes * queues > most:
        yield (
            f"gateway.queue: {queues} queues of {gateway.queue_bytes} bytes on a volume of {gateway.volume} "
            f"({gateway.volume_bytes}); accepted are at most {most // queues} each, together {MAX_QUEUE_PERCENT} per "
            "cent of it"
        )


def _agent_queues(args: OtelCollectorArgs) -> Iterator[str]:
    """What fills the disk of a node takes along every pod of it, so the disk's share is named, and held to."""
    agent, queues = args.agent, 3 if args.logs else 2
    most = agent.disk_bytes * MAX_QUEUE_PERCENT // 100
    if agent.queue_bytes <= 0:
        yield f"agent.queue: {agent.queue_bytes} bytes; accepted is more than 0"
    elif agent.queue_bytes * queues > most:
        yield (
            f"agent.queue: {queues} queues of {agent.queue_bytes} bytes, with {agent.disk_bytes} of the node's "
            f"disk for the agent; accepted are at most {most // queues} each, together {MAX_QUEUE_PERCENT} per "
            "cent of it"
        )
    parts = agent.directory.strip("/").split("/")
    inside_logs = f"{agent.directory.rstrip('/')}/".startswith(f"{POD_LOGS}/")
    if not agent.directory.startswith("/") or parts == [""] or ".." in parts or inside_logs:
        yield (
            f"agent.directory: `{agent.directory}`; accepted is an absolute path on the node, neither its root nor "
            f"below {POD_LOGS}"
        )


def _shares(sampling: Sampling) -> Iterator[str]:
    shares = {"sampling.keep_percent": sampling.keep_percent}
    shares |= {f"sampling.tenants.{team}": share for team, share in sampling.tenants.items()}
    for where, share in shares.items():
        if not 0 <= share <= _MAX_PERCENT:  # nor is what is no number at all
            yield f"{where}: {share}; accepted are per cent from 0 to 100"


def _waiting(sampling: Sampling, memory_bytes: int) -> Iterator[str]:
    """The wait against what is waited for, how many wait against both how many come and how many fit."""
    wait, held = sampling.decision_wait_seconds, sampling.traces_in_memory
    after_root = sampling.decision_wait_after_root_seconds
    if sampling.slow_ms <= 0:
        yield f"sampling.slow: {sampling.slow_ms} ms; accepted is more than 0"
    if wait * 1000 <= sampling.slow_ms:
        yield (
            f"sampling.decision_wait: {wait} s, but a trace is slow at {sampling.slow_ms} ms, and its longest span is "
            "sent when it ends: it would be decided before; accepted is more than that"
        )
    if not 1 <= after_root <= wait:
        yield (
            f"sampling.decision_wait_after_root: {after_root} s, with a decision_wait of {wait} s, after which a trace "
            f"is decided in any case; accepted are 1 to {wait} s: by 0 a trace whose root has come would wait on"
        )
    if held < wait * TRACES_PER_SECOND:
        yield (
            f"sampling.traces_in_memory: {held} for a wait of {wait} s; accepted are {wait * TRACES_PER_SECOND} or "
            f"more, {TRACES_PER_SECOND} a second"
        )
    if held * TRACE_BYTES > memory_bytes // _HALF:
        yield (
            f"sampling.traces_in_memory: {held} traces of one span take {held * TRACE_BYTES} bytes, more than half of "
            f"the gateway's {memory_bytes}; accepted are at most {memory_bytes // _HALF // TRACE_BYTES}"
        )


def _level(lowest: str) -> Iterator[str]:
    if lowest not in LEVELS:
        yield f"lowest_level: `{lowest}`; accepted is one of {', '.join(LEVELS)}"
