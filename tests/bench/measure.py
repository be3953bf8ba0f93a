"""Figures of a running Prometheus in a steady state, by its own series and by the kernel's account of its process."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any, Final

from components.dcgm_exporter.names import NAME as DCGM
from tests.bench.client import cpu_seconds, memory_mib
from tests.bench.figures import Group, Load, Scrapes, Truth

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.progress import Progress
    from tests.bench.client import Client
    from tests.bench.plan import Plan

JOB: Final = f'job="{DCGM}"'
_POLL: Final = 15.0
_WINDOW: Final = re.compile(r"\[(\w+)(?::\w*)?\](?: offset (\w+))?")
_PART: Final = re.compile(r"(\d+)(ms|[smhdwy])")
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}


def seconds(duration: str) -> float:
    """A Prometheus duration such as `1h30m`."""
    return sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(duration))


def reach(expr: str) -> float:
    """Seconds that the longest window of an expression looks back, its offset with it; 0 without a window."""
    return max((seconds(window) + seconds(offset) for window, offset in _WINDOW.findall(expr)), default=0.0)


def load(client: Client, pid: int, span: float) -> Load:
    """Wait for a span of seconds and tell what it cost. Nobody else may ask Prometheus meanwhile."""
    begin, spent = time.monotonic(), cpu_seconds(pid)
    time.sleep(span)
    passed, spent = time.monotonic() - begin, cpu_seconds(pid) - spent
    resident, peak = memory_mib(pid)
    return Load(
        seconds=passed,
        cpu=spent / passed * 60,
        load=os.getloadavg()[0],
        samples_per_second=client.number(
            f"rate(prometheus_tsdb_head_samples_appended_total{_float(client)}[{span:.0f}s])"
        ),
        head_series=client.number("prometheus_tsdb_head_series"),
        resident_mib=resident,
        peak_mib=peak,
        rules=sum(len(group["rules"]) for group in client.rules()),
    )


def _float(client: Client) -> str:
    """Newer versions count native histograms apart."""
    name = "prometheus_tsdb_head_samples_appended_total"
    return '{type="float"}' if client.vector(f'{name}{{type="float"}}') else ""


def truth(client: Client, plan: Plan) -> Truth:
    """What must be so."""
    window = f"[{plan.steady}s]"
    found = client.rules()
    unhealthy = [
        f"{rule['name']} of {group['name']}: {rule['health']} {rule.get('lastError', '')}".strip()
        for group in found
        for rule in group["rules"]
        if rule["health"] != "ok"
    ]
    return Truth(
        targets_up=client.count(f"up{{{JOB}}} == 1"),
        scrapes_failed=client.count(f"min_over_time(up{{{JOB}}}{window}) == 0"),
        gpus=client.count("group by (node, UUID) (DCGM_FI_DEV_FB_FREE)"),
        gpus_recorded=int(sum(value for _, value in client.vector("fleet:gpus:count"))),
        gpu_series=client.count(f'{{{JOB}, __name__=~"DCGM_.+"}}'),
        allocated=int(sum(value for _, value in client.vector("fleet:gpu_allocated:sum"))),
        teams=tuple(sorted(labels["team"] for labels, value in client.vector("team:gpu_allocated:sum") if value > 0)),
        unhealthy=tuple(unhealthy),
        evaluation_failures=client.number("sum(prometheus_rule_evaluation_failures_total)"),
    )


def scrapes(client: Client, plan: Plan) -> Scrapes:
    """Of every scrape of the fleet in the steady time."""
    name = f"quantile(0.99, quantile_over_time(0.99, scrape_duration_seconds{{{JOB}}}[{plan.steady}s]))"
    between = f'prometheus_target_interval_length_seconds{{quantile="0.99", interval="{plan.interval}s"}}'
    return Scrapes(duration_p99=client.number(name), interval_p99=client.number(f"max({between})"))


def groups(client: Client, plan: Plan) -> tuple[Group, ...]:
    """Every rule group, the slowest against its interval first."""
    window = f"[{plan.steady}s]"
    last = _by_group(client.vector("prometheus_rule_group_last_duration_seconds"))
    worst = _by_group(client.vector(f"max_over_time(prometheus_rule_group_last_duration_seconds{window})"))
    missed = "prometheus_rule_group_iterations_missed_total"
    lost = _by_group(client.vector(f"max_over_time({missed}{window}) - min_over_time({missed}{window})"))
    found = [
        Group(
            name=group["name"],
            rules=len(group["rules"]),
            interval=group["interval"],
            last=last[group["name"]],
            worst=worst[group["name"]],
            missed=lost[group["name"]],
            reach=max(reach(rule["query"]) for rule in group["rules"]),
        )
        for group in client.rules()
        if group["name"] in last
    ]
    return tuple(sorted(found, key=lambda group: -group.ratio))


def _by_group(series: Iterable[tuple[dict[str, str], float]]) -> dict[str, float]:
    """The label is `<file>;<group>`."""
    return {labels["rule_group"].rpartition(";")[2]: value for labels, value in series}


def record_share(found: Iterable[dict[str, Any]]) -> float:
    """Share of recording rules in the time in which rules are evaluated, by each rule's own last evaluation, 0 to 1."""
    spent = {"recording": 0.0, "alerting": 0.0}
    for group in found:
        for rule in group["rules"]:
            spent[rule["type"]] += rule["evaluationTime"] / group["interval"]
    total = sum(spent.values())
    return spent["recording"] / total if total else 0.0


def watch(client: Client, span: float, progress: Progress) -> None:
    """Wait, and say how far ingestion is."""
    end = time.monotonic() + span
    while (left := end - time.monotonic()) > 0:
        up, series = client.count(f"up{{{JOB}}} == 1"), client.vector("prometheus_tsdb_head_series")
        held = f"{series[0][1]:.0f}" if series else "no"
        progress.say(f"    {up} targets up, {held} series, {left:.0f} s to go")
        time.sleep(min(_POLL, left))
