"""Prometheus: configuration, rules and storage, by its own API."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from signals.rules import groups, rule_files
from signals.rules.sentinel import sentinel
from smoke import limits, poll
from smoke.access.errors import AccessError
from smoke.check import check
from smoke.judge import configuration, mounts, prometheus, rules, storage
from smoke.judge.units import timestamp
from smoke.model import Problem

if TYPE_CHECKING:
    from smoke.stack import Stack


@check("prometheus.reload")
def test_reload(stack: Stack) -> str:
    def probe() -> list[Problem]:
        stack.prometheus.ready()
        own = stack.prometheus.own_metrics()
        window = storage.lookback(stack.prometheus.targets())
        return prometheus.reload_succeeded(own, stack.prometheus.query(prometheus.RELOAD, lookback=window))

    stack.settle(probe, limits.CONFIG_PROPAGATION)
    return f"{prometheus.RELOAD} is 1 on /metrics and by query"


@check("prometheus.revision")
def test_revision(stack: Stack) -> str:
    expected = stack.component("prometheus").revision
    if expected is None:
        raise AccessError("contract", "gives no revision of the configuration of prometheus")

    def probe() -> list[Problem]:
        series = stack.prometheus.query(prometheus.REVISION, lookback=limits.REVISION_LOOKBACK)
        shown = prometheus.revision(series, stack.contract.cluster.name, expected)
        return [*shown, *_configured(stack, expected)]

    stack.settle(probe, limits.CONFIG_PROPAGATION)
    return f"{prometheus.REVISION} shows {expected}; files have it; jobs, retention and rules of them are what runs"


@check("prometheus.sentinel_rule")
def test_sentinel_rule(stack: Stack) -> str:
    expected = stack.component("prometheus").revision

    def probe() -> list[Problem]:
        started = timestamp(stack.prometheus.runtime()["startTime"])
        return rules.sentinel(stack.prometheus.rule_groups(), prometheus.REVISION, started, expected)

    stack.settle(probe, limits.CONFIG_PROPAGATION)
    return f"rule {prometheus.REVISION} is loaded, healthy and evaluated; revision {expected}"


@check("prometheus.flags")
def test_flags(stack: Stack) -> str:
    expected = stack.component("prometheus").flags
    stack.settle(lambda: prometheus.flags(stack.prometheus.flags(), expected), limits.QUICK)
    return "\n".join(f"{name}={value}" for name, value in expected.items()) or "the contract names no flags"


@check("prometheus.storage_fresh")
def test_storage_fresh(stack: Stack) -> str:
    before = poll.fetch(stack.prometheus.own_metrics)

    def probe() -> list[Problem]:
        own = stack.prometheus.own_metrics()
        ages = stack.prometheus.query("time() - timestamp(up)")
        return [
            *storage.log_is_sound(own),
            *storage.up_is_fresh(ages, stack.prometheus.targets()),
            *storage.advancing(before, own),
        ]

    stack.settle(probe, limits.SETTLE)
    return "every target has samples younger than two scrapes; the log was never corrupt; samples are being appended"


@check("prometheus.rules_healthy")
def test_rules_healthy(stack: Stack) -> str:
    own = _own_groups(stack)
    foreign = not stack.claims("prometheus-managed")
    failures = f"increase(prometheus_rule_evaluation_failures_total[{limits.FLAT_WINDOW}])"

    def probe() -> list[Problem]:
        loaded = stack.prometheus.rule_groups()
        now = stack.prometheus.scalar("time()")
        failed = stack.prometheus.query(failures)
        return [
            *rules.healthy(loaded, own, now, foreign=foreign),
            *rules.failures_flat(failed, own, foreign=foreign),
        ]

    stack.settle(probe, limits.RULES)
    loaded = [g for g in poll.fetch(stack.prometheus.rule_groups) if not foreign or g["name"] in own]
    return f"{sum(len(group['rules']) for group in loaded)} healthy rules in {len(loaded)} groups"


def _own_groups(stack: Stack) -> frozenset[str]:
    """Names of the rule groups that this stack brings: by name, because an operator gives their files other names."""
    rendered = groups(stack.contract.rules).values()
    return frozenset([*(group.name for found in rendered for group in found), sentinel("").name])


def _configured(stack: Stack, expected: str) -> list[Problem]:
    """The ConfigMap that lies where Prometheus reads its configuration, against the contract and against what runs."""
    main = PurePosixPath(stack.prometheus.flags().get("config.file", ""))
    pods = stack.pods_of("prometheus")
    names = {mounts.config_map_at(pod["spec"], container, str(main.parent)) for pod, container in pods}
    if len(names) != 1 or None in names:
        seen = ", ".join(sorted(map(str, names))) or "no pod"
        return [Problem(f"ConfigMap at {main.parent}", seen, "one ConfigMap")]
    path = f"/api/v1/namespaces/{stack.contract.namespace}/configmaps/{names.pop()}"
    files = (stack.kube.find(path) or {}).get("data") or {}
    rendered = rule_files(stack.contract.rules)
    return [
        *configuration.as_rendered(files, expected, rendered, f"ConfigMap {path.rpartition('/')[2]}"),
        *configuration.runs(files, main.name, stack.prometheus.configuration(), stack.prometheus.rule_groups()),
    ]
