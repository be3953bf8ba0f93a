"""A stack has one Prometheus, its own or an existing one, and what does not go with an existing one is refused."""

from __future__ import annotations

from typing import Any

import pytest

from components.errors import DeployError
from stacks.bundle import plan
from stacks.settings import parse
from tests.offline.stacks.examples import EXISTING, as_pulumi_has_it, completed, existing, settings


def refusal(**sections: dict[str, Any]) -> str:
    with pytest.raises(DeployError) as caught:
        existing("staging", None, **sections)
    return str(caught.value)


def test_stack_without_any_prometheus_is_refused() -> None:
    config = completed("staging")
    del config["plumbline:prometheus"]
    with pytest.raises(DeployError, match=r"missing setting plumbline:prometheus in stack staging; accepted: that"):
        parse("staging", as_pulumi_has_it(config))


def test_stack_with_both_is_refused() -> None:
    with pytest.raises(DeployError, match=r"has both plumbline:prometheus and plumbline:existing_prometheus, and"):
        settings("staging", None, existing_prometheus=EXISTING)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"interval": "1s", "timeout": "1s"}, "existing_prometheus.interval 1s is not one that the rules are made for"),
        ({"interval": "5m"}, "existing_prometheus.interval 5m is not one that the rules are made for"),
        ({"interval": "5s"}, "timeout 10s is longer than plumbline:existing_prometheus.interval 5s, and the operator"),
        ({"labels": {"a b": "c"}}, "existing_prometheus.labels has the key `a b`; accepted: the name of a label"),
        (
            {"labels": {"app.kubernetes.io/part-of": "x"}},
            "labels has the key `app.kubernetes.io/part-of`, whose value this stack or Kubernetes itself decides",
        ),
        (
            {"namespace_labels": {"pod-security.kubernetes.io/enforce": "privileged"}},
            "namespace_labels has the key `pod-security.kubernetes.io/enforce`, whose value this stack",
        ),
        ({"namespace": "plumbline"}, "existing_prometheus.namespace is plumbline, which this stack creates and owns"),
        ({"jobs": ["kubelet", "kubelet"]}, "existing_prometheus.jobs names kubelet 2 times; accepted: each job once"),
        ({"labels": {}}, "plumbline:existing_prometheus.labels"),
    ],
)
def test_section_that_cannot_work_is_refused(section: dict[str, Any], said: str) -> None:
    assert said in refusal(existing_prometheus=section)


def test_alertmanager_of_nobody_cannot_be_told() -> None:
    message = refusal(existing_prometheus={"tells_our_alertmanager": True}, alertmanager={"mode": "off"})
    assert "tells_our_alertmanager is true, and plumbline:alertmanager.mode is `off`" in message


def test_addresses_of_an_alertmanager_are_for_a_prometheus_of_our_own() -> None:
    addressed = {"mode": "existing", "existing": [{"address": "am.team:9093"}]}
    assert "plumbline:alertmanager.existing has 1 addresses, and a Prometheus that runs" in refusal(
        alertmanager=addressed
    )
    assert existing("staging", None, alertmanager={"mode": "existing"}).alertmanager.mode == "existing"


def test_limit_below_the_plan_is_refused_under_the_name_of_the_section() -> None:
    assert "plumbline:existing_prometheus.limits.samples 1000 is far below" in refusal(
        existing_prometheus={"limits": {"samples": 1000}}
    )


def test_contract_promises_what_is_delivered() -> None:
    promise = plan(existing()).contract
    found = promise.components["prometheus"]
    assert (found.managed, found.workloads, found.claims, found.flags) == (False, (), (), {})
    assert found.namespace == "team-monitoring"
    assert found.revision is not None
    assert found.endpoints["http"].model_dump() == {
        "service": "prometheus-operated",
        "namespace": "team-monitoring",
        "port": 9090,
        "scheme": "http",
        "url": None,
    }
    assert "metrics" in promise.capabilities
    assert "prometheus-managed" not in promise.capabilities
    assert not {"prometheus", "apiserver", "kubelet", "cadvisor"} & {job.job for job in promise.scrape}
    assert promise.rules.jobs == tuple(job.job for job in promise.scrape)


def test_alerting_is_claimed_only_where_our_alertmanager_is_told() -> None:
    untold, told = plan(existing()), plan(existing(existing_prometheus={"tells_our_alertmanager": True}))
    assert "alerting" not in untold.contract.capabilities
    assert not untold.contract.rules.alert_pipeline
    assert "alerting" in told.contract.capabilities
    assert told.contract.rules.alert_pipeline
    assert plan(existing(alertmanager={"mode": "existing"})).contract.rules.alert_pipeline


def test_namespace_gets_the_labels_by_which_it_is_selected() -> None:
    labelled = plan(existing(existing_prometheus={"namespace_labels": {"monitored": "yes"}})).foundation["namespace"]
    assert labelled["metadata"]["labels"]["monitored"] == "yes"
    assert labelled["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_nothing_of_a_prometheus_of_our_own_is_deployed() -> None:
    names = [m["metadata"]["name"] for m in plan(existing()).manifests()]
    assert not [name for name in names if name in ("prometheus", "prometheus-data", "prometheus-config")]
