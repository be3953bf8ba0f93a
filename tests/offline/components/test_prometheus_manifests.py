"""Decisions about Prometheus' objects that a golden file shows but does not explain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.prometheus.args import BasicAuth, PrometheusArgs, RemoteWrite
from components.prometheus.config import render
from components.prometheus.manifests import manifests
from components.prometheus.names import FLAGS, arguments
from tests.offline.stacks.examples import local_args

if TYPE_CHECKING:
    from components.objects import Manifest

OFF = {"mode": "off"}


def built(args: PrometheusArgs | None = None) -> dict[str, Manifest]:
    wanted = args or local_args()
    return manifests(wanted, render(wanted))


def template(args: PrometheusArgs | None = None) -> dict[str, Any]:
    found: dict[str, Any] = built(args)["stateful-set"]["spec"]["template"]
    return found


def container(args: PrometheusArgs | None = None) -> dict[str, Any]:
    found: dict[str, Any] = template(args)["spec"]["containers"][0]
    return found


def test_new_configuration_does_not_restart_the_pod() -> None:
    changed = replace(local_args(), scrape_interval="60s", retention="3d", retention_size="1GB")
    assert built(changed)["config"] != built()["config"]
    assert template(changed) == template()


def test_new_image_does_restart_the_pod_and_leaves_selectors_alone() -> None:
    changed = replace(local_args(), image=replace(local_args().image, reference="quay.io/p/p:v4"))
    assert template(changed) != template()
    assert built(changed)["stateful-set"]["spec"]["selector"] == built()["stateful-set"]["spec"]["selector"]


def test_larger_volume_changes_the_claim_alone() -> None:
    changed, base = built(replace(local_args(), volume="8Gi")), built()
    assert {role for role in base if changed[role] != base[role]} == {"data"}


def test_configuration_is_mounted_as_a_directory() -> None:
    mounts = {mount["name"]: mount for mount in container()["volumeMounts"]}
    assert mounts["config"] == {"name": "config", "mountPath": "/etc/prometheus", "readOnly": True}
    assert "subPath" not in mounts["data"]


def test_the_claim_alone_says_whose_data_it_is() -> None:
    marks = {role: found["metadata"]["labels"].get("plumbline/stack") for role, found in built().items()}
    assert {role: mark for role, mark in marks.items() if mark is not None} == {"data": "local"}


def test_data_lies_on_the_claim() -> None:
    volumes = {volume["name"]: volume for volume in template()["spec"]["volumes"]}
    assert volumes["data"]["persistentVolumeClaim"] == {"claimName": "prometheus-data"}
    assert built()["data"]["metadata"]["name"] == "prometheus-data"


def test_all_files_are_in_one_config_map() -> None:
    assert built()["config"]["data"] == render(local_args()).files


def test_switches_take_no_value_and_closed_doors_are_left_out() -> None:
    assert arguments() == [
        "--config.file=/etc/prometheus/prometheus.yml",
        "--config.auto-reload",
        "--config.auto-reload-interval=5s",
        "--storage.tsdb.path=/prometheus",
    ]
    assert FLAGS["web.enable-lifecycle"] == "false"
    assert FLAGS["web.enable-admin-api"] == "false"


def test_the_log_may_be_replayed_for_half_an_hour() -> None:
    probe = container()["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == 1800


def test_a_stopping_prometheus_gets_time() -> None:
    assert template()["spec"]["terminationGracePeriodSeconds"] >= 120


def test_a_pod_that_never_became_ready_does_not_block_its_repair() -> None:
    assert built()["stateful-set"]["spec"]["podManagementPolicy"] == "Parallel"


def test_rights_are_read_only() -> None:
    verbs = {verb for rule in built()["cluster-role"]["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch"}


def test_rights_stop_short_of_secrets_and_node_proxy() -> None:
    resources = {name for rule in built()["cluster-role"]["rules"] for name in rule.get("resources", ())}
    assert resources == {"nodes", "nodes/metrics", "pods", "services", "endpointslices"}


def test_cluster_scoped_names_hold_the_namespace() -> None:
    found = built(replace(local_args(), namespace="other"))
    assert found["cluster-role"]["metadata"]["name"] == "other-prometheus"
    assert found["cluster-role-binding"]["subjects"][0]["namespace"] == "other"


def test_network_policy_opens_one_port_to_the_own_namespace() -> None:
    assert built()["network-policy"]["spec"] == {
        "podSelector": {
            "matchLabels": {"app.kubernetes.io/name": "prometheus", "app.kubernetes.io/instance": "plumbline"}
        },
        "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 9090, "protocol": "TCP"}]}],
        "policyTypes": ["Ingress"],
    }


def test_network_policy_can_be_left_out() -> None:
    assert "network-policy" not in built(
        local_args(network={"policies": False}, object_store=OFF, swanlab=OFF, recovery=OFF)
    )


@pytest.mark.parametrize(("storage_class", "expected"), [(None, None), ("fast", "fast")])
def test_storage_class_is_left_to_the_cluster_unless_named(storage_class: str | None, expected: str | None) -> None:
    found = built(replace(local_args(), storage_class=storage_class))["data"]["spec"]
    assert found.get("storageClassName") == expected
    assert ("storageClassName" in found) == (expected is not None)


def test_processor_limit_is_set_only_if_asked_for() -> None:
    assert container()["resources"]["limits"] == {"memory": "1Gi"}
    limited = local_args(prometheus={"resources": {"limits": {"memory": "1Gi", "cpu": "2"}}})
    assert container(limited)["resources"]["limits"] == {"memory": "1Gi", "cpu": "2"}


def test_login_of_a_store_is_mounted_from_the_existing_secret() -> None:
    auth = BasicAuth(secret="login", username_key="u", password_key="p")  # noqa: S106  # names of keys
    stores = (RemoteWrite(name="a", url="https://a", basic_auth=auth), RemoteWrite(name="b", url="https://b"))
    args = replace(local_args(), remote_write=stores)
    assert {"name": "secret-a", "secret": {"secretName": "login"}} in template(args)["spec"]["volumes"]
    assert {"name": "secret-a", "mountPath": "/etc/prometheus-secrets/a", "readOnly": True} in (
        container(args)["volumeMounts"]
    )
    assert len(template(args)["spec"]["volumes"]) == 3


def test_name_of_a_store_that_makes_no_volume_name_is_refused() -> None:
    auth = BasicAuth(secret="login", username_key="u", password_key="p")  # noqa: S106  # names of keys
    store = RemoteWrite(name="a" * 60, url="https://a", basic_auth=auth)
    with pytest.raises(DeployError, match="has 67 characters, 63 are accepted"):
        built(replace(local_args(), remote_write=(store,)))
