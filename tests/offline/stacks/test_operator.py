"""What is asked of an operator before monitors and rules are handed over, and how each wrong answer is refused."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.existing_prometheus.manifests import render
from stacks.cluster import ForbiddenError
from stacks.operator import check_operator
from stacks.selection import matches, told
from stacks.served import unknown_fields
from tests.offline.stacks.examples import EXISTING, existing, existing_args

if TYPE_CHECKING:
    from datetime import datetime

    from stacks.cluster import LiveClaim

Json = dict[str, Any]

PROMETHEUS: Json = {
    "metadata": {"name": "team", "namespace": "team-monitoring"},
    "spec": {
        "podMonitorSelector": {"matchLabels": {"release": "team"}},
        "podMonitorNamespaceSelector": {},
        "scrapeConfigSelector": {"matchLabels": {"release": "team"}},
        "scrapeConfigNamespaceSelector": {},
        "ruleSelector": {"matchLabels": {"release": "team"}},
        "ruleNamespaceSelector": {},
        "externalLabels": {"cluster": "staging", "environment": "staging"},
    },
}
"""As kube-prometheus-stack makes it, with selectors of namespaces that are open."""


def schema(kind: str, spec: Json, version: str = "v1") -> Json:
    """A definition in the form of /openapi/v3."""
    names = {"group": "monitoring.coreos.com", "version": version, "kind": kind}
    return {"x-kubernetes-group-version-kind": [names], "properties": {"spec": spec}}


def shape(value: object) -> Json:
    """The narrowest schema that knows every field of a value."""
    if isinstance(value, dict):
        return {"properties": {key: shape(inner) for key, inner in value.items()}}
    if isinstance(value, list):
        merged: Json = {"properties": {}}
        for item in value:
            merged["properties"] |= shape(item).get("properties", {})
        return {"items": merged}
    return {}


ANYTHING: Json = {"x-kubernetes-preserve-unknown-fields": True}
SCHEMAS: dict[str, dict[str, Json]] = {
    "monitoring.coreos.com/v1": {
        "PodMonitor": schema("PodMonitor", ANYTHING),
        "PrometheusRule": schema("PrometheusRule", ANYTHING),
    },
    "monitoring.coreos.com/v1alpha1": {"ScrapeConfig": schema("ScrapeConfig", ANYTHING, "v1alpha1")},
}


class Operator:
    """A cluster with an operator. namespace_labels: of the stack's namespace, None if nobody may list namespaces."""

    def __init__(
        self,
        *prometheuses: Json,
        schemas: dict[str, dict[str, Json]] | None = None,
        namespace_labels: dict[str, str] | None = None,
        others: dict[str, list[Json]] | None = None,
    ) -> None:
        self.prometheuses = prometheuses
        self.served = SCHEMAS if schemas is None else schemas
        self.namespace_labels = namespace_labels
        self.others = {"servicemonitors": [], "podmonitors": [], "services": [], "pods": [], **(others or {})}

    def listing(self, path: str) -> list[Json]:
        if path == "/apis/monitoring.coreos.com/v1/namespaces/team-monitoring/prometheuses":
            return list(self.prometheuses)
        kind = path.rpartition("/")[2]
        if kind in self.others:
            return self.others[kind]
        assert path == "/api/v1/namespaces?fieldSelector=metadata.name%3Dplumbline"
        if self.namespace_labels is None:
            raise ForbiddenError("no")
        return [{"metadata": {"name": "plumbline", "labels": self.namespace_labels}}]

    def schemas(self, version: str) -> dict[str, Json] | None:
        return self.served.get(version)

    def clock(self) -> datetime | None:
        raise AssertionError("asked what time it is")

    def namespace_uid(self, name: str) -> str:
        raise AssertionError(name)

    def claim(self, namespace: str, name: str) -> LiveClaim | None:
        raise AssertionError(f"{namespace}/{name}")

    def marked_claims(self, label: dict[str, str], name: str) -> tuple[str, ...]:
        raise AssertionError(f"{label} {name}")

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        raise AssertionError(f"{namespace}/{name}")


def changed(**spec: object) -> Json:
    """That Prometheus with other fields; None takes one away."""
    found = copy.deepcopy(PROMETHEUS)
    found["spec"] = {key: value for key, value in {**found["spec"], **spec}.items() if value is not None}
    return found


