"""Which traces are kept: the gateway's decision about each as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.otel_collector.parts import MIB

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

TEAM: Final = "team"
"""Resource attribute that says whose a trace is."""
ERRORS, SLOW, REST = "errors", "slow", "rest"
_REMEMBERED: Final = 4
"""Decisions that are remembered for spans that come late, in terms of traces in memory."""


def largest_trace(memory_bytes: int) -> int:
    """Bytes of one trace that is still decided about, by the container's memory: it must leave room for the others."""
    return max(8 * MIB, memory_bytes // 16)


def tail_sampling(args: OtelCollectorArgs) -> Manifest:
    """The processor. A trace is kept if any policy says so.

    Spans are sent when they end, so the root comes last and is what shows that a trace was slow. It is waited for as
    long as the longest request may take, and once it is there, only for what other senders still hold back.

    When it is full, whoever sends waits: the alternative is to forget the oldest trace before it was decided about,
    with the errors in it. A trace larger than `largest_trace` is dropped and counted.
    """
    sampling = args.sampling
    remembered = sampling.traces_in_memory * _REMEMBERED
    return {
        "decision_wait": f"{sampling.decision_wait_seconds}s",
        "decision_wait_after_root_received": f"{sampling.decision_wait_after_root_seconds}s",
        "num_traces": sampling.traces_in_memory,
        "block_on_overflow": True,
        "maximum_trace_size_bytes": largest_trace(args.gateway.memory_bytes),
        "decision_cache": {"sampled_cache_size": remembered, "non_sampled_cache_size": remembered},
        "policies": [
            {"name": ERRORS, "type": "status_code", "status_code": {"status_codes": ["ERROR"]}},
            # It keeps what is longer than that, in whole milliseconds.
            {"name": SLOW, "type": "latency", "latency": {"threshold_ms": sampling.slow_ms - 1}},
            *(_tenant(team, percent) for team, percent in sorted(sampling.tenants.items())),
            _rest(sampling.keep_percent, sorted(sampling.tenants)),
        ],
    }


def _tenant(team: str, percent: float) -> Manifest:
    return _both(f"tenant-{team}", _of("team", [team]), percent)


def _rest(percent: float, tenants: list[str]) -> Manifest:
    """A tenant with a share of its own does not get this one as well."""
    if not tenants:
        return {"name": REST, **_share(percent)}
    others = {"name": "others", "type": "not", "not": {"not_sub_policy": _of("tenants", tenants)}}
    return _both(REST, others, percent)


def _both(name: str, condition: Manifest, percent: float) -> Manifest:
    return {
        "name": name,
        "type": "and",
        "and": {"and_sub_policy": [condition, {"name": "share", **_share(percent)}]},
    }


def _of(name: str, teams: list[str]) -> Manifest:
    return {"name": name, "type": "string_attribute", "string_attribute": {"key": TEAM, "values": teams}}


def _share(percent: float) -> Manifest:
    return {"type": "probabilistic", "probabilistic": {"sampling_percentage": percent}}
