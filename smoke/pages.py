"""The pages of the catalogue that the contract speaks of, and what it says about their targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from signals.catalogue import PRODUCERS
from smoke.judge import nodes, storage

if TYPE_CHECKING:
    from signals.catalogue.model import Producer
    from smoke.stack import Stack

Json = dict[str, Any]


def pages(stack: Stack) -> list[Producer]:
    """Pages of the catalogue for the contracted jobs."""
    jobs = {job.job for job in stack.contract.scrape}
    return [page for page in PRODUCERS if page.job in jobs]


def windows(targets: Json, contracted: list[Producer]) -> dict[str, float]:
    """Job → seconds that its newest sample may be old. A job without active targets is missing."""
    intervals = storage.scrape_intervals(targets)
    return {
        page.job: storage.allowed_age(intervals[page.job]) + page.sample_delay_seconds
        for page in contracted
        if page.job in intervals
    }


def expected_nodes(stack: Stack) -> dict[str, set[str]]:
    """Job → nodes that must have a target, for producers with one on every node."""
    known = stack.kube.items("/api/v1/nodes")
    jobs = {job.job: job for job in stack.contract.scrape}
    return {
        page.job: nodes.selected(known, jobs[page.job].node_selector) | set(jobs[page.job].static)
        for page in pages(stack)
        if page.per_node
    }