def check(reader: Operator, **sections: dict[str, Any]) -> list[str]:
    """Run the check; the warnings."""
    found, warnings = existing("staging", None, **sections), list[str]()
    assert found.existing_prometheus is not None
    check_operator(reader, found, found.existing_prometheus, warnings.append)
    return warnings


def refusal(reader: Operator, **sections: dict[str, Any]) -> str:
    with pytest.raises(DeployError) as caught:
        check(reader, **sections)
    return str(caught.value)


STATIC = {"targets": [{"node": "slurm-1", "address": "10.1.2.3:9400"}]}


def test_prometheus_that_selects_everything_is_accepted_without_a_word() -> None:
    assert check(Operator(PROMETHEUS)) == []


def test_cluster_without_an_operator_is_refused() -> None:
    message = refusal(Operator(PROMETHEUS, schemas={}))
    assert "the cluster does not know PodMonitor of monitoring.coreos.com/v1" in message
    assert "install or update the definitions of the Prometheus operator" in message


def test_missing_scrape_configs_matter_only_where_they_are_needed() -> None:
    old = {"monitoring.coreos.com/v1": SCHEMAS["monitoring.coreos.com/v1"]}
    assert check(Operator(PROMETHEUS, schemas=old)) == []
    message = refusal(Operator(PROMETHEUS, schemas=old), dcgm_exporter=STATIC)
    assert "does not know ScrapeConfig of monitoring.coreos.com/v1alpha1" in message
    assert "for targets that are no pods" in message


def test_definition_that_lacks_a_field_is_refused_with_its_path() -> None:
    monitor = render(existing_args()).manifests["pod-monitor-dcgm-exporter"]["spec"]
    narrow = shape(monitor)
    narrow["properties"]["selector"] = ANYTHING
    complete = {**SCHEMAS["monitoring.coreos.com/v1"], "PodMonitor": schema("PodMonitor", narrow)}
    assert unknown_fields({"spec": monitor}, complete["PodMonitor"]) == []
    del narrow["properties"]["bodySizeLimit"]
    del narrow["properties"]["podMetricsEndpoints"]["items"]["properties"]["honorLabels"]
    message = refusal(Operator(PROMETHEUS, schemas={"monitoring.coreos.com/v1": complete}))
    assert "the definition of PodMonitor in this cluster is older" in message
    assert "it has no" in message
    assert "spec.bodySizeLimit" in message


def test_every_field_that_a_schema_lacks_is_named_once() -> None:
    spec = {"a": [{"b": 1}, {"b": 2}], "c": {"any": 1}, "d": {"any": 1}, "e": 1}
    lacking = {"properties": {"a": {"items": {"properties": {}}}, "c": {"additionalProperties": {"type": "string"}}}}
    assert unknown_fields({"spec": spec}, {"properties": {"spec": lacking}}) == ["spec.a[].b", "spec.d", "spec.e"]


@pytest.mark.parametrize(
    ("there", "name", "told_there"),
    [((), None, "there: none"), ((PROMETHEUS,), "other", "there: team")],
)
def test_prometheus_that_is_not_there_is_refused(there: tuple[Json, ...], name: str | None, told_there: str) -> None:
    message = refusal(Operator(*there), existing_prometheus={"name": name} if name else {})
    assert "does not name one Prometheus of namespace team-monitoring" in message
    assert told_there in message


