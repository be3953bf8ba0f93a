"""Settings of exporters and alerting that are right one by one and cannot work together, each beside its remedy."""

from __future__ import annotations

from typing import Any

import pytest

from components.errors import DeployError
from signals.catalogue.labels import WORKLOAD_IDENTITY
from stacks.settings import parse
from tests.offline.stacks.examples import as_pulumi_has_it, completed, existing, settings, stack_file

PODS = {"namespace": "gpu-operator", "labels": {"app": "nvidia-dcgm-exporter"}, "port": "metrics"}
RECEIVERS: dict[str, Any] = stack_file("staging")["plumbline:alertmanager"]["receivers"]
HOOK = {"url": "https://pager.example.com/v1"}
ENTRY = {"name": "alert-receivers", "key": "p0"}
TEAM = [{"address": "alertmanager.team.svc:9093"}]
SINK = {"namespace": "sink", "service": "sink", "port": 8080}
EXPORTERS = ("dcgm_exporter", "node_exporter", "kube_state_metrics")

Sections = dict[str, dict[str, Any]]


def refusal(**sections: dict[str, Any]) -> str:
    """The one complaint about stack staging with these sections."""
    return refusal_of("staging", **sections)


def refusal_of(stack: str, **sections: dict[str, Any]) -> str:
    """The one complaint about a stack with these sections."""
    with pytest.raises(DeployError) as caught:
        settings(stack, None, **sections)
    message = str(caught.value)
    assert message.count("\n- ") == 1, message
    return message


@pytest.mark.parametrize("section", EXPORTERS)
def test_existing_pods_and_the_mode_that_uses_them_go_together(section: str) -> None:
    without = refusal(**{section: {"mode": "existing"}})
    assert f"plumbline:{section}.mode is `existing` and plumbline:{section}.existing is missing" in without
    unused = refusal(**{section: {"mode": "managed", "existing": PODS}})
    assert f"plumbline:{section}.mode is `managed` and plumbline:{section}.existing is set" in unused
    assert "fix: give the pods that are there (namespace, labels, port), or another mode" in unused
    assert settings("staging", None, **{section: {"mode": "existing", "existing": PODS}})


@pytest.mark.parametrize("interval", ["999ms", "301s"])
def test_interval_of_measurements_out_of_bounds_is_refused(interval: str) -> None:
    message = refusal(dcgm_exporter={"interval": interval})
    assert f"plumbline:dcgm_exporter.interval {interval}: accepted are 1s to 5m" in message


@pytest.mark.parametrize("interval", ["1s", "5m"])
def test_interval_of_measurements_at_the_bounds_is_accepted(interval: str) -> None:
    assert settings("staging", dcgm_exporter={"interval": interval})


def test_simulated_gpus_are_refused_where_their_image_does_not_exist() -> None:
    sizing = {"gpu_nodes": 1, "gpus_per_node": 8}
    message = refusal_of("kind", dcgm_exporter={"mode": "simulated"}, sizing=sizing)
    assert "the simulator is built for the embedded cluster alone (plumbline:images.source is `upstream`)" in message
    assert "fix: mode `managed`, `existing` or `off`" in message
    assert settings("local").dcgm_exporter.mode == "simulated"


def test_simulated_gpus_are_refused_where_data_must_last() -> None:
    config = completed("local") | {"plumbline:images": {"source": "file", "path": "images.json"}}
    assert parse("local", as_pulumi_has_it(config))
    with pytest.raises(DeployError, match=r"`simulated` on a durable stack: invented values would be kept as real"):
        parse("local", as_pulumi_has_it(config | {"plumbline:profile": "durable"}))


def test_node_that_is_named_twice_is_refused() -> None:
    one, same, other = ({"node": node, "address": f"{node}:{port}"} for node, port in (("a", 1), ("a", 2), ("b", 3)))
    assert "plumbline:dcgm_exporter.targets names node a twice" in refusal(
        dcgm_exporter={"targets": [one, same, other]}
    )
    assert settings("staging", dcgm_exporter={"targets": [one, other]})


