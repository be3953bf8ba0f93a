"""What relabelling makes of targets and samples: every promised label stays, and what must go goes, visibly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from components.prometheus.config import render
from components.scrape import PodTargets, ScrapeJob, metric_relabels, pod_relabels, target_relabels
from signals.catalogue import PRODUCERS
from signals.catalogue.labels import BANNED, DROPPED_LABEL, INFO_METRIC
from signals.catalogue.model import Drop, LabelChange, Producer
from tests.offline.components.relabel import apply, visible
from tests.offline.stacks.examples import local_args

Labels = dict[str, str]
PAGES = pytest.mark.parametrize("page", PRODUCERS, ids=lambda page: str(page.job))
HONORED = [page for page in PRODUCERS if page.honor_labels]
TARGET = ("cluster", "environment", "node", "instance", "job")
STATIC = {"dcgm_exporter": {"targets": [{"node": "slurm-1", "address": "slurm-1.example.com:9400"}]}}
DCGM = next(page for page in PRODUCERS if page.job == "dcgm-exporter")
PAGE = Producer(job="x", title="X", versions="1", target_labels=("cluster",), per_node=False, metrics=())


def job(name: str, **sections: dict[str, Any]) -> dict[str, Any]:
    """A scrape job as it is rendered."""
    found = yaml.safe_load(render(local_args(**sections)).files["prometheus.yml"])["scrape_configs"]
    wanted: dict[str, Any] = next(config for config in found if config["job_name"] == name)
    return wanted


def discovered(**more: str) -> Labels:
    """What discovery says of one port of a running pod, whatever the job."""
    return {
        "__address__": "10.0.0.9:9400",
        "__meta_kubernetes_pod_container_port_name": "metrics",
        "__meta_kubernetes_pod_phase": "Running",
        "__meta_kubernetes_pod_node_name": "node-7",
        "__meta_kubernetes_pod_name": "exporter-x",
        "__meta_kubernetes_node_name": "node-7",
        "__meta_kubernetes_endpointslice_port_name": "https",
        **more,
    }


def samples(page: Producer) -> list[Labels]:
    """A series of each metric, with every label that the catalogue knows of it and those of its target."""
    target = dict.fromkeys(TARGET, "t") | {"job": page.job}
    return [
        target
        | {"__name__": metric.name}
        | {label: f"value-of-{label}" for label in (*page.identity, *metric.labels, *metric.optional)}
        for metric in page.metrics
    ]


@PAGES
def test_labels_that_say_what_a_series_is_about_survive(page: Producer) -> None:
    rules = metric_relabels(page)
    for sample in samples(page):
        assert apply(rules, sample) == sample


@PAGES
def test_labels_of_the_target_are_all_that_the_catalogue_promises(page: Producer) -> None:
    config = job(page.job)
    keep = next((r for r in config["relabel_configs"] if r.get("action") == "keep"), None)
    port = {keep["source_labels"][0]: keep["regex"]} if keep else {}
    found = visible(apply(config["relabel_configs"], discovered(**port)))
    values = {"cluster": "local", "environment": "local", "node": "node-7"}
    instance = {"instance": "node-7"} if page.instance_is_node else {}
    assert found == {label: values[label] for label in page.target_labels} | instance


def test_port_without_a_name_is_found_by_its_number_and_no_other_is() -> None:
    pods = PodTargets(namespace="x", labels={"app": "x"}, port=9090)
    rules = pod_relabels(pods)
    number = "__meta_kubernetes_pod_container_port_number"
    # A port of that name is another's, and 19090 only ends in the same digits.
    for other in ({number: "19090"}, {number: "8686"}, {"__meta_kubernetes_pod_container_port_name": "9090"}):
        assert apply(rules, discovered(**other)) is None
    assert apply(rules, discovered(**{number: "9090"})) is not None
    assert apply(rules, discovered(**{number: "9090", "__meta_kubernetes_pod_phase": "Failed"})) is None
    assert (pods.policy_port, PodTargets(namespace="x", labels={}, port_name="http").policy_port) == (9090, "http")


@pytest.mark.parametrize("ports", [{}, {"port": 9090, "port_name": "metrics"}])
def test_port_is_told_in_one_way(ports: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="accepted is one of the two"):
        PodTargets(namespace="x", labels={}, **ports)


@pytest.mark.parametrize("spelling", ["Hostname", "hostname"])
@pytest.mark.parametrize("metric", ["DCGM_FI_DEV_GPU_UTIL", "DCGM_EXP_XID_ERRORS_COUNT"])
def test_either_spelling_of_the_hostname_vanishes_and_the_node_stays(spelling: str, metric: str) -> None:
    sample = {"__name__": metric, "gpu": "0", "UUID": "GPU-1", "node": "node-7", "instance": "node-7"}
    assert apply(job("dcgm-exporter")["metric_relabel_configs"], {**sample, spelling: "host-of-the-pod"}) == sample


def test_versions_of_an_exporter_give_one_series() -> None:
    """Both spellings in one page, as during a roll-out, differ by nothing but the label that goes."""
    rules = metric_relabels(DCGM)
    plain = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "gpu": "0", "node": "node-7"}
    assert apply(rules, {**plain, "Hostname": "a"}) == apply(rules, {**plain, "hostname": "b"}) == plain


@pytest.mark.parametrize("page", HONORED, ids=lambda page: str(page.job))
@pytest.mark.parametrize("banned", BANNED)
def test_banned_label_is_taken_off_and_its_name_is_kept(page: Producer, banned: str) -> None:
    for sample in samples(page):
        found = apply(metric_relabels(page), {**sample, banned: "someone@example.com"})
        assert found == {**sample, DROPPED_LABEL: banned}


@pytest.mark.parametrize("page", HONORED, ids=lambda page: str(page.job))
def test_of_several_banned_labels_none_stays_and_one_is_named(page: Producer) -> None:
    (sample, *_) = samples(page)
    found = apply(metric_relabels(page), sample | dict.fromkeys(BANNED, "x"))
    assert found is not None
    assert not set(BANNED) & set(found)
    assert found[DROPPED_LABEL] in BANNED


def test_no_page_says_more_than_one_producer_may() -> None:
    """Pages whose own labels win are those that speak of others; only those can bring a banned label."""
    assert {page.job for page in HONORED} == {"dcgm-exporter", "kube-state-metrics", "pushgateway"}
    for page in PRODUCERS:
        known = {label for metric in page.metrics for label in (*metric.labels, *metric.optional)}
        assert not known & {*BANNED, DROPPED_LABEL, INFO_METRIC}


@pytest.mark.parametrize("name", ["user_name", "users", "userid", "prompts", "filename2", "my_email"])
def test_label_with_a_similar_name_stays(name: str) -> None:
    sample = {"__name__": "kube_pod_info", name: "x"}
    assert apply(job("kube-state-metrics")["metric_relabel_configs"], sample) == sample


def test_empty_banned_label_leaves_no_mark() -> None:
    assert apply(metric_relabels(replace(PAGE, honor_labels=True)), {"__name__": "a", "user": ""}) == {"__name__": "a"}


def test_renamed_label_keeps_its_value_whichever_spelling_there_is() -> None:
    page = replace(PAGE, label_changes=(LabelChange(source="Model|model_name", target="modelName", why="drift"),))
    for old in ("Model", "model_name"):
        assert apply(metric_relabels(page), {"__name__": "a", old: "H100"}) == {"__name__": "a", "modelName": "H100"}
    already = {"__name__": "a", "modelName": "H100"}
    assert apply(metric_relabels(page), already) == already


@pytest.mark.parametrize(
    ("drop", "gone", "kept"),
    [
        (Drop(metric="a_.*", why=""), {"__name__": "a_total"}, {"__name__": "ba_total"}),
        (Drop(metric="a", why=""), {"__name__": "a"}, {"__name__": "ab"}),
        (Drop(metric="a_bucket", why="", buckets=("2",)), {"le": "2.0"}, {"le": "2.5"}),
        (Drop(metric="a_bucket", why="", buckets=("2",)), {"le": "2"}, {"le": "20"}),
        (Drop(metric="a_bucket", why="", buckets=("0.5",)), {"le": "0.5"}, {"le": "0x5"}),
        (Drop(metric="a_bucket", why="", labels=(("verb", "GET|PUT"),)), {"verb": "GET"}, {"verb": "GETS"}),
        (
            Drop(metric="a_bucket", why="", labels=(("verb", "GET"), ("scope", ""))),
            {"verb": "GET"},
            {"verb": "GET", "scope": "namespace"},
        ),
    ],
)
def test_drop_takes_what_it_names_and_nothing_like_it(drop: Drop, gone: Labels, kept: Labels) -> None:
    rules = metric_relabels(replace(PAGE, drops=(drop,)))
    base = {"__name__": "a_bucket"}
    assert apply(rules, base | gone) is None
    assert apply(rules, base | kept) == base | kept


def test_target_outside_the_cluster_passes_the_same_rules_as_a_pod() -> None:
    config = job("dcgm-exporter", **STATIC)
    (static,) = config["static_configs"]
    assert static["targets"] == ["slurm-1.example.com:9400"]
    outside = visible(apply(config["relabel_configs"], {"__address__": static["targets"][0], **static["labels"]}))
    inside = visible(apply(config["relabel_configs"], discovered(__meta_kubernetes_pod_node_name="slurm-1")))
    assert outside == inside
    assert outside == {"cluster": "local", "environment": "local", "node": "slurm-1", "instance": "slurm-1"}


def test_target_outside_a_cluster_that_measures_none_of_its_own_gets_the_same_labels() -> None:
    pods = {"mode": "off", **STATIC["dcgm_exporter"]}
    config = job("dcgm-exporter", dcgm_exporter=pods)
    assert "kubernetes_sd_configs" not in config
    (static,) = config["static_configs"]
    found = visible(apply(config.get("relabel_configs", []), {"__address__": "a:1", **static["labels"]}))
    assert found == {"cluster": "local", "environment": "local", "node": "slurm-1", "instance": "slurm-1"}


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_finished_pod_is_no_target(phase: str) -> None:
    rules = pod_relabels(PodTargets(namespace="n", labels={}, port_name="metrics"))
    assert apply(rules, discovered()) is not None
    assert apply(rules, discovered(__meta_kubernetes_pod_phase=phase)) is None


@pytest.mark.parametrize("phase", ["Pending", "Unknown"])
def test_pod_that_should_run_is_a_target(phase: str) -> None:
    rules = pod_relabels(PodTargets(namespace="n", labels={}, port_name="metrics"))
    assert apply(rules, discovered(__meta_kubernetes_pod_phase=phase)) is not None


@pytest.mark.parametrize("port", ["http-metrics", "a.b", "metrics2"])
def test_other_ports_of_a_pod_are_no_targets(port: str) -> None:
    rules = pod_relabels(PodTargets(namespace="n", labels={}, port_name=port))
    assert apply(rules, discovered(__meta_kubernetes_pod_container_port_name=port)) is not None
    for other in (f"{port}x", f"x{port}", "", "axb" if port == "a.b" else "http"):
        assert apply(rules, discovered(__meta_kubernetes_pod_container_port_name=other)) is None


def test_labels_of_a_target_come_from_the_arguments_and_from_discovery() -> None:
    found = ScrapeJob(page=replace(PAGE, target_labels=("cluster", "environment", "node")), sample_limit=1)
    labels = visible(apply(target_relabels(found, "c", "e"), {"__meta_kubernetes_node_name": "n"}))
    assert labels == {"cluster": "c", "environment": "e", "node": "n"}
