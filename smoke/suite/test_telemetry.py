"""Telemetry: what a workload sends is at its store, whole and without what must be hidden, and all of it is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from smoke import limits, poll
from smoke.check import check
from smoke.judge import telemetry
from smoke.judge.fixed_config import fixed
from smoke.judge.telemetry import REVISION, SPAN_CALLS, TARGET_INFO
from smoke.model import DeclaredSkipError
from smoke.proofs.gateway_kill import GatewayKill

if TYPE_CHECKING:
    from smoke.model import Problem
    from smoke.stack import Stack

Json = dict[str, Any]
Tier = Literal["agent", "gateway"]
JAEGER = "jaeger"
"""Name of its container."""


@check("telemetry.config")
def test_config(stack: Stack) -> str:
    promised = stack.telemetry.promised
    tiers: list[Tier] = [tier for tier in ("agent", "gateway") if getattr(promised, tier) is not None]
    told: dict[str, str] = {}

    def probe() -> list[Problem]:
        problems = []
        for tier in tiers:
            pods, collector = stack.telemetry.pods(tier), stack.telemetry.collector(tier)
            expected = collector.revision
            shown = _revisions(stack, tier, pods)
            told[tier] = f"{len(pods)} pods of the {tier} run revision {expected}, which is what they mount"
            maps = stack.telemetry.config_maps(pods, collector.name)
            problems += fixed(tier, pods, maps, collector.name, collector)
            names = [pod["metadata"]["name"] for pod in pods]
            problems += telemetry.configured(tier, names, shown, expected)
        return problems

    stack.settle(probe, limits.TARGETS)
    return "\n".join(told.values()) or "the contract promises neither an agent nor a gateway"


@check("telemetry.trace", begin=lambda stack: stack.telemetry.nonce_trace.begin())
def test_trace(stack: Stack) -> str:
    proof = stack.telemetry.nonce_trace
    poll.fetch(proof.begin)
    stack.settle(proof.advance, limits.TELEMETRY + stack.telemetry.wait_after_root)
    return proof.told


@check("telemetry.log", begin=lambda stack: stack.telemetry.nonce_line.begin())
def test_log(stack: Stack) -> str:
    proof = stack.telemetry.nonce_line
    poll.fetch(proof.begin)
    stack.settle(proof.advance, limits.TELEMETRY)
    return proof.told


@check("telemetry.redaction", begin=lambda stack: stack.telemetry.redaction.begin())
def test_redaction(stack: Stack) -> str:
    proof = stack.telemetry.redaction
    poll.fetch(proof.begin)
    stack.settle(proof.advance, limits.TARGETS + stack.telemetry.wait_after_root)
    return proof.told


@check("telemetry.sampling", begin=lambda stack: stack.telemetry.sampled.begin())
def test_sampling(stack: Stack) -> str:
    proof = stack.telemetry.sampled
    poll.fetch(proof.begin)
    # Once until roots come that are late, and once more until those are decided about.
    stack.settle(proof.advance, limits.TELEMETRY + 2 * stack.telemetry.wait_after_root)
    return proof.told


@check("telemetry.span_metrics", begin=lambda stack: stack.telemetry.sampled.begin())
def test_span_metrics(stack: Stack) -> str:
    proof = stack.telemetry.sampled
    poll.fetch(proof.begin)
    query = f'sum by (span_name, status_code) ({SPAN_CALLS}{{service_name=~"{"|".join(proof.services)}"}})'
    stack.settle(lambda: telemetry.counted(stack.prometheus.query(query), proof.calls), limits.SPAN_METRICS)
    return f"{proof.calls.total()} spans of {' and '.join(proof.services)} were sent, and as many calls are counted"


@check("telemetry.accounting", begin=lambda stack: stack.telemetry.accounting.begin())
def test_accounting(stack: Stack) -> str:
    proof = stack.telemetry.accounting
    poll.fetch(proof.begin)
    stack.settle(proof.advance, limits.TELEMETRY + stack.telemetry.longest_wait)
    return proof.told


@check("logs.retention")
def test_logs_retention(stack: Stack) -> str:
    promised = stack.telemetry.log_store

    def probe() -> list[Problem]:
        store = stack.telemetry.logs
        return telemetry.logs_kept(store.flags(), store.own_metrics(), promised)

    stack.settle(probe, limits.QUICK)
    return f"VictoriaLogs keeps {promised.retention_seconds} s, and {promised.retention_bytes} bytes"


@check("traces.retention")
def test_traces_retention(stack: Stack) -> str:
    promised = stack.telemetry.trace_store

    def probe() -> list[Problem]:
        pods = stack.telemetry.store_pods()
        names = [pod["metadata"]["name"] for pod in pods]
        config_maps = stack.telemetry.config_maps(pods, JAEGER)
        files = {
            file: text for found in config_maps.values() for file, text in ((found or {}).get("data") or {}).items()
        }
        shown = {name: telemetry.shown_revisions(own) for name, own in stack.telemetry.store_metrics().items()}
        return [
            *telemetry.traces_kept(files, promised.retention_seconds),
            *fixed("Jaeger", pods, config_maps, JAEGER, promised),
            *telemetry.configured("Jaeger", names, shown, promised.revision),
        ]

    stack.settle(probe, limits.QUICK)
    return f"Jaeger keeps {promised.retention_seconds} s: its file says so, and it runs that file, {promised.revision}"


@check("telemetry.survives_kill")
def test_survives_kill(stack: Stack) -> str:
    proof = GatewayKill(stack)
    if not proof.signals:
        raise DeclaredSkipError("neither logs nor traces go to a store of this stack, so nothing can be read back")
    poll.settle(proof.filled, limits.TELEMETRY + stack.telemetry.wait_after_root, every=limits.KILL_EVERY)
    poll.fetch(proof.kill)
    poll.settle(proof.returned, limits.POD_REPLACED, every=limits.KILL_EVERY)
    poll.settle(proof.found, limits.GATEWAY_RETURNS)
    return poll.fetch(proof.told)


def _revisions(stack: Stack, tier: Tier, pods: list[Json]) -> dict[str, list[str]]:
    """Pod → revisions that it shows: asked of it, or of Prometheus where there are very many of them."""
    if len(pods) <= limits.PODS_READ or not stack.claims("metrics"):
        own = stack.telemetry.own_metrics(tier)
        return {name: telemetry.shown_revisions(samples) for name, samples in own.items()}
    job = stack.telemetry.collector(tier).name
    by_node: dict[str, list[str]] = {}
    for series in stack.prometheus.query(f'{TARGET_INFO}{{job="{job}"}}'):
        by_node.setdefault(series["metric"].get("node", ""), []).append(series["metric"].get(REVISION, ""))
    return {pod["metadata"]["name"]: by_node.get(pod["spec"].get("nodeName", ""), []) for pod in pods}
