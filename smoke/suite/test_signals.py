"""The metrics of the catalogue against what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from signals.catalogue.labels import BANNED, DROPPED_LABEL
from signals.catalogue.model import MetricType
from smoke import limits
from smoke.access.prometheus import quoted
from smoke.check import check
from smoke.judge import freshness, signals, storage
from smoke.model import Problem
from smoke.pages import pages, windows

if TYPE_CHECKING:
    from signals.catalogue.model import Metric, Producer
    from smoke.stack import Stack

Json = dict[str, Any]
KEPT = "scrape_samples_post_metric_relabeling"
REFUSED = f"increase(prometheus_target_scrapes_sample_duplicate_timestamp_total[{limits.FLAT_WINDOW}])"


@check("signals.contract")
def test_signals_contract(stack: Stack) -> str:
    contracted = pages(stack)
    # A Prometheus of somebody else scrapes more than is ours, and its counter does not say whose sample it refused.
    own = stack.claims("prometheus-managed")

    def probe() -> list[Problem]:
        targets, metadata = stack.prometheus.targets(), stack.prometheus.metadata()
        problems = signals.duplicates(stack.prometheus.query(REFUSED)) if own else []
        for page in _with_targets(stack, contracted, targets):
            component = stack.contract.components.get(page.job)
            whole = page.complete and component is not None and component.managed
            declared = _declared(stack, page, contracted, metadata)
            problems += signals.page(page, _see(stack, page, targets, declared), complete=whole)
        return problems

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{page.job}: {len(page.metrics)} metrics as described" for page in contracted)


@check("signals.fresh")
def test_signals_fresh(stack: Stack) -> str:
    contracted = pages(stack)

    def probe() -> list[Problem]:
        targets = stack.prometheus.targets()
        allowed = windows(targets, contracted)
        present = _with_targets(stack, contracted, targets)
        return [
            *(problem for page in present for problem in _fresh(stack, page, targets, allowed)),
            *(problem for page in present for problem in _moving(stack, page, targets)),
        ]

    stack.settle(probe, limits.TARGETS)
    return "\n".join(f"{page.job}: {len(page.metrics)} metrics fresh" for page in contracted)


@check("signals.banned")
def test_signals_banned(stack: Stack) -> str:
    contracted = [page for page in pages(stack) if page.of_others]

    def probe() -> list[Problem]:
        # The alert about it carries the mark as well, and would count as one more.
        selector = f'{{{DROPPED_LABEL}!="", __name__!~"ALERTS.*"}}'
        marked = stack.prometheus.query(f"count by (__name__, job, {DROPPED_LABEL}) ({selector})")
        since = stack.prometheus.scalar("time()") - limits.LABELS_SINCE
        kept = []
        for page in contracted:
            selector = f'job="{page.job}"'
            for label in sorted(set(stack.prometheus.label_names(since, f"{{{selector}}}")) & set(BANNED)):
                found = stack.prometheus.query(f'count by (__name__, job) ({{{selector}, {label}!=""}})')
                kept += [{**series, "metric": {**series["metric"], "label": label}} for series in found]
        return signals.banned(marked, kept)

    stack.settle(probe, limits.TARGETS)
    return f"no series came with, or carries, {', '.join(BANNED)}"


def _with_targets(stack: Stack, contracted: list[Producer], targets: Json) -> list[Producer]:
    """Without the pages of jobs that have no target and need none, for example GPUs where there is no GPU."""
    least = {job.job: job.min_targets for job in stack.contract.scrape}
    return [page for page in contracted if least[page.job] or storage.instances(targets, page.job)]


def _declared(
    stack: Stack, page: Producer, contracted: list[Producer], metadata: dict[str, list[Json]]
) -> dict[str, list[Json]]:
    """Metric family → what targets declare: of this job alone where it declares nothing of a name and others do."""
    others = {metric.name for other in contracted if other.job != page.job for metric in other.metrics}
    silent = [m.name for m in page.metrics if m.type is MetricType.UNKNOWN and m.name in others]
    families = {name for metric in silent for name in signals.families(metric)}
    return metadata | {family: stack.prometheus.declared(page.job, family) for family in sorted(families)}


def _see(stack: Stack, page: Producer, targets: Json, metadata: dict[str, list[Json]]) -> signals.Seen:
    """Everything about one job in a few queries, all at one moment: there are hundreds of metrics."""
    at = stack.prometheus.scalar("time()")
    window = windows(targets, [page]).get(page.job)
    own = f'job="{page.job}"'

    def ask(expression: str) -> list[Json]:
        return stack.prometheus.query(expression, at, window)

    series: dict[str, dict[str, int]] = {}
    for one in ask(f"count by (__name__, instance) ({{{own}}})"):
        labels = one["metric"]
        series.setdefault(labels["__name__"], {})[labels.get("instance", "")] = int(float(one["value"][1]))
    labelled = {
        name: _by_name(ask(f'count by (__name__) ({{{own}, {quoted(name)}!=""}})'))
        for name in stack.prometheus.label_names(at - limits.LABELS_SINCE, f"{{{own}}}")
        if name not in signals.TARGET
    }
    active = targets.get("activeTargets") or []
    return signals.Seen(
        series=series,
        low=_by_name(ask(f"min by (__name__) ({{{own}}})")),
        high=_by_name(ask(f"max by (__name__) ({{{own}}})")),
        labelled={name: {metric: int(count) for metric, count in found.items()} for name, found in labelled.items()},
        kept={one["metric"].get("instance", ""): int(float(one["value"][1])) for one in ask(f"{KEPT}{{{own}}}")},
        up=frozenset(
            t["labels"].get("instance", "")
            for t in active
            if t["labels"].get("job") == page.job and t["health"] == "up"
        ),
        metadata=metadata,
    )


def _by_name(result: list[Json]) -> dict[str, float]:
    return {series["metric"]["__name__"]: float(series["value"][1]) for series in result}


def _select(metric: Metric, job: str) -> str:
    return f'{signals.series_name(metric)}{{job="{job}"}}'


def _moving(stack: Stack, page: Producer, targets: Json) -> list[Problem]:
    """Judged per object, not per series: a GPU that changes hands has a new series, and goes on measuring."""
    interval = storage.scrape_intervals(targets).get(page.job)
    problems: list[Problem] = []
    if interval is None:
        return problems
    for metric in (metric for metric in page.metrics if metric.moves):
        window = freshness.window(interval)
        span = f"{_select(metric, page.job)}[{window:.0f}s]"
        by = ", ".join(("instance", *metric.labels))
        changes = stack.prometheus.query(f"max by ({by}) (changes({span}))")
        samples = stack.prometheus.query(f"max by ({by}) (count_over_time({span}))")
        problems += freshness.moving(metric, page.job, changes, samples, window / interval - 1)
    return problems


def _fresh(stack: Stack, page: Producer, targets: Json, allowed: dict[str, float]) -> list[Problem]:
    if page.job not in allowed:
        return [Problem(f"job {page.job}", "no active target", "a target with fresh samples")]
    active = storage.instances(targets, page.job)
    problems = []
    for metric in page.metrics:
        # A query sees nothing that is later than its time, so it looks from as far ahead as samples can be.
        sample = f"timestamp({_select(metric, page.job)} offset -{limits.FUTURE_HORIZON:.0f}s)"
        window = limits.FUTURE_HORIZON + limits.LOOKBACK
        ages = stack.prometheus.query(f"min by (instance) (time() - {sample})", lookback=window)
        problems += freshness.fresh(metric, page.job, ages, active, allowed[page.job])
    return problems
