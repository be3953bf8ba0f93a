"""Alertmanager, the way of an alert to who must know, and what jobs push."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from signals.alertmanager_config import render
from signals.routing import inhibit_rules, route
from smoke import limits, poll
from smoke.check import check
from smoke.judge import alertmanager, prometheus

if TYPE_CHECKING:
    from smoke.model import Problem
    from smoke.stack import Stack

SENT = f"increase(prometheus_notifications_sent_total[{limits.NOTIFIED_WINDOW}])"
LOST = (
    f"increase(prometheus_notifications_errors_total[{limits.NOTIFICATION_ERRORS_WINDOW}])",
    f"increase(prometheus_notifications_dropped_total[{limits.NOTIFICATION_ERRORS_WINDOW}])",
)


@check("alertmanager.config")
def test_config(stack: Stack) -> str:
    receivers = stack.contract.receivers
    rendered = render(receivers, route({receiver.name: receiver.name for receiver in receivers}), inhibit_rules())
    revision = stack.component("alertmanager").revision

    def probe() -> list[Problem]:
        running, own = stack.alertmanager.configuration(), stack.alertmanager.own_metrics()
        return alertmanager.runs(running, rendered, own, revision)

    stack.settle(probe, limits.CONFIG_PROPAGATION)
    return f"receivers {', '.join(receiver.name for receiver in receivers)}; revision {revision} is what runs"


@check("alertmanager.connected")
def test_connected(stack: Stack) -> str:
    own = stack.component("prometheus").managed
    scraped = any(job.job == "prometheus" for job in stack.contract.scrape)

    def probe() -> list[Problem]:
        problems = alertmanager.connected(stack.prometheus.alertmanagers(), _contracted(stack), exclusive=own)
        if scraped:
            lost = [series for query in LOST for series in stack.prometheus.query(query)]
            problems += alertmanager.flowing(stack.prometheus.query(SENT), lost)
        return problems

    stack.settle(probe, limits.RULES)
    flow = f"alerts were sent within {limits.NOTIFIED_WINDOW} and none was lost"
    return f"{len(_contracted(stack))} Alertmanager active; {flow if scraped else 'Prometheus is not scraped itself'}"


@check("push.flags")
def test_push_flags(stack: Stack) -> str:
    expected = stack.component("pushgateway").flags
    stack.settle(lambda: prometheus.flags(stack.pushgateway.flags(), expected), limits.QUICK)
    return "\n".join(f"{name}={value}" for name, value in expected.items()) or "the contract names no flags"


@check("push.labels", begin=lambda stack: stack.page_proof.begin())
def test_push_labels(stack: Stack) -> str:
    proof = stack.page_proof
    poll.fetch(proof.begin)
    stack.settle(proof.stored, limits.TARGETS)
    return f"{proof.subject} is stored under its own job and instance, with its push_time_seconds"


@check("alerting.delivery", begin=lambda stack: stack.page_proof.begin(deliver=True))
def test_delivery(stack: Stack) -> str:
    proof = stack.page_proof
    poll.fetch(lambda: proof.begin(deliver=True))
    stack.settle(proof.advance, limits.DELIVERY)
    age = limits.WATCHDOG_AGE
    stack.settle(lambda: proof.watchdog(time.time() - age, age), limits.WATCHDOG)
    return f"{proof.told}\nthe Watchdog has arrived at the receiver watchdog"


def _contracted(stack: Stack) -> list[set[str]]:
    """The addresses of each Alertmanager of the contract."""
    found = []
    for role, endpoint in stack.component("alertmanager").endpoints.items():
        if role == "sink":
            continue
        namespace = endpoint.namespace or stack.contract.namespace
        service = stack.kube.find(f"/api/v1/namespaces/{namespace}/services/{endpoint.service}")
        slices = stack.kube.items(
            f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
            labelSelector=f"kubernetes.io/service-name={endpoint.service}",
        )
        found.append(alertmanager.addresses(endpoint, stack.contract.namespace, service, slices))
    return found
