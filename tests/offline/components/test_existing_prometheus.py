"""What an existing Prometheus is given means the same as the configuration of one of our own."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from components.errors import DeployError
from components.existing_prometheus import component as existing_component
from components.existing_prometheus import rules as existing_rules
from components.existing_prometheus.component import ExistingPrometheus
from components.existing_prometheus.lint import lint
from components.existing_prometheus.manifests import render
from components.existing_prometheus.monitors import monitors
from components.existing_prometheus.relabeling import FIELDS, spelt
from components.naming import node_namespace_name
from components.policy import violations
from components.prometheus.config import render as render_native
from components.scrape import ScrapeJob
from signals.catalogue.model import Budget, Metric, MetricType, Producer
from signals.rules.model import Alert, Group, Severity, rule_file
from tests.offline.components.pulumi_mocks import record
from tests.offline.components.relabel import apply, visible
from tests.offline.promtool import require_promtool
from tests.offline.stacks.examples import existing_args, local_args

if TYPE_CHECKING:
    from components.existing_prometheus.args import ExistingPrometheusArgs

EVERY = {"existing_prometheus": {"jobs": ["apiserver", "kubelet", "cadvisor"]}}
WITH_STATIC = {"dcgm_exporter": {"targets": [{"node": "slurm-1", "address": "10.1.2.3:9400"}]}}
OPERATORS_OWN = ("namespace", "container", "pod", "endpoint")


def every(**sections: dict[str, Any]) -> ExistingPrometheusArgs:
    """With the cluster's own jobs."""
    return existing_args(**{**EVERY, **sections})


@cache
def native() -> dict[str, dict[str, Any]]:
    """Job → its native scrape configuration."""
    found = yaml.safe_load(render_native(local_args()).files["prometheus.yml"])["scrape_configs"]
    return {job["job_name"]: job for job in found}


def of_kind(args: ExistingPrometheusArgs, kind: str) -> dict[str, dict[str, Any]]:
    """Name → spec of the objects of a kind."""
    found = [m for m in render(args).manifests.values() if m["kind"] == kind]
    return {m["metadata"]["name"]: m["spec"] for m in found}


