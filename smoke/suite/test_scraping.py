"""Targets, their labels, and the metrics of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from signals.catalogue import PRODUCERS
from smoke import limits, poll
from smoke.check import check
from smoke.judge import labels, nodes, scrape, signals, storage
from smoke.model import Problem

if TYPE_CHECKING:
    from signals.catalogue.model import Metric, Producer
    from smoke.stack import Stack

Json = dict[str, Any]


@check("scrape.expected_jobs")
def test_expected_jobs(stack: Stack) -> str:
    jobs = stack.contract.scrape
    stack.settle(lambda: scrape.expected_jobs(stack.prometheus.targets(), jobs), limits.TARGETS)
    return ", ".join(f"{job.job} (at least {job.min_targets})" for job in jobs)


@check("scrape.all_up")
def test_all_up(stack: Stack) -> str:
    stack.settle(lambda: scrape.all_up(stack.prometheus.targets()), limits.TARGETS)
    return f"{_number_of_targets(stack)} targets, all up"


@check("scrape.no_duplicates")
def test_no_duplicates(stack: Stack) -> str:
    stack.settle(lambda: scrape.no_duplicates(stack.prometheus.targets()), limits.TARGETS)
    return f"{_number_of_targets(stack)} targets, each once"


@check("scrape.labels")
def test_labels(stack: Stack) -> str:
    pages = _pages(stack)
    known = [page.job for page in PRODUCERS]
    jobs = [job.job for job in stack.contract.scrape]

    def probe() -> list[Problem]:
        names = nodes.names(stack.kube.items("/api/v1/nodes"))
        up = stack.prometheus.query("up", lookback=storage.lookback(stack.prometheus.targets()))
        found = [labels.target_labels(up, page, stack.contract.cluster, names) for page in pages]
        return [
            *labels.unknown_jobs(jobs, known),
            *(problem for problems in found for problem in problems),
            *labels.collided(_renamed(stack, pages)),
        ]

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{page.job}: {', '.join(page.target_labels)}" for page in pages)


@check("signals.contract")
def test_signals_contract(stack: Stack) -> str:
    pages = _pages(stack)

    def probe() -> list[Problem]:
        metadata = stack.prometheus.metadata()
        windows = _windows(stack.prometheus.targets(), pages)
        return [
            problem
            for page in pages
            for metric in page.metrics
            for problem in signals.contracted(metric, page.job, _observe(stack, page.job, metric, metadata, windows))
        ]

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{page.job}: {len(page.metrics)} metrics as described" for page in pages)


@check("signals.fresh")
def test_signals_fresh(stack: Stack) -> str:
    pages = _pages(stack)

    def probe() -> list[Problem]:
        targets = stack.prometheus.targets()
        windows = _windows(targets, pages)
        return [problem for page in pages for problem in _fresh(stack, page, targets, windows)]

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{page.job}: {len(page.metrics)} metrics fresh" for page in pages)


def _number_of_targets(stack: Stack) -> int:
    return len(poll.fetch(stack.prometheus.targets)["activeTargets"])


def _pages(stack: Stack) -> list[Producer]:
    jobs = {job.job for job in stack.contract.scrape}
    return [page for page in PRODUCERS if page.job in jobs]


def _renamed(stack: Stack, pages: list[Producer]) -> dict[str, list[Json]]:
    """Renamed labels that catalogued metrics carry now. The list of names outlives its series, so each is asked for."""
    since = stack.prometheus.scalar("time()") - limits.LABELS_SINCE
    names = [name for name in stack.prometheus.label_names(since) if name.startswith(labels.COLLISION)]
    windows = _windows(stack.prometheus.targets(), pages)
    found: dict[str, list[Json]] = {}
    for name in names:
        for page in pages:
            family = "|".join(metric.name for metric in page.metrics)
            selector = f'{{job="{page.job}", {name}!="", __name__=~"({family})(_bucket|_count|_sum)?"}}'
            counted = stack.prometheus.query(f"count by (__name__, job) ({selector})", lookback=windows.get(page.job))
            found.setdefault(name, []).extend(counted)
    return found


def _windows(targets: Json, pages: list[Producer]) -> dict[str, float]:
    """Job → seconds that its newest sample may be old. A job without active targets is missing."""
    intervals = storage.scrape_intervals(targets)
    return {
        page.job: storage.allowed_age(intervals[page.job]) + page.sample_delay_seconds
        for page in pages
        if page.job in intervals
    }


def _observe(
    stack: Stack, job: str, metric: Metric, metadata: dict[str, list[Json]], windows: dict[str, float]
) -> signals.Observation:
    """Everything about one metric in one query: there are hundreds of metrics."""
    parts = {"count": f"count({_select(metric, job)})"}
    if metric.type not in signals.COUNTED:
        parts |= {word: f"{word}({_select(metric, job)})" for word in ("min", "max")}
    parts |= {f"label {label}": f"count({_select(metric, job, label)})" for label in metric.labels}
    tagged = [f'label_replace({expression}, "part", "{part}", "", "")' for part, expression in parts.items()]
    result = stack.prometheus.query(" or ".join(tagged), lookback=windows.get(job))
    seen = {series["metric"]["part"]: float(series["value"][1]) for series in result}
    return signals.Observation(
        count=int(seen.get("count", 0)),
        low=seen.get("min"),
        high=seen.get("max"),
        labelled={label: int(seen.get(f"label {label}", 0)) for label in metric.labels},
        types=signals.declared_types(metadata, metric),
    )


def _select(metric: Metric, job: str, label: str = "") -> str:
    carrying = f', {label}!=""' if label else ""
    return f'{signals.series_name(metric, label)}{{job="{job}"{carrying}}}'


def _fresh(stack: Stack, page: Producer, targets: Json, windows: dict[str, float]) -> list[Problem]:
    if page.job not in windows:
        return [Problem(f"job {page.job}", "no active target", "a target with fresh samples")]
    active = storage.instances(targets, page.job)
    problems = []
    for metric in page.metrics:
        # A query sees nothing that is later than its time, so it looks from as far ahead as samples can be.
        sample = f"timestamp({_select(metric, page.job)} offset -{limits.FUTURE_HORIZON:.0f}s)"
        window = limits.FUTURE_HORIZON + limits.LOOKBACK
        ages = stack.prometheus.query(f"min by (instance) (time() - {sample})", lookback=window)
        problems += signals.fresh(metric, page.job, ages, active, windows[page.job])
    return problems
