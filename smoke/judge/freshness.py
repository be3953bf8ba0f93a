"""Freshness: samples are young, and those of a producer that measures move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from signals.catalogue.model import Presence
from smoke import limits
from smoke.model import Problem

if TYPE_CHECKING:
    from signals.catalogue.model import Metric

Json = dict[str, Any]


def fresh(metric: Metric, job: str, ages: list[Json], instances: set[str], allowed: float) -> list[Problem]:
    """The newest sample of each active instance is at most `allowed` seconds old, and not from the future.

    ages: one series per instance. A metric that waits for an event is absent again once its samples are older: after a
    time without Prometheus nothing marks their end.
    """
    subject = f"{metric.name} of job {job}"
    wanted = f"younger than {allowed:.0f} s"
    seen = {series["metric"].get("instance"): float(series["value"][1]) for series in ages}
    problems = []
    for instance in sorted(instances):
        age = seen.get(instance)
        if metric.presence is Presence.EVENT and (age is None or age > allowed):
            continue
        about = f"{subject}, instance {instance}"
        if age is None:
            problems.append(Problem(about, "no samples", f"a sample {wanted}"))
        elif age < -limits.FRESH_FUTURE:
            problems.append(Problem(about, f"newest sample {-age:.0f} s in the future", "none from the future"))
        elif not age <= allowed:
            problems.append(Problem(about, f"newest sample {age:.0f} s old", wanted))
    return problems


def window(interval: float) -> float:
    """Seconds in which a value that moves has changed, for a job with this scrape interval in seconds.

    Exporters measure at a rhythm of their own, and are scraped at least as often.
    """
    return max(interval * limits.MOVES_INTERVALS, limits.MOVES_MINIMUM)


def moving(metric: Metric, job: str, changes: list[Json], samples: list[Json], enough: float) -> list[Problem]:
    """Every series has changed within the window. changes and samples: per object, how often and how many.

    enough: samples that a whole window holds. With fewer, a value that stands still is not frozen yet, only unproven.
    """
    counted = {_key(series): float(series["value"][1]) for series in samples}
    problems = []
    for series in changes:
        if float(series["value"][1]) > 0:
            continue
        labels = ", ".join(f"{name}={value}" for name, value in _key(series) if value)
        have = counted.get(_key(series), 0.0)
        seen = (
            f"{have:.0f} samples, all of one value" if have >= enough else f"only {have:.0f} samples yet, of one value"
        )
        problems.append(Problem(f"{metric.name} of job {job}, {labels}", seen, "a value that moves: it is measured"))
    return problems


def _key(series: Json) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(series["metric"].items()))
