"""Targets and their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from signals.catalogue import PRODUCERS
from signals.catalogue.model import Presence
from smoke import limits, poll
from smoke.access.prometheus import quoted
from smoke.check import check
from smoke.judge import labels, scrape, signals, storage
from smoke.pages import expected_nodes, pages, windows

if TYPE_CHECKING:
    from signals.catalogue.model import Producer
    from smoke.model import Problem
    from smoke.stack import Stack

Json = dict[str, Any]


@check("scrape.expected_jobs")
def test_expected_jobs(stack: Stack) -> str:
    jobs = stack.contract.scrape

    def probe() -> list[Problem]:
        return scrape.expected_jobs(stack.prometheus.targets(), jobs, expected_nodes(stack))

    stack.settle(probe, limits.TARGETS)
    return ", ".join(f"{job.job} (at least {job.min_targets})" for job in jobs)


@check("scrape.all_up")
def test_all_up(stack: Stack) -> str:
    jobs = _judged(stack)
    stack.settle(lambda: scrape.all_up(stack.prometheus.targets(), jobs), limits.TARGETS)
    return f"{_number_of_targets(stack)} targets, all up"


@check("scrape.no_duplicates")
def test_no_duplicates(stack: Stack) -> str:
    described = [page for page in pages(stack) if page.identity]

    def probe() -> list[Problem]:
        shared = [problem for page in described for problem in _shared(stack, page)]
        return [*scrape.no_duplicates(stack.prometheus.targets(), _judged(stack)), *shared]

    stack.settle(probe, limits.TARGETS)
    titles = ", ".join(page.title for page in described) or "nothing"
    return f"{_number_of_targets(stack)} targets, each once; told by one target each: objects of {titles}"


def _judged(stack: Stack) -> set[str] | None:
    """Jobs whose targets are this stack's affair: all of its own Prometheus, the contracted ones of another's."""
    return None if stack.claims("prometheus-managed") else {job.job for job in stack.contract.scrape}


@check("scrape.labels")
def test_labels(stack: Stack) -> str:
    contracted = pages(stack)
    known = [page.job for page in PRODUCERS]
    jobs = [job.job for job in stack.contract.scrape]

    def probe() -> list[Problem]:
        nodes_of = expected_nodes(stack)
        up = stack.prometheus.query("up", lookback=storage.lookback(stack.prometheus.targets()))
        cluster = stack.contract.cluster
        found = [labels.target_labels(up, page, cluster, nodes_of.get(page.job, set())) for page in contracted]
        return [
            *labels.unknown_jobs(jobs, known),
            *(problem for problems in found for problem in problems),
            *labels.collided(_renamed(stack, contracted)),
        ]

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{page.job}: {', '.join(page.target_labels)}" for page in contracted)


@check("signals.budget")
def test_budget(stack: Stack) -> str:
    jobs = stack.contract.scrape
    kept = "sum by (job) (scrape_samples_post_metric_relabeling)"

    def probe() -> list[Problem]:
        window = storage.lookback(stack.prometheus.targets())
        seen = stack.prometheus.query(kept, lookback=window)
        largest = {job.job: _largest(stack, job.job) for job in jobs if scrape.over_budget(seen, (job,), {})}
        return scrape.over_budget(seen, jobs, largest)

    stack.settle(probe, limits.TARGETS)
    seen = {
        series["metric"].get("job"): series["value"][1] for series in poll.fetch(lambda: stack.prometheus.query(kept))
    }
    return "\n".join(f"{job.job}: {seen.get(job.job, 0)} of at most {job.max_series} series" for job in jobs)


def _largest(stack: Stack, job: str) -> list[Json]:
    query = f'topk({limits.METRICS_SHOWN}, count by (__name__) ({{job="{job}"}}))'
    return stack.prometheus.query(query)


def _shared(stack: Stack, page: Producer) -> list[Problem]:
    """Objects of this page that several targets tell of. Metrics with the same labels are asked for together."""
    grouped: dict[frozenset[str], list[str]] = {}
    everywhere = {metric.name for other in PRODUCERS if other.job != page.job for metric in other.metrics}
    for metric in page.metrics:
        # What every program exposes about its own process says nothing of the page's objects.
        if metric.presence is Presence.ALWAYS and metric.name not in everywhere:
            grouped.setdefault(scrape.about(metric, page), []).append(signals.series_name(metric))
    allowed = windows(stack.prometheus.targets(), [page]).get(page.job)
    told = []
    for among, names in grouped.items():
        if not among:
            continue
        # Of another job too: its exporter may be somebody else's. Of another cluster, the objects are others.
        own = f'__name__=~"{"|".join(names)}", cluster=~"|{stack.contract.cluster.name}"'
        own += ', node!=""' if "node" in among else ""
        by = ", ".join(sorted(among))
        query = f"count by ({by}) (count by (job, instance, {by}) ({{{own}}})) > 1"
        for found in stack.prometheus.query(query, lookback=allowed)[: limits.PROBLEMS_SHOWN]:
            matchers = ", ".join(f'{name}="{found["metric"].get(name, "")}"' for name in sorted(among))
            targets = f"count by (job, instance) ({{{own}, {matchers}}})"
            told.append((found["metric"], stack.prometheus.query(targets, lookback=allowed)))
    return scrape.shared_objects(told, page)


def _number_of_targets(stack: Stack) -> int:
    return len(poll.fetch(stack.prometheus.targets)["activeTargets"])


def _renamed(stack: Stack, contracted: list[Producer]) -> dict[str, list[Json]]:
    """Renamed labels that catalogued metrics carry now. The list of names outlives its series, so each is asked for."""
    since = stack.prometheus.scalar("time()") - limits.LABELS_SINCE
    names = [name for name in stack.prometheus.label_names(since) if name.startswith(labels.COLLISION)]
    allowed = windows(stack.prometheus.targets(), contracted)
    found: dict[str, list[Json]] = {}
    for name in names:
        for page in contracted:
            family = "|".join(metric.name for metric in page.metrics)
            selector = f'{{job="{page.job}", {quoted(name)}!="", __name__=~"({family})(_bucket|_count|_sum)?"}}'
            counted = stack.prometheus.query(f"count by (__name__, job) ({selector})", lookback=allowed.get(page.job))
            found.setdefault(name, []).extend(counted)
    return found