@pytest.mark.parametrize("name", ["P0", "P1", "P2", "P3", "watchdog"])
def test_severity_that_nobody_receives_is_refused(name: str) -> None:
    message = refusal(alertmanager={"receivers": {k: v for k, v in RECEIVERS.items() if k != name}})
    assert f"plumbline:alertmanager.receivers has nobody for {name}, so such an alert would reach no one" in message
    assert "fix: add them, or plumbline:alertmanager.mode `off`" in message


def test_every_severity_that_nobody_receives_is_named() -> None:
    message = refusal(alertmanager={"receivers": {"P1": [HOOK]}})
    assert "has nobody for P0, P2, P3, watchdog, so" in message


@pytest.mark.parametrize("alertmanager", [{"mode": "off"}, {"mode": "existing", "existing": TEAM}])
def test_receivers_are_not_asked_for_where_nothing_of_ours_tells_them(alertmanager: dict[str, Any]) -> None:
    assert settings("staging", alertmanager={"receivers": {}, **alertmanager})


@pytest.mark.parametrize(
    ("mode", "addresses", "count"), [("existing", [], 0), ("managed", TEAM, 1), ("off", TEAM, 1)], ids=str
)
def test_addresses_go_with_the_mode_that_uses_them(mode: str, addresses: list[Any], count: int) -> None:
    message = refusal(alertmanager={"mode": mode, "existing": addresses})
    assert (
        f"plumbline:alertmanager.mode is `{mode}` and plumbline:alertmanager.existing has {count} addresses" in message
    )
    assert "accepted: at least one for `existing`, none otherwise" in message


def test_addresses_beside_a_prometheus_that_has_its_own_are_refused() -> None:
    with pytest.raises(DeployError) as caught:
        existing(alertmanager={"mode": "existing", "existing": TEAM})
    assert "alertmanager.existing has 1 addresses, and a Prometheus that runs already" in str(caught.value)
    assert existing(alertmanager={"mode": "existing"})
    assert existing(alertmanager={"mode": "off"})


@pytest.mark.parametrize("other", [{"mode": "off"}, {"mode": "existing", "existing": TEAM}])
def test_sink_of_receivers_that_the_stack_does_not_know_is_refused(other: dict[str, Any]) -> None:
    message = refusal(alertmanager={"sink": SINK, **other})
    assert f"plumbline:alertmanager.sink is set and plumbline:alertmanager.mode is `{other['mode']}`" in message
    assert settings("staging", alertmanager={"sink": SINK})


@pytest.mark.parametrize(
    ("hook", "words"), [({}, "has no address"), ({**HOOK, "url_secret": ENTRY}, "has two addresses")], ids=str
)
def test_webhook_has_one_address(hook: dict[str, Any], words: str) -> None:
    message = refusal(alertmanager={"receivers": RECEIVERS | {"P2": [HOOK, hook]}})
    assert f"plumbline:alertmanager.receivers.P2[1] {words}; accepted: url or url_secret, exactly one" in message


def test_workload_label_of_an_unknown_identity_is_refused_with_those_known() -> None:
    message = refusal(workload_labels={"teem": "example.org/team"})
    assert "plumbline:workload_labels.teem is no identity of a workload; accepted: team, workload, job_id" in message


@pytest.mark.parametrize("label", ["", "a b", "-team", "Example.org/team", "example.org/", "team_"])
def test_workload_label_that_no_pod_can_have_is_refused(label: str) -> None:
    assert f"plumbline:workload_labels.team is `{label}`; accepted: the name of a pod label" in refusal(
        workload_labels={"team": label}
    )


def test_pod_label_of_two_identities_is_refused() -> None:
    message = refusal(workload_labels={"team": "example.org/x", "workload": "example.org/x"})
    assert "plumbline:workload_labels gives `example.org/x` to two identities" in message


def test_workload_labels_of_all_identities_are_accepted() -> None:
    chosen = {key: f"example.org/{key}" for key in WORKLOAD_IDENTITY} | {"team": "team"}
    assert settings("staging", workload_labels=chosen).workload_labels == chosen


