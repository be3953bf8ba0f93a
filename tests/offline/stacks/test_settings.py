"""A wrong setting stops before anything is created, and says what, where, what is accepted and what to do next."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.runtime.config import CONFIG

from components.errors import DeployError
from stacks.settings import _config, parse
from tests.offline.stacks.examples import STACKS, as_pulumi_has_it, completed, existing, settings, stack_file


def refusal(config: dict[str, Any], stack: str = "kind") -> str:
    with pytest.raises(DeployError) as caught:
        parse(stack, as_pulumi_has_it(config))
    return str(caught.value)


def kind_with(section: str, **values: object) -> dict[str, Any]:
    config = completed("kind")
    return {**config, f"plumbline:{section}": {**config.get(f"plumbline:{section}", {}), **values}}


@pytest.mark.parametrize("stack", STACKS)
def test_committed_stacks_are_right_once_completed(stack: str) -> None:
    assert settings(stack).stack == stack


@pytest.mark.parametrize("stack", STACKS)
def test_committed_stacks_disable_the_default_provider(stack: str) -> None:
    assert stack_file(stack)["pulumi:disable-default-providers"] == ["kubernetes"]


@pytest.mark.parametrize("stack", STACKS)
def test_committed_stacks_carry_no_identity_of_a_machine(stack: str) -> None:
    assert not {"uid", "kubeconfig"} & stack_file(stack)["plumbline:cluster"].keys()


def test_misspelt_setting_gets_a_suggestion_the_accepted_names_and_the_fix() -> None:
    message = refusal(kind_with("prometheus", retenton="2d"))
    assert (
        "unknown setting plumbline:prometheus.retenton in stack kind; did you mean `retention`? accepted: mode, "
        "retention, retention_size, volume, scrape_interval, scrape_timeout, limits, resources, remote_write; "
        "fix: pulumi config rm --path 'plumbline:prometheus.retenton' && "
        "pulumi config set --path 'plumbline:prometheus.retention' <value>"
    ) in message


def test_misspelt_section_is_seen_at_the_top_level() -> None:
    message = refusal({**completed("kind"), "plumbline:promethus": "{}"})
    assert "unknown setting plumbline:promethus in stack kind; did you mean `prometheus`?" in message


def test_unlike_setting_gets_no_suggestion() -> None:
    message = refusal(kind_with("network", zzz=1))
    assert "unknown setting plumbline:network.zzz in stack kind; accepted: policies; fix: pulumi config rm" in message


def test_misspelt_setting_deep_inside_is_placed_exactly() -> None:
    message = refusal(kind_with("prometheus", resources={"requests": {"cpus": "1"}}))
    assert "unknown setting plumbline:prometheus.resources.requests.cpus in stack kind; did you mean `cpu`?" in message


def test_fault_in_a_list_names_the_element() -> None:
    message = refusal(kind_with("prometheus", remote_write=[{"name": "a", "url": "ftp://x"}]))
    assert "plumbline:prometheus.remote_write[0].url in stack kind: `ftp://x` is not a web address" in message


def test_key_set_without_path_is_explained() -> None:
    message = refusal({**completed("kind"), "plumbline:cluster.uid": "x"})
    assert "plumbline:cluster.uid in stack kind was set without `--path`" in message
    assert "pulumi config rm 'plumbline:cluster.uid' && pulumi config set --path 'plumbline:cluster.uid'" in message


def test_the_name_of_the_stack_is_not_a_setting() -> None:
    message = refusal({**completed("kind"), "plumbline:stack": "other"})
    assert "unknown setting plumbline:stack in stack kind; accepted: profile, cluster, namespace" in message


@pytest.mark.parametrize(
    ("section", "values", "words"),
    [
        ("cluster", {"name": "a b"}, "plumbline:cluster.name in stack kind: `a b` cannot be a label value"),
        ("cluster", {"uid": "1"}, "plumbline:cluster.uid in stack kind: `1` is not the uid of a Kubernetes object"),
        ("cluster", {"context": ""}, "plumbline:cluster.context in stack kind: must not be empty"),
        ("cluster", {"node_access": "yes"}, "plumbline:cluster.node_access in stack kind should be a valid boolean, "),
        (
            "images",
            {"source": "docker"},
            "plumbline:images.source in stack kind has a value that is not known; accepted: ",
        ),
        ("images", {"mirror": "https://x"}, "`https://x` is not a registry"),
        (
            "storage",
            {"class_name": "Fast"},
            "plumbline:storage.class_name in stack kind: `Fast` is not a Kubernetes name",
        ),
        ("kubelet", {"tls": "off"}, "accepted: 'verify' or 'insecure'"),
        ("network", {"policies": "no"}, "should be a valid boolean, not text; accepted: false if the cluster"),
        ("prometheus", {"mode": "existing"}, "plumbline:prometheus.mode in stack kind has a value that is not known; "),
        ("prometheus", {"retention": "15 days"}, "`15 days` is not a Prometheus duration: accepted are whole numbers"),
        ("prometheus", {"retention": 15}, "should be a valid string, not a number; accepted: retention by time"),
        ("prometheus", {"retention_size": "3Gi"}, "`3Gi` is not a size of Prometheus"),
        ("prometheus", {"volume": "10GB"}, "`10GB` is not a Kubernetes quantity"),
        ("prometheus", {"limits": {"samples": 999}}, "greater than 999; accepted: samples per scrape, at least 1000"),
        ("prometheus", {"volume": "1e999999999"}, "`1e999999999` is not a Kubernetes quantity"),
        ("prometheus", {"resources": {"limits": {"memory": "512m"}}}, "`512m` is thousandths of a byte"),
        ("prometheus", {"limits": {"samples": "many"}}, "should be a valid integer, not text"),
        ("prometheus", {"remote_write": {}}, "should be a valid array, not an object; accepted: list of stores"),
        ("prometheus", {"remote_write": [{"name": "a"}]}, "missing setting plumbline:prometheus.remote_write[0].url"),
        ("sizing", {"nodes": 0}, "plumbline:sizing.nodes in stack kind should be greater than 0; accepted: nodes"),
        ("sizing", {"pods": 1.5}, "plumbline:sizing.pods in stack kind should be a valid integer"),
        (
            "thresholds",
            {"gpu_memory_high": 90},
            "plumbline:thresholds.gpu_memory_high in stack kind should be less tha",
        ),
        (
            "thresholds",
            {"gpu_temperature_celsius_by_model": {"L4": 130}},
            "plumbline:thresholds.gpu_temperature_celsius_by_model.L4 in stack kind should be less than 130",
        ),
        ("dcgm_exporter", {"mode": "on"}, "accepted: 'managed', 'existing', 'simulated' or 'off'"),
        ("dcgm_exporter", {"interval": "30"}, "`30` is not a Prometheus duration"),
        (
            "dcgm_exporter",
            {"targets": [{"node": "a", "address": "http://a:9400/metrics"}]},
            "plumbline:dcgm_exporter.targets[0].address in stack kind should match pattern",
        ),
        ("node_exporter", {"port": 65536}, "plumbline:node_exporter.port in stack kind should be less than 65536"),
        (
            "kube_state_metrics",
            {"existing": {"namespace": "a", "labels": {}, "port": "p"}},
            "plumbline:kube_state_metrics.existing.labels in stack kind",
        ),
        (
            "pushgateway",
            {"push_from": ["Team"]},
            "plumbline:pushgateway.push_from[0] in stack kind: `Team` is not a DNS",
        ),
        ("alertmanager", {"existing": [{"address": "a"}]}, "plumbline:alertmanager.existing[0].address in stack kind"),
        (
            "alertmanager",
            {"existing": [{"address": "http://a:9093"}]},
            "plumbline:alertmanager.existing[0].address in stack kind should match pattern",
        ),
        (
            "alertmanager",
            {"receivers": {"P0": [{"url": "https://x?token=y"}]}},
            "plumbline:alertmanager.receivers.P0[0].url in stack kind: ",
        ),
        (
            "alertmanager",
            {"receivers": {"P0": [{"url_secret": {"name": "A", "key": "k"}}]}},
            "plumbline:alertmanager.receivers.P0[0].url_secret.name in stack kind: `A` is not a Kubernetes name",
        ),
    ],
)
def test_wrong_values_are_refused(section: str, values: dict[str, Any], words: str) -> None:
    message = refusal(kind_with(section, **values))
    assert words in message
    assert "fix: pulumi config set --path" in message


@pytest.mark.parametrize("key", ["profile", "namespace", "cluster", "images", "prometheus"])
def test_missing_settings_are_named(key: str) -> None:
    config = completed("kind")
    del config[f"plumbline:{key}"]
    assert f"missing setting plumbline:{key} in stack kind; accepted: " in refusal(config)


def test_text_where_an_object_belongs_is_refused() -> None:
    message = refusal({**completed("kind"), "plumbline:prometheus": "{not json"})
    assert "plumbline:prometheus in stack kind should be an object, not text; accepted: keys retention" in message


def test_all_faults_come_in_one_message() -> None:
    message = refusal({**kind_with("prometheus", retenton="1d", volume="x"), "plumbline:profile": "forever"})
    assert message.startswith("the settings of stack kind cannot be used; nothing was changed:\n- ")
    assert message.count("\n- ") == 3


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public", "kube-node-lease", "Bad"])
def test_namespaces_of_kubernetes_are_refused(name: str) -> None:
    message = refusal({**completed("kind"), "plumbline:namespace": name})
    assert f"plumbline:namespace in stack kind: `{name}` cannot be the namespace of a stack" in message


@pytest.mark.parametrize(
    "url",
    [
        "https://x/write?token=canary",
        "https://x/write?a=b&api_key=canary",
        "https://x/write?PASSWORD=canary",
        "ftp://user:canary@x/",
        "https://canary@x/",
        "https://user:canary@[x/",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    message = refusal(kind_with("prometheus", remote_write=[{"name": "a", "url": url}]))
    assert "plumbline:prometheus.remote_write[0].url in stack kind: " in message
    assert "canary" not in message


def test_parameters_that_are_no_secret_are_accepted() -> None:
    store = {"name": "a", "url": "https://x:8443/write?tenant=a&extra_label=b%3Dc"}
    assert settings("kind", prometheus={"remote_write": [store]})


def test_a_secret_set_as_a_plain_value_is_not_repeated() -> None:
    store = {"name": "a", "url": "https://user:canary@example.com", "secret": "canary"}
    assert "canary" not in refusal(kind_with("prometheus", remote_write=[store]))


def test_keys_of_other_namespaces_are_left_alone() -> None:
    config = {**completed("kind"), "kubernetes:context": "other", "pulumi:tags": {"a": "b"}}
    assert parse("kind", as_pulumi_has_it(config)).cluster.context == "kind-kind"


def test_values_that_look_like_numbers_stay_text() -> None:
    assert parse("kind", {**as_pulumi_has_it(completed("kind")), "plumbline:namespace": "1234"}).namespace == "1234"


def test_the_whole_config_map_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG", '{"plumbline:a": "environment", "plumbline:b": "environment"}')
    token = CONFIG.set({"plumbline:b": "engine"})
    try:
        assert _config() == {"plumbline:a": "environment", "plumbline:b": "engine"}
    finally:
        CONFIG.reset(token)


def test_namespaces_of_others_may_be_kubernetes_own() -> None:
    """Clouds run their agents in kube-system, and some teams theirs in default; only ours must be neither."""
    pods = {"namespace": "kube-system", "labels": {"app": "x"}, "port": "metrics"}
    found = settings(
        "staging",
        node_exporter={"mode": "existing", "existing": pods},
        pushgateway={"push_from": ["default"]},
        alertmanager={"sink": {"namespace": "default", "service": "sink", "port": 80}},
    )
    assert found.node_exporter.existing is not None
    assert found.node_exporter.existing.namespace == "kube-system"
    assert existing(existing_prometheus={"namespace": "default"}).existing_prometheus