def test_one_of_several_must_be_named() -> None:
    second = {**PROMETHEUS, "metadata": {"name": "second", "namespace": "team-monitoring"}}
    assert "there: second, team" in refusal(Operator(PROMETHEUS, second))
    assert check(Operator(PROMETHEUS, second), existing_prometheus={"name": "team"}) == []


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"podMonitorSelector": None}, "selects no PodMonitor at all, its spec.podMonitorSelector is not set"),
        (
            {"podMonitorSelector": {"matchLabels": {"release": "other"}}},
            "selects each PodMonitor by spec.podMonitorSelector `release=other`",
        ),
        (
            {"ruleSelector": {"matchExpressions": [{"key": "release", "operator": "In", "values": ["a", "b"]}]}},
            "selects each PrometheusRule by spec.ruleSelector `release in (a, b)`",
        ),
        ({"ruleNamespaceSelector": None}, "looks for each PrometheusRule in its own namespace alone"),
        (
            {"podMonitorNamespaceSelector": {"matchLabels": {"monitored": "yes"}}},
            "looks for each PodMonitor in namespaces `monitored=yes` (spec.podMonitorNamespaceSelector), and plumbline",
        ),
        ({"paused": True}, "is paused"),
        ({"enforcedNamespaceLabel": "namespace"}, "writes the label `namespace` over each series and rule of"),
        ({"enforcedSampleLimit": 10}, "throws away scrapes of more than 10 samples"),
        ({"overrideHonorLabels": True}, "takes the pod of a GPU for the exporter's own"),
        ({"ignoreNamespaceSelectors": True}, "finds no pod outside of plumbline (spec.ignoreNamespaceSelectors)"),
        ({"externalLabels": {"cluster": "other"}}, "has the external label cluster=other, and this stack says staging"),
    ],
)
def test_prometheus_that_would_ignore_or_change_something_is_refused(spec: Json, said: str) -> None:
    message = refusal(Operator(changed(**spec)))
    assert message.startswith("Prometheus team-monitoring/team would not take our monitors and rules as they are")
    assert f"- it {said}" in message
    assert "fix: " in message


def test_every_reason_is_told_at_once() -> None:
    message = refusal(Operator(changed(ruleSelector=None, podMonitorSelector=None, paused=True)))
    assert message.count("\n- it ") == 3


def test_what_is_not_given_need_not_be_selected() -> None:
    closed = changed(scrapeConfigSelector=None, scrapeConfigNamespaceSelector=None)
    assert check(Operator(closed)) == []
    assert "selects no ScrapeConfig at all" in refusal(Operator(closed), dcgm_exporter=STATIC)


def test_namespace_label_may_be_on_the_namespace_already_or_in_the_settings() -> None:
    wants = {"matchLabels": {"monitored": "yes"}}
    closed = changed(podMonitorNamespaceSelector=wants, ruleNamespaceSelector=wants)
    assert check(Operator(closed, namespace_labels={"monitored": "yes"})) == []
    assert check(Operator(closed), existing_prometheus={"namespace_labels": {"monitored": "yes"}}) == []
    assert "is none of them" in refusal(Operator(closed, namespace_labels={"monitored": "no"}))


def test_namespace_may_be_selected_by_its_name() -> None:
    by_name = {"matchLabels": {"kubernetes.io/metadata.name": "plumbline"}}
    assert check(Operator(changed(podMonitorNamespaceSelector=by_name, ruleNamespaceSelector=by_name))) == []


def test_enforced_label_is_accepted_where_all_of_ours_is_left_out() -> None:
    out = [{"resource": resource, "namespace": "plumbline"} for resource in ("podmonitors", "prometheusrules")]
    assert check(Operator(changed(enforcedNamespaceLabel="namespace", excludedFromEnforcement=out))) == []
    message = refusal(Operator(changed(enforcedNamespaceLabel="namespace", excludedFromEnforcement=out[:1])))
    assert "rule of PrometheusRule (spec.enforcedNamespaceLabel)" in message
    one = [{**out[0], "name": "x"}, out[1]]
    assert "of PodMonitor (" in refusal(Operator(changed(enforcedNamespaceLabel="ns", excludedFromEnforcement=one)))


def test_own_timestamps_matter_where_cadvisor_is_delivered() -> None:
    overriding = Operator(changed(overrideHonorTimestamps=True))
    assert check(overriding) == []
    assert "gives old samples of cAdvisor" in refusal(overriding, existing_prometheus={"jobs": ["cadvisor"]})


def test_alertmanager_that_is_said_to_be_told_is_looked_for() -> None:
    told_it = {"tells_our_alertmanager": True}
    message = refusal(Operator(PROMETHEUS), existing_prometheus=told_it)
    assert "does not tell Alertmanager plumbline/alertmanager" in message
    named = changed(alerting={"alertmanagers": [{"namespace": "plumbline", "name": "alertmanager", "port": "http"}]})
    assert check(Operator(named), existing_prometheus=told_it) == []
    secret = changed(additionalAlertManagerConfigs={"name": "more", "key": "x"})
    assert check(Operator(secret), existing_prometheus=told_it) == []
    assert check(Operator(PROMETHEUS)) == []