def snake(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The operator's spelling back in that of Prometheus: `sourceLabels` → `source_labels`."""
    return [{re.sub("([A-Z])", lambda m: f"_{m[1].lower()}", k): v for k, v in rule.items()} for rule in rules]


def as_the_operator_has_it(name: str, spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Relabelling that the operator makes of a PodMonitor (pkg/prometheus/promcfg.go, v0.85.0), ours at its end.

    Without a port it keeps every port of the pod, and names none.
    """
    endpoint = spec["podMetricsEndpoints"][0]
    port = endpoint.get("port")
    kept = {"source_labels": ["__meta_kubernetes_pod_container_port_name"], "regex": port, "action": "keep"}
    source = {"namespace": "namespace", "container": "pod_container_name", "pod": "pod_name"}
    return [
        {"source_labels": ["__meta_kubernetes_pod_phase"], "regex": "(Failed|Succeeded)", "action": "drop"},
        *([kept] if port else []),
        *({"source_labels": [f"__meta_kubernetes_{meta}"], "target_label": label} for label, meta in source.items()),
        {"target_label": "job", "replacement": f"plumbline/{name}"},
        *([{"target_label": "endpoint", "replacement": port}] if port else []),
        *snake(endpoint["relabelings"]),
    ]


PORTS = {"swanlab-vector": "9090", "swanlab-clickhouse": "9363"}
"""Job → number of the port, where whoever wrote the pods names none."""


def port_of(name: str, spec: dict[str, Any]) -> str:
    """Name of the port that a monitor asks for, or its number."""
    port: str = spec["podMetricsEndpoints"][0].get("port") or PORTS[name]
    return port


def discovered(port: str, phase: str = "Running") -> dict[str, str]:
    """What discovery says of one port of one pod: 9090 is a number, and everything else is a name."""
    return {
        "__address__": "10.0.0.9:9400",
        "__meta_kubernetes_namespace": "plumbline-node",
        "__meta_kubernetes_pod_name": "exporter-x",
        "__meta_kubernetes_pod_container_name": "exporter",
        f"__meta_kubernetes_pod_container_port_{'number' if port.isdigit() else 'name'}": port,
        "__meta_kubernetes_pod_phase": phase,
        "__meta_kubernetes_pod_node_name": "node-7",
    }


def pod_jobs() -> list[str]:
    return sorted(of_kind(existing_args(), "PodMonitor"))


@pytest.mark.parametrize("name", pod_jobs())
def test_a_target_gets_the_very_labels_that_it_gets_natively(name: str) -> None:
    spec, job = of_kind(existing_args(), "PodMonitor")[name], native()[name]
    target = discovered(port_of(name, spec))
    ours = visible(apply(as_the_operator_has_it(name, spec), target))
    theirs = visible(apply(job["relabel_configs"], target | {"job": name}))
    assert ours == theirs
    assert theirs is not None
    assert theirs["job"] == name


@pytest.mark.parametrize("name", pod_jobs())
def test_the_same_targets_are_left_out(name: str) -> None:
    spec, job = of_kind(existing_args(), "PodMonitor")[name], native()[name]
    port = port_of(name, spec)
    for target in (discovered("other"), discovered("8686"), discovered(port, "Succeeded"), discovered(port, "Failed")):
        assert apply(as_the_operator_has_it(name, spec), target) is None
        assert apply(job["relabel_configs"], target) is None


def test_without_our_last_rule_the_exporters_pod_would_pass_for_the_pod_of_a_gpu() -> None:
    spec = of_kind(existing_args(), "PodMonitor")["dcgm-exporter"]
    rules = as_the_operator_has_it("dcgm-exporter", spec)
    target = discovered(spec["podMetricsEndpoints"][0]["port"])
    assert rules[-1]["action"] == "labelkeep"
    without = visible(apply(rules[:-1], target)) or {}
    assert without["pod"] == "exporter-x"
    assert not set(OPERATORS_OWN) & set(visible(apply(rules, target)) or {})


def test_pods_are_looked_for_where_and_by_what_they_are_natively() -> None:
    for name, spec in of_kind(existing_args(), "PodMonitor").items():
        found = native()[name]["kubernetes_sd_configs"][0]
        labels = ",".join(f"{key}={value}" for key, value in spec["selector"]["matchLabels"].items())
        assert spec["namespaceSelector"] == {"matchNames": found["namespaces"]["names"]}
        assert [{"role": "pod", "label": labels}] == found["selectors"]


@pytest.mark.parametrize("kind", ["PodMonitor", "ScrapeConfig"])
def test_series_are_changed_rule_by_rule_as_natively(kind: str) -> None:
    specs = of_kind(every(**WITH_STATIC), kind)
    assert specs
    for name, spec in specs.items():
        where = spec["podMetricsEndpoints"][0] if kind == "PodMonitor" else spec
        assert snake(where.get("metricRelabelings", [])) == native()[name].get("metric_relabel_configs", [])


@pytest.mark.parametrize("kind", ["PodMonitor", "ScrapeConfig"])
def test_limits_and_whose_labels_and_times_win_are_the_same(kind: str) -> None:
    limits = ("sampleLimit", "targetLimit", "labelLimit", "labelNameLengthLimit", "labelValueLengthLimit")
    for name, spec in of_kind(every(**WITH_STATIC), kind).items():
        job = native()[name]
        where = spec["podMetricsEndpoints"][0] if kind == "PodMonitor" else spec
        assert snake([{key: spec[key] for key in (*limits, "keepDroppedTargets")}]) == [
            {key: job[key] for key in job if key.endswith("_limit") and key != "body_size_limit"}
            | {"keep_dropped_targets": job["keep_dropped_targets"]}
        ]
        for key in ("honorLabels", "honorTimestamps", "trackTimestampsStaleness"):
            assert where.get(key) == job.get(next(iter(snake([{key: 0}])[0])))
        if kind == "PodMonitor":
            assert spec["bodySizeLimit"] == job["body_size_limit"]


def test_an_address_outside_the_cluster_is_of_its_node() -> None:
    spec = of_kind(existing_args(**WITH_STATIC), "ScrapeConfig")["dcgm-exporter"]
    [static] = spec["staticConfigs"]
    assert static["targets"] == ["10.1.2.3:9400"]
    found = visible(apply(snake(spec["relabelings"]), {"__address__": "10.1.2.3:9400", **static["labels"]})) or {}
    assert (found["node"], found["job"], found["cluster"]) == ("slurm-1", "dcgm-exporter", "local")


@pytest.mark.parametrize("name", ["apiserver", "kubelet", "cadvisor"])
def test_jobs_of_the_cluster_are_discovered_as_natively(name: str) -> None:
    spec, job = of_kind(every(), "ScrapeConfig")[name], native()[name]
    [ours], [theirs] = spec["kubernetesSDConfigs"], job["kubernetes_sd_configs"]
    assert ours["role"].lower() == theirs["role"]
    assert ours.get("namespaces") == theirs.get("namespaces")
    assert [s["label"] for s in ours.get("selectors", ())] == [s["label"] for s in theirs.get("selectors", ())]
    assert spec["scheme"].lower() == job["scheme"]
    assert spec.get("metricsPath") == job.get("metrics_path")
    assert spec["tlsConfig"].get("serverName") == job["tls_config"].get("server_name")
    assert ("insecureSkipVerify" in spec["tlsConfig"]) == ("insecure_skip_verify" in job["tls_config"])
    target = {"__meta_kubernetes_node_name": "n", "__meta_kubernetes_endpointslice_port_name": "https"}
    ours_, theirs_ = apply(snake(spec["relabelings"]), target), apply(job["relabel_configs"], target)
    assert visible(ours_) == {**(visible(theirs_) or {}), "job": name}


def test_kubelets_are_verified_unless_the_stack_says_otherwise() -> None:
    checked = of_kind(every(kubelet={"tls": "verify"}), "ScrapeConfig")
    unchecked = of_kind(every(kubelet={"tls": "insecure"}), "ScrapeConfig")
    authority = {"ca": {"configMap": {"name": "kube-root-ca.crt", "key": "ca.crt"}}}
    assert checked["kubelet"]["tlsConfig"] == authority
    assert unchecked["kubelet"]["tlsConfig"] == {"insecureSkipVerify": True}
    assert unchecked["apiserver"]["tlsConfig"] == {**authority, "serverName": "kubernetes.default.svc"}


def test_what_a_prometheus_scrapes_already_is_not_delivered_unless_asked_for() -> None:
    jobs = {job.page.job for job in existing_args().jobs}
    assert not {"prometheus", "apiserver", "kubelet", "cadvisor"} & jobs
    assert "token" not in render(existing_args()).manifests
    assert {job.page.job for job in every().jobs} - jobs == {"apiserver", "kubelet", "cadvisor"}


def test_account_for_the_clusters_own_jobs_reads_metrics_and_nothing_else() -> None:
    found = render(every()).manifests
    assert found["cluster-role"]["rules"] == [
        {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ]
    assert found["token"]["metadata"]["annotations"] == {"kubernetes.io/service-account.name": "cluster-metrics"}
    assert "data" not in found["token"]


def test_rules_are_those_of_the_native_files_group_by_group() -> None:
    args = every()
    files = render_native(replace(local_args(), rules=args.rules)).files
    given = {f"{name}.yml": spec for name, spec in of_kind(args, "PrometheusRule").items()}
    assert set(given) == set(files) - {"prometheus.yml"}
    assert len(given) > 2
    for name in set(given) - {"rules-sentinel.yml"}:  # which names the revision
        assert given[name] == yaml.safe_load(files[name])


def test_rules_are_about_the_series_of_this_cluster_alone() -> None:
    args = every()
    assert args.rules.cluster == args.cluster
    for name, spec in of_kind(args, "PrometheusRule").items():
        for rule in (rule for group in spec["groups"] for rule in group["rules"]):
            assert f'cluster="{args.cluster}"' in rule["expr"] or rule["expr"] in ("vector(1)", "vector(0)"), name


def test_rules_about_a_prometheus_of_our_own_are_not_given() -> None:
    assert "rules-prometheus" not in of_kind(every(), "PrometheusRule")


def test_rule_files_are_linted_as_the_groups_that_are_given() -> None:
    found = render(every())
    given = of_kind(every(), "PrometheusRule")
    assert {name: yaml.safe_load(text) for name, text in found.rule_files.items()} == {
        f"{name}.yml": spec for name, spec in given.items()
    }


def test_promtool_accepts_the_rules_and_refuses_a_broken_one() -> None:
    require_promtool()
    found = render(every()).rule_files
    lint(found)
    with pytest.raises(DeployError, match=r"promtool check rules .* refuses the rendered configuration"):
        lint({**found, "rules-sentinel.yml": "groups: [{name: x, rules: [{record: a, expr: 'sum('}]}]"})


def test_sentinel_shows_the_revision() -> None:
    found = render(existing_args())
    [group] = of_kind(existing_args(), "PrometheusRule")["rules-sentinel"]["groups"]
    assert group["rules"] == [
        {"record": "plumbline:config_revision", "expr": "vector(1)", "labels": {"revision": found.revision}}
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"existing_prometheus": {"interval": "15s"}},
        {"existing_prometheus": {"labels": {"release": "other"}}},
        {"existing_prometheus": {"jobs": ["kubelet"]}},
        {"cluster": {"environment": "other"}},
        {"runbooks": "https://runbooks.example.org"},
    ],
)
def test_revision_changes_with_monitors_and_with_rules(changed: dict[str, Any]) -> None:
    assert render(existing_args()).revision == render(existing_args()).revision
    args = existing_args(**{k: v for k, v in changed.items() if k != "runbooks"})
    if "runbooks" in changed:
        args = replace(args, rules=replace(args.rules, runbooks=changed["runbooks"]))
    assert render(args).revision != render(existing_args()).revision


def test_everything_has_the_labels_that_it_is_selected_by_and_our_own() -> None:
    found = [m for m in render(every(**WITH_STATIC)).manifests.values() if "monitoring" in m["apiVersion"]]
    assert {m["kind"] for m in found} == {"PodMonitor", "ScrapeConfig", "PrometheusRule"}
    for manifest in found:
        assert manifest["metadata"]["labels"]["release"] == "team"
        assert manifest["metadata"]["labels"]["app.kubernetes.io/part-of"] == "plumbline"
        assert manifest["metadata"]["namespace"] == "plumbline"


def test_everything_keeps_the_rules_for_manifests() -> None:
    asked = {"service_account": "team", **EVERY["existing_prometheus"]}
    assert violations(render(existing_args(existing_prometheus=asked)).manifests.values()) == []


def test_policies_let_the_prometheus_in_and_only_where_pods_are_closed() -> None:
    found = {m["metadata"]["name"]: m for m in of_kind_any(existing_args(), "NetworkPolicy")}
    assert "existing-prometheus-node-exporter" not in found
    gpu = found["existing-prometheus-dcgm-exporter"]
    assert gpu["metadata"]["namespace"] == node_namespace_name("plumbline")
    [rule] = gpu["spec"]["ingress"]
    assert rule["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-monitoring"}}}]
    assert [port["port"] for port in rule["ports"]] == [
        of_kind(existing_args(), "PodMonitor")["dcgm-exporter"]["podMetricsEndpoints"][0]["port"]
    ]
    # Neither object store is deployed without them.
    off = {"mode": "off"}
    stores = {"object_store": off, "swanlab": off, "recovery": off}
    none: dict[str, dict[str, Any]] = {"network": {"policies": False}, **stores}
    assert of_kind(existing_args(**none), "NetworkPolicy") == {}


def test_pods_of_somebody_else_get_no_policy() -> None:
    theirs = {"mode": "existing", "existing": {"namespace": "gpu-operator", "labels": {"app": "x"}, "port": "metrics"}}
    args = existing_args(dcgm_exporter=theirs)
    assert "existing-prometheus-dcgm-exporter" not in of_kind(args, "NetworkPolicy")
    spec = of_kind(args, "PodMonitor")["dcgm-exporter"]
    assert spec["namespaceSelector"] == {"matchNames": ["gpu-operator"]}


def test_right_to_find_pods_is_given_where_asked_for() -> None:
    assert not of_kind_any(existing_args(), "RoleBinding")
    found = of_kind_any(existing_args(existing_prometheus={"service_account": "prometheus-k8s"}), "RoleBinding")
    assert {m["metadata"]["namespace"] for m in found} == {"plumbline", "plumbline-node", "plumbline-swanlab"}
    assert {m["subjects"][0]["name"] for m in found} == {"prometheus-k8s"}
    assert {m["subjects"][0]["namespace"] for m in found} == {"team-monitoring"}


def of_kind_any(args: ExistingPrometheusArgs, kind: str) -> list[dict[str, Any]]:
    return [m for m in render(args).manifests.values() if m["kind"] == kind]


def test_job_with_an_interval_of_its_own_has_a_timeout_that_fits() -> None:
    endpoint = of_kind(existing_args(), "PodMonitor")["pushgateway"]["podMetricsEndpoints"][0]
    assert (endpoint["interval"], endpoint["scrapeTimeout"]) == ("5s", "5s")
    others = of_kind(existing_args(), "PodMonitor")["node-exporter"]["podMetricsEndpoints"][0]
    assert (others["interval"], others["scrapeTimeout"]) == ("30s", "10s")


def test_field_that_the_operator_does_not_have_is_an_error() -> None:
    assert spelt([{"source_labels": ["a"], "target_label": "b"}]) == [{"sourceLabels": ["a"], "targetLabel": "b"}]
    with pytest.raises(KeyError):
        spelt([{"source_label": ["a"]}])


def test_every_field_of_a_native_rule_is_known() -> None:
    assert set(FIELDS) == {
        *("source_labels", "separator", "target_label", "regex", "modulus", "replacement", "action"),
    }


def test_page_that_nobody_can_find_is_refused() -> None:
    metric = Metric(name="x", type=MetricType.GAUGE, unit="1", meaning="x")
    page = Producer(
        job="new", title="x", versions="1", target_labels=(), per_node=False, metrics=(metric,), budget=Budget()
    )
    args = replace(existing_args(), jobs=(ScrapeJob(page=page, sample_limit=1),))
    with pytest.raises(DeployError, match=r"job `new` names no pods .* known are apiserver, kubelet, cadvisor"):
        monitors(args)


def test_rule_file_that_the_operator_would_refuse_is_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    alert = Alert(
        alert="A", expr="up", wait="1m", severity=Severity.P3, summary="s", description="d" * 600_000, runbook="r"
    )
    large = {"rules-large.yml": rule_file((Group(name="g", rules=(alert,)),))}
    monkeypatch.setattr(existing_rules, "rule_files", lambda _: large)
    with pytest.raises(DeployError, match=r"rules-large\.yml has [67]\d{5} bytes, and as a PrometheusRule"):
        render(existing_args())


def test_component_registers_every_manifest_as_its_kind() -> None:
    args = every()
    made = record(lambda: ExistingPrometheus("existing-prometheus", args))
    kinds = {(r.type, r.name) for r in made.resources}
    assert ("kubernetes:monitoring.coreos.com/v1:PodMonitor", "existing-prometheus-pod-monitor-dcgm-exporter") in kinds
    assert (
        "kubernetes:monitoring.coreos.com/v1alpha1:ScrapeConfig",
        "existing-prometheus-scrape-config-kubelet",
    ) in kinds
    assert ("kubernetes:monitoring.coreos.com/v1:PrometheusRule", "existing-prometheus-rule-rules-sentinel") in kinds
    children = [r for r in made.resources if r.type.startswith("kubernetes:")]
    assert len(children) == len(render(args).manifests)
    assert {r.parent for r in children} == {"existing-prometheus"}
    assert made.outputs["existing-prometheus"] == {"revision"}
    assert existing_component.ExistingPrometheus is ExistingPrometheus
