"""GPUs: counted, named after the pods that hold them, and handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from signals.catalogue.labels import INFO_METRIC
from smoke import limits, poll
from smoke.check import check
from smoke.judge import gpu, storage
from smoke.proofs.handover import PREFIX

if TYPE_CHECKING:
    from smoke.model import Problem
    from smoke.stack import Stack

Json = dict[str, Any]


@check("gpu.count")
def test_count(stack: Stack) -> str:
    outside = frozenset(name for job in stack.contract.scrape if job.job == gpu.JOB for name in job.static)
    seen: dict[str, int] = {}

    def probe() -> list[Problem]:
        series = _series(stack)
        seen.clear()
        seen.update(gpu.exposed(series))
        return gpu.count(stack.kube.items("/api/v1/nodes"), series, outside)

    stack.settle(probe, limits.TARGETS)
    compared = "allocatable GPUs (replicas of a shared one counted once) and MIG instances"
    return f"{compared}: {', '.join(f'{node} {count}' for node, count in sorted(seen.items())) or 'no GPUs'}"


@check("gpu.attribution")
def test_attribution(stack: Stack) -> str:
    inputs, with_owners = stack.contract.rules, stack.claims("kube-state")
    seen: list[Json] = []

    def probe() -> list[Problem]:
        pods = stack.kube.all_pods()
        seen[:] = gpu.with_gpus(pods)
        problems = gpu.attributed(pods, _series(stack), _exporters(stack), PREFIX)
        if with_owners:
            info = stack.prometheus.query(INFO_METRIC)
            problems += gpu.owned(seen, info, inputs.pod_labels)
        return problems

    stack.settle(probe, limits.TARGETS)
    named = ", ".join(sorted(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in seen)) or "none"
    owners = "their labels in the info series" if with_owners else "their labels were not asked for: no kube-state"
    return f"pods with GPUs, each named by as many as it has: {named}; {owners}"


@check("gpu.handover", begin=lambda stack: stack.handover.begin())
def test_handover(stack: Stack) -> str:
    poll.fetch(stack.handover.begin)
    stack.settle(stack.handover.advance, limits.HANDOVER)
    return stack.handover.told


def _series(stack: Stack) -> list[Json]:
    window = storage.allowed_age(storage.scrape_intervals(stack.prometheus.targets()).get(gpu.JOB, 0.0))
    query = f'count by ({gpu.DEVICE_AND_HOLDER}) ({gpu.METRIC}{{job="{gpu.JOB}"}})'
    return stack.prometheus.query(query, lookback=window)


def _exporters(stack: Stack) -> set[gpu.Pod]:
    """Pods that expose the GPUs, by what discovery told of them."""
    found = set()
    for target in stack.prometheus.targets().get("activeTargets") or []:
        told = target.get("discoveredLabels") or {}
        if target["labels"].get("job") == gpu.JOB:
            found.add((told.get("__meta_kubernetes_namespace", ""), told.get("__meta_kubernetes_pod_name", "")))
    return found