def test_missing_external_labels_are_told_and_accepted() -> None:
    [warning] = check(Operator(changed(externalLabels={"cluster": "staging"})))
    assert warning.startswith("Prometheus team-monitoring/team has no external label for environment: staging")


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        (None, {"a": "1"}, False),
        ({}, {}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "1", "b": "2"}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "2"}, False),
        ({"matchLabels": {"a": "1"}}, {}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, {"a": "2"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}, {}, False),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, {"a": "1"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, {}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"a": ""}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}, False),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {"a": ""}, False),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {}, True),
        ({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}, {"a": "1"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "Unknown"}]}, {"a": "1"}, False),
    ],
)
def test_selector_selects_as_in_kubernetes(
    selector: Json | None,
    labels: dict[str, str],
    selected: bool,  # noqa: FBT001  # a case
) -> None:
    assert matches(selector, labels) is selected


def test_selector_is_told_as_kubectl_takes_it() -> None:
    expressions = [
        {"key": "b", "operator": "In", "values": ["1", "2"]},
        {"key": "c", "operator": "NotIn", "values": ["3"]},
        {"key": "d", "operator": "Exists"},
        {"key": "e", "operator": "DoesNotExist"},
    ]
    selector = {"matchLabels": {"a": "1"}, "matchExpressions": expressions}
    assert told(selector) == "a=1,b in (1, 2),c notin (3),d,!e"


def test_example_is_the_one_of_the_documents() -> None:
    assert EXISTING["labels"] == PROMETHEUS["spec"]["podMonitorSelector"]["matchLabels"]


def of_the_team(
    name: str, labels: dict[str, str] | None = None, spec: Json | None = None, namespace: str = "team-monitoring"
) -> Json:
    """An object of somebody else."""
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels or {}}, "spec": spec or {}}


CHART = {"app.kubernetes.io/name": "prometheus-node-exporter"}
OURS = {"app.kubernetes.io/part-of": "plumbline"}
STATE = {"app.kubernetes.io/name": "kube-state-metrics"}


def test_exporters_that_others_have_scraped_are_warned_of() -> None:
    others = {
        "servicemonitors": [of_the_team("nodes", None, {"selector": {"matchLabels": CHART}})],
        "services": [of_the_team("nodes", CHART)],
        "podmonitors": [
            of_the_team("state", None, {"selector": {"matchLabels": STATE}, "namespaceSelector": {"any": True}})
        ],
        "pods": [of_the_team("state-0", STATE, None, "kube-system")],
    }
    first, second = check(Operator(PROMETHEUS, others=others))
    assert first.startswith("ServiceMonitor team-monitoring/nodes has a node-exporter scraped already")
    assert "plumbline:node_exporter.existing" in first
    assert second.startswith("PodMonitor team-monitoring/state has a kube-state-metrics scraped already")
    gone = {"node_exporter": {"mode": "off"}, "kube_state_metrics": {"mode": "off"}}
    assert check(Operator(PROMETHEUS, others=others), **gone) == []


@pytest.mark.parametrize(
    ("monitor", "service"),
    [
        (of_the_team("x", None, {"selector": {"matchLabels": {"a": "b"}}}), of_the_team("x", CHART)),
        (of_the_team("x", None, {"selector": {}}), of_the_team("x", CHART, None, "elsewhere")),
        (of_the_team("x", None, {"selector": {}}), of_the_team("x", {"app": "shop"})),
        (of_the_team("x", None, {"selector": {}}), of_the_team("x", CHART | OURS)),
        (of_the_team("x", OURS, {"selector": {}}), of_the_team("x", CHART)),
    ],
    ids=["other labels", "other namespace", "other program", "our exporter", "our monitor"],
)
def test_monitors_of_other_things_are_not_warned_of(monitor: Json, service: Json) -> None:
    others = {"servicemonitors": [monitor], "services": [service]}
    assert check(Operator(PROMETHEUS, others=others)) == []


def test_account_that_may_not_look_for_monitors_is_told() -> None:
    class Blind(Operator):
        def listing(self, path: str) -> list[Json]:
            if path.endswith("/servicemonitors"):
                raise ForbiddenError("403")
            return super().listing(path)

    assert check(Blind(PROMETHEUS)) == [
        "whether node-exporter or kube-state-metrics is scraped here already was not looked for: 403"
    ]
