"""Decisions about Alertmanager's objects that a golden file shows but does not explain."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.alertmanager.args import AlertmanagerArgs, Webhook
from components.alertmanager.component import Alertmanager
from components.alertmanager.config import receivers, render
from components.alertmanager.manifests import manifests
from components.errors import DeployError
from components.policy import violations
from components.secrets import Existing
from signals import alertmanager_config
from signals.alertmanager_config import CONFIG_FILE
from signals.routing import inhibit_rules, route
from tests.offline.components.alertmanager_examples import ARGS, PEOPLE, told
from tests.offline.components.pulumi_mocks import record

if TYPE_CHECKING:
    from components.objects import Manifest


def built(args: AlertmanagerArgs = ARGS) -> dict[str, Manifest]:
    return manifests(args, render(args))


def template(args: AlertmanagerArgs = ARGS) -> dict[str, Any]:
    found: dict[str, Any] = built(args)["stateful-set"]["spec"]["template"]
    return found


def container(args: AlertmanagerArgs = ARGS) -> dict[str, Any]:
    found: dict[str, Any] = template(args)["spec"]["containers"][0]
    return found


def test_no_rule_is_broken() -> None:
    assert violations(built().values()) == []


def test_new_configuration_restarts_the_pod() -> None:
    changed = replace(ARGS, receivers=told("P2", Webhook(url="https://chat.example/other")))
    assert template(changed) != template()
    revisions = {
        meta["annotations"]["plumbline/config-revision"]
        for meta in (template()["metadata"], built()["config"]["metadata"])
    }
    assert revisions == {render(ARGS).revision}


def test_same_configuration_does_not() -> None:
    assert template(replace(ARGS, volume="2Gi")) == template()


def test_larger_volume_changes_the_claim_alone() -> None:
    changed, base = built(replace(ARGS, volume="8Gi")), built()
    assert {role for role in base if changed[role] != base[role]} == {"data"}


def test_claim_is_retained_and_says_whose_it_is() -> None:
    meta = built()["data"]["metadata"]
    assert (meta["annotations"]["plumbline/retain"], meta["labels"]["plumbline/stack"]) == ("true", "local")


def test_command_line() -> None:
    assert container(replace(ARGS, external_url="https://alerts.example/am"))["args"] == [
        "--config.file=/etc/alertmanager/alertmanager.yml",
        "--storage.path=/alertmanager",
        "--data.maintenance-interval=1m",
        "--cluster.listen-address=",
        "--web.listen-address=:9093",
        "--web.route-prefix=/",
        "--data.retention=432000s",
        "--web.external-url=https://alerts.example/am",
    ]


def test_without_an_external_address_none_is_made_up() -> None:
    assert not [text for text in container()["args"] if "external-url" in text]


def test_secrets_are_mounted_with_the_named_keys_and_no_others() -> None:
    volumes = [volume for volume in template()["spec"]["volumes"] if "secret" in volume]
    assert volumes == [
        {"name": "secret-0", "secret": {"secretName": "dead.man", "items": [{"key": "url", "path": "url"}]}},
        {
            "name": "secret-1",
            "secret": {
                "secretName": "pager",
                "items": [{"key": key, "path": key} for key in ("token", "url", "url-p1")],
            },
        },
    ]
    paths = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"] if "secret" in mount["name"]}
    assert paths == {"secret-0": "/etc/alertmanager-secrets/dead.man", "secret-1": "/etc/alertmanager-secrets/pager"}


def test_configuration_names_the_mounted_files() -> None:
    pager = receivers(ARGS)[0].webhooks[0]
    assert (pager.url, pager.url_file, pager.credentials_file) == (
        None,
        "/etc/alertmanager-secrets/pager/url",
        "/etc/alertmanager-secrets/pager/token",
    )


def test_smoke_can_render_the_same_text_from_receivers_alone() -> None:
    names = {receiver.name: receiver.name for receiver in PEOPLE}
    text = alertmanager_config.render(receivers(ARGS), route(names), inhibit_rules())
    assert render(ARGS).files == {CONFIG_FILE: text}


def test_address_and_token_of_a_secret_reach_nothing_but_its_name_and_key() -> None:
    args = replace(ARGS, receivers=told("P0", Webhook(url_secret=Existing(name="canary-name", key="canary-key"))))
    where = {
        role: json.dumps(manifest).count("canary") for role, manifest in built(args).items() if manifest["kind"] != ""
    }
    assert {role for role, hits in where.items() if hits} == {"config", "stateful-set"}
    assert "canary" not in json.dumps(template(args)["spec"]["containers"][0]["args"])
    assert "env" not in template(args)["spec"]["containers"][0]


def test_a_login_in_the_rendered_text_would_break_the_policy() -> None:
    manifest = built()["config"]
    manifest["data"][CONFIG_FILE] += "# https://me:canary@chat.example\n"
    assert ["credentials inside a URL" in found for found in violations([manifest])] == [True]


def test_network_policy_opens_one_port_to_the_own_namespace() -> None:
    assert built()["network-policy"]["spec"]["ingress"] == [
        {"from": [{"podSelector": {}}], "ports": [{"port": 9093, "protocol": "TCP"}]}
    ]
    assert "network-policy" not in built(replace(ARGS, network_policies=False))


def test_pod_has_no_account_of_the_cluster() -> None:
    assert template()["spec"]["automountServiceAccountToken"] is False


def test_component_writes_the_configuration_before_it_starts_the_pod() -> None:
    recorded = record(lambda: Alertmanager("alertmanager", ARGS))
    assert {r.name for r in recorded.resources} == {"alertmanager", *(f"alertmanager-{role}" for role in built())}
    assert {"alertmanager-config", "alertmanager-data"} <= set(recorded.named("alertmanager-stateful-set").depends_on)
    assert {r.name for r in recorded.resources if r.retained} == {"alertmanager-data"}
    assert recorded.outputs["alertmanager"] == {"revision", "service_name"}


def test_nothing_is_rendered_while_a_severity_has_no_receiver() -> None:
    with pytest.raises(DeployError, match="P1: nobody receives alerts of severity P1"):
        render(replace(ARGS, receivers=tuple(one for one in PEOPLE if one.name != "P1")))


def test_a_pod_that_never_became_ready_does_not_block_its_repair() -> None:
    assert built()["stateful-set"]["spec"]["podManagementPolicy"] == "Parallel"


def test_stateful_set_is_named_by_a_service_without_an_address() -> None:
    headless = built()["service-headless"]
    assert built()["stateful-set"]["spec"]["serviceName"] == headless["metadata"]["name"] == "alertmanager-headless"
    assert (headless["spec"]["clusterIP"], "clusterIP" in built()["service"]["spec"]) == ("None", False)