SMALL = {"nodes": 1, "gpu_nodes": 1, "gpus_per_node": 8, "pods": 200, "pods_per_node": 1}
"""cAdvisor of the one node: 1.5 · (400 + 130 · 1) = 795 samples. kube-state-metrics: 1.5 · (1500 + 60 · 200 + 60)."""
KUBE_STATE_SAMPLES = 20_340


def test_limit_far_below_what_is_planned_is_refused_by_producer() -> None:
    with pytest.raises(DeployError) as caught:
        settings("staging", None, sizing=SMALL, prometheus={"limits": {"samples": KUBE_STATE_SAMPLES // 2 - 1}})
    assert (
        f"plumbline:prometheus.limits.samples 10169 is far below the {KUBE_STATE_SAMPLES} samples that plumbline:sizing"
        " plans for one scrape of kube-state-metrics; such a scrape would be thrown away whole"
    ) in str(caught.value)


def test_limit_of_half_of_what_is_planned_is_no_slip() -> None:
    """The limit of the API server's page is larger: 1.5 · 15000 / 2."""
    assert settings("staging", None, sizing=SMALL, prometheus={"limits": {"samples": 11_250}})


def test_limit_of_a_prometheus_that_runs_already_is_named_by_its_own_section() -> None:
    with pytest.raises(DeployError, match=r"plumbline:existing_prometheus\.limits\.samples 1000 is far below"):
        existing(existing_prometheus={"limits": {"samples": 1000}})


def test_page_that_nobody_scrapes_needs_no_room() -> None:
    """The API server's page, which would need 22 500 samples, is scraped by the team's own jobs alone."""
    tight = {"limits": {"samples": 5_250}}
    sizing = {**SMALL, "pods": 20}
    assert existing(sizing=sizing, existing_prometheus=tight)
    with pytest.raises(DeployError, match="one scrape of apiserver"):
        existing(sizing=sizing, existing_prometheus={**tight, "jobs": ["apiserver"]})


def test_series_of_pods_that_share_a_gpu_are_planned_for() -> None:
    message = refusal(dcgm_exporter={"virtual_gpus": True})
    assert "plumbline:dcgm_exporter.virtual_gpus is true and plumbline:sizing.pods_per_gpu is 1" in message
    assert "fix: pulumi config set --path 'plumbline:sizing.pods_per_gpu' 4" in message
    assert settings("staging", dcgm_exporter={"virtual_gpus": True}, sizing={"pods_per_gpu": 4})
    assert settings("staging", dcgm_exporter={"mode": "off", "virtual_gpus": True})


@pytest.mark.parametrize("key", ["gpu_nodes", "gpus_per_node"])
def test_gpus_that_are_measured_are_planned_for(key: str) -> None:
    message = refusal(sizing={key: 0})
    assert f"plumbline:sizing.{key} is 0, and plumbline:dcgm_exporter.mode `managed` measures GPUs" in message
    outside = {"mode": "off", "targets": [{"node": "a", "address": "a:9400"}]}
    assert f"plumbline:sizing.{key} is 0" in refusal(sizing={key: 0}, dcgm_exporter=outside)
    assert settings("staging", sizing={key: 0}, dcgm_exporter={"mode": "off"})


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"dcgm_exporter": {"may_be_empty": True, "mode": "off"}}, "has mode `off`: there is a target always or never"),
        (
            {"dcgm_exporter": {"may_be_empty": True, "targets": [{"node": "a", "address": "a:1"}]}},
            "names targets: there is a target always or never",
        ),
        (
            {"dcgm_exporter": {"may_be_empty": True}, "kube_state_metrics": {"mode": "off"}},
            "nothing tells an empty pool from a lost exporter",
        ),
    ],
)
def test_empty_pool_must_be_possible_and_seen(sections: dict[str, Any], words: str) -> None:
    assert words in refusal(**sections)
    assert settings("staging", None, dcgm_exporter={"may_be_empty": True})
