"""A Prometheus that a team already runs with the Prometheus operator, and a stack that uses it.

Proves, on the cluster that the tests before left running and green:

- Without the operator's definitions a preview is refused, and says what to install.
- Monitors and rules reach a Prometheus which this project did not deploy: it shows the revision of the contract.
- Smoke is green against it: the same checks, by the same contract, through the operator's own Service.
- Pods that the stack's policies close are reached from the other namespace, by the policies that come along.
- A Prometheus that selects by other labels has no target any more, and a preview is refused instead of silent.
- Both go again without a trace, and the stack under test stays as it was.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from components.dcgm_exporter import names as dcgm_exporter
from tests.live.operator import deploy, objects
from tests.live.operator.second import FIRST_NODE_NAMESPACE, OWN_NAMESPACE, Second
from tests.live.plumbline import NAMESPACE, get, kubectl, prometheus_ready, until

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
POLICY = "team-scrapes-gpus"


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Second]:
    """The second stack; whatever a failed test leaves of it and of the team's things is removed."""
    assert prometheus_ready(), "the stack under test must be running; the tests before leave it so"
    stack = Second(tmp_path_factory.mktemp("existing"))
    stack.prepare()
    try:
        yield stack
    finally:
        stack.run("destroy", "--yes", "--skip-preview")
        kubectl("delete", "namespace", OWN_NAMESPACE, "--ignore-not-found", "--timeout=120s", check=False)
        kubectl("delete", "networkpolicy", POLICY, "-n", FIRST_NODE_NAMESPACE, "--ignore-not-found", check=False)
        deploy.remove()


def team_query(expression: str) -> list[Json]:
    """Instant query to the team's Prometheus through the API server."""
    service = f"/api/v1/namespaces/{objects.NAMESPACE}/services/{objects.SERVICE}:9090/proxy"
    answer = json.loads(kubectl("get", "--raw", f"{service}/api/v1/query?query={quote(expression)}"))
    return list(answer["data"]["result"])


def team_jobs() -> set[str]:
    """Jobs that the team's Prometheus scrapes now."""
    service = f"/api/v1/namespaces/{objects.NAMESPACE}/services/{objects.SERVICE}:9090/proxy"
    answer = json.loads(kubectl("get", "--raw", f"{service}/api/v1/targets?state=active"))
    return {target["labels"]["job"] for target in answer["data"]["activeTargets"]}


def test_preview_without_the_operator_is_refused_with_what_to_do(second: Second) -> None:
    done = second.run("preview")
    assert done.returncode != 0
    assert re.search(r"the cluster does not know (PodMonitor|ScrapeConfig|PrometheusRule) of monitoring\.", done.stdout)
    assert "install or update the definitions of the Prometheus operator" in done.stdout
    assert "Traceback" not in done.stdout


def test_smoke_is_green_against_a_prometheus_of_somebody_else(second: Second) -> None:
    deploy.bring_definitions()
    deploy.bring({"cluster": "local", "environment": "local"})
    gpu_pods = dcgm_exporter.selector(NAMESPACE)
    deploy.apply([objects.opening(POLICY, FIRST_NODE_NAMESPACE, gpu_pods, dcgm_exporter.PORT_NAME)])
    done = second.run("up", "--yes", "--skip-preview")
    assert done.returncode == 0, done.stdout
    contract = second.take_contract()
    assert contract["components"]["prometheus"]["managed"] is False
    assert "prometheus-managed" not in contract["capabilities"]
    code, checks, output = second.smoke()
    assert code == 0, output
    for check in ("scrape.expected_jobs", "scrape.no_duplicates", "scrape.labels", "signals.contract"):
        assert checks[check]["status"] == "pass", output
    shown = [series["metric"]["revision"] for series in team_query("plumbline:config_revision")]
    assert shown == [contract["components"]["prometheus"]["revision"]]


def test_series_have_the_labels_of_the_catalogue_and_none_of_the_operators(second: Second) -> None:
    assert second.contract.exists()
    gpus = team_query('DCGM_FI_DEV_GPU_TEMP{job="dcgm-exporter", pod=""}')
    exporters = {pod["metadata"]["name"] for pod in get("pods", "-n", FIRST_NODE_NAMESPACE)["items"]}
    assert gpus, "every GPU without a pod of its own is told as somebody's"
    named = {series["metric"].get("pod") for series in team_query('{job="dcgm-exporter", pod!=""}')}
    assert not named & exporters
    up = team_query('up{job!~"team-monitoring/.*"}')
    assert {label for series in up for label in series["metric"]} <= {
        *("__name__", "job", "instance", "cluster", "environment", "node"),
    }


def test_second_preview_changes_nothing(second: Second) -> None:
    done = second.run("preview", "--expect-no-changes")
    assert done.returncode == 0, done.stdout


def test_prometheus_that_selects_by_other_labels_is_refused(second: Second) -> None:
    other = {"spec": {"podMonitorSelector": {"matchLabels": {"release": "other"}}}}
    patch = ("patch", "prometheus", objects.PROMETHEUS, "-n", objects.NAMESPACE, "--type=merge", "-p")
    kubectl(*patch, json.dumps(other))
    try:
        done = second.run("preview")
        assert done.returncode != 0
        assert "selects each PodMonitor by spec.podMonitorSelector `release=other`" in done.stdout
        # Not `up`: a target's last sample is shown until its end is marked, two scrapes after it was forgotten.
        until("the targets go", lambda: "kube-state-metrics" not in team_jobs(), 180)
    finally:
        kubectl(*patch, json.dumps({"spec": {"podMonitorSelector": {"matchLabels": objects.LABELS}}}))


def test_all_of_it_goes_again(second: Second) -> None:
    done = second.run("destroy", "--yes", "--skip-preview")
    assert done.returncode == 0, done.stdout
    kinds = "podmonitor,scrapeconfig,prometheusrule"
    assert get(kinds, "-n", OWN_NAMESPACE)["items"] == []
    deploy.remove()
    namespaces = {item["metadata"]["name"] for item in get("namespaces")["items"]}
    assert objects.NAMESPACE not in namespaces
    assert prometheus_ready()
