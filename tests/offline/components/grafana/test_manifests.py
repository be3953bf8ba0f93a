"""Grafana: what its arguments decide, how a password rotates, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components.errors import DeployError
from components.grafana.args import GrafanaArgs, Plugins, Sqlite
from components.grafana.component import Grafana
from components.grafana.config import render
from components.grafana.existing import render as render_existing
from components.grafana.existing_component import ExistingGrafana
from components.grafana.manifests import derives, manifests, secrets
from components.grafana.names import SECRET
from components.secrets import ROOT, Existing, derive, fingerprint
from tests.offline.components.grafana.examples import BOARDS, DATABASE, ELSEWHERE, EXISTING, SQLITE, board
from tests.offline.components.pulumi_mocks import record, taken_uids
from tests.offline.stacks.examples import ROOT_SECRET

Manifest = dict[str, Any]


def built(args: GrafanaArgs = SQLITE) -> dict[str, Manifest]:
    return manifests(args, render(args))


def pod(args: GrafanaArgs = SQLITE) -> Manifest:
    found: Manifest = built(args)["deployment"]["spec"]["template"]["spec"]
    return found


def marks(args: GrafanaArgs = SQLITE) -> dict[str, str]:
    found: dict[str, str] = built(args)["deployment"]["spec"]["template"]["metadata"]["annotations"]
    return found


def volume(name: str, args: GrafanaArgs = SQLITE) -> Manifest:
    (found,) = [one for one in pod(args)["volumes"] if one["name"] == name]
    return dict(found)


def test_password_is_set_before_the_server_starts_and_at_each_start() -> None:
    """A Secret that changed and a database that kept the old password is what this is for."""
    (first,) = pod()["initContainers"]
    (server,) = pod()["containers"]
    assert first["image"] == server["image"]
    assert first["command"] == [
        "/bin/sh",
        "-c",
        "exec grafana cli --homepath /usr/share/grafana --config /etc/grafana/grafana.ini admin reset-admin-password "
        "--password-from-stdin < /etc/grafana-secrets/admin-password",
    ]
    # The same database, key and configuration: with another it would change a password that nobody asks for.
    for key in ("volumeMounts", "env", "securityContext"):
        assert first[key] == server[key]


@pytest.mark.parametrize("args", [SQLITE, ELSEWHERE], ids=["derived", "of somebody else"])
def test_no_secret_is_in_a_variable_or_in_an_argument(args: GrafanaArgs) -> None:
    for container in (*pod(args)["initContainers"], *pod(args)["containers"]):
        assert container.get("env", []) in ([], [{"name": "GF_PATHS_PLUGINS", "value": "/var/lib/grafana-plugins"}])
        assert "envFrom" not in container


@pytest.mark.parametrize("args", [SQLITE, ELSEWHERE], ids=["derived", "of somebody else"])
def test_another_generation_starts_the_pods_anew(args: GrafanaArgs) -> None:
    later = replace(args, generation=args.generation + 1)
    assert marks(args)["plumbline/generation"] == "3"
    assert marks(later)["plumbline/generation"] == "4"


def test_every_secret_lies_under_the_name_that_the_configuration_knows() -> None:
    own = {"secret": {"name": SECRET}}
    assert volume("secrets")["projected"] == {
        "defaultMode": 0o440,
        "sources": [
            {"secret": {**own["secret"], "items": [{"key": file, "path": file}]}}
            for file in ("admin-password", "encryption-key")
        ],
    }
    given = [
        (one["secret"]["name"], one["secret"]["items"][0]["key"], one["secret"]["items"][0]["path"])
        for one in volume("secrets", ELSEWHERE)["projected"]["sources"]
    ]
    assert given == [
        ("grafana-login", "password", "admin-password"),
        ("grafana-encryption", "key", "encryption-key"),
        ("grafana-db", "password", "database-password"),
        ("grafana-db", "ca.crt", "database-ca.crt"),
    ]


def test_a_file_has_one_writer_and_a_database_takes_both() -> None:
    assert built()["deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    assert built()["deployment"]["spec"]["replicas"] == 1
    assert volume("data") == {"name": "data", "persistentVolumeClaim": {"claimName": "grafana-data"}}
    assert built()["data"]["metadata"]["annotations"]["plumbline/retain"] == "true"
    assert built()["data"]["metadata"]["annotations"]["plumbline/generation"] == "3"
    elsewhere = built(ELSEWHERE)
    assert elsewhere["deployment"]["spec"]["strategy"]["type"] == "RollingUpdate"
    assert elsewhere["deployment"]["spec"]["replicas"] == 2
    assert "data" not in elsewhere


def test_a_changed_board_or_setting_starts_the_pods_anew_with_other_files() -> None:
    changed = replace(SQLITE, boards={**BOARDS, "plumbline-two.json": board("plumbline-two", "Other")})
    assert volume("boards", changed) != volume("boards")
    assert volume("config", changed) == volume("config")
    faster = replace(SQLITE, stores=replace(SQLITE.stores, interval="30s"))
    assert volume("config", faster) != volume("config")
    assert marks(faster)["plumbline/config-revision"] != marks()["plumbline/config-revision"]
    for role in ("config", "boards-0"):
        assert built()[role]["immutable"] is True


def test_boards_of_more_than_a_megabyte_are_spread_and_mounted_as_one() -> None:
    text = board(meaning="x" * 400_000)
    many = replace(SQLITE, boards={f"plumbline-{number}.json": text for number in range(5)})
    maps = [manifest for role, manifest in built(many).items() if role.startswith("boards-")]
    assert [len(one["data"]) for one in maps] == [2, 2, 1]  # of 400 kB each, in 900 kB
    sources = volume("boards", many)["projected"]["sources"]
    assert [one["configMap"]["name"] for one in sources] == [one["metadata"]["name"] for one in maps]
    with pytest.raises(DeployError, match=r"board plumbline-one\.json has 9\d{5} bytes"):
        built(replace(SQLITE, boards={"plumbline-one.json": board(meaning="x" * 900_000)}))


def test_nobody_gets_in_but_the_stack_and_whom_the_settings_name() -> None:
    (own,) = built()["network-policy"]["spec"]["ingress"]
    assert own == {"from": [{"podSelector": {}}], "ports": [{"port": 3000, "protocol": "TCP"}]}
    assert "network-policy-opened" not in built()
    (opened,) = built(ELSEWHERE)["network-policy-opened"]["spec"]["ingress"]
    (source,) = opened["from"]
    assert source == {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress"}}}
    assert "network-policy" not in built(replace(SQLITE, network_policies=False))
    assert built()["service"]["spec"]["type"] == "ClusterIP"


def test_pod_has_the_images_user_and_no_token() -> None:
    security = pod()["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"], security["fsGroup"]) == (472, 472, 472)
    assert pod()["automountServiceAccountToken"] is False


def test_a_database_that_does_not_answer_is_no_reason_to_kill_it() -> None:
    (server,) = pod()["containers"]
    paths = {kind: server[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert paths == {"startup": "/healthz", "readiness": "/api/health", "liveness": "/healthz"}


def test_plugins_are_copied_from_their_image_before_anything_else() -> None:
    copied, _ = pod(ELSEWHERE)["initContainers"]
    assert copied["image"] == "registry.example.com/grafana-plugins:1"
    assert copied["command"] == ["/bin/sh", "-c", "exec cp -R /opt/p/. /var/lib/grafana-plugins/"]
    fetched = replace(ELSEWHERE, plugins=Plugins(names=("a-b@1.0",)))
    assert [one["name"] for one in pod(fetched)["initContainers"]] == ["password"]


MYSQL = replace(DATABASE, kind="mysql", authority=None)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (replace(SQLITE, replicas=2), "replicas: 2 with SQLite"),
        (
            replace(ELSEWHERE, root_url="https://example.com/grafana"),
            "root_url: https://example.com/grafana has a path",
        ),
        (replace(ELSEWHERE, plugins=Plugins(names=("a-plugin",))), "plugins: `a-plugin`; accepted is `id@version`"),
        (replace(ELSEWHERE, plugins=Plugins(names=("a@1,b@2",))), "plugins: `a@1,b@2`"),
        (
            replace(ELSEWHERE, plugins=Plugins(names=("a@1",), image="x/y:1", path="/a; rm -r /")),
            "plugins.path: `/a; rm",
        ),
        (replace(ELSEWHERE, database=MYSQL), "database.tls: MySQL with TLS and without its authority"),
        (replace(ELSEWHERE, database=replace(DATABASE, user="a\nb = c")), "database.user"),
        (replace(ELSEWHERE, database=replace(DATABASE, host="a;b")), "database.host: `a;b`"),
    ],
)
def test_what_cannot_work_is_refused(args: GrafanaArgs, said: str) -> None:
    with pytest.raises(DeployError) as found:
        built(args)
    assert said in str(found.value)


def test_database_elsewhere_without_tls_needs_no_authority() -> None:
    assert built(replace(ELSEWHERE, database=replace(MYSQL, tls="off")))


def test_component_registers_what_the_manifests_say_and_starts_the_pods_last() -> None:
    recorded = record(lambda: Grafana("grafana", SQLITE, pulumi.Output.secret(ROOT_SECRET)))
    registered = {r.name: r.inputs for r in recorded.resources if r.type.startswith("kubernetes:")}
    assert taken_uids(registered.values()) == {"grafana": "uid of grafana-config"}
    claim = registered["grafana-data"]["metadata"]["annotations"]
    assert claim.pop(ROOT) == fingerprint(ROOT_SECRET)
    secret = registered.pop("grafana-secret")
    assert registered == {f"grafana-{role}": manifest for role, manifest in built().items()}
    assert set(secret["stringData"]["value"]) == {"admin-password", "encryption-key"}
    before = {"grafana-secret", "grafana-config", "grafana-boards-0", "grafana-data"}
    assert before <= set(recorded.named("grafana-deployment").depends_on)
    assert {r.name for r in recorded.resources if r.retained} == {"grafana-data"}
    assert recorded.outputs["grafana"] == {"revision", "service_name"}


def test_derived_secrets_follow_from_role_and_generation_and_the_rest_is_nobodys() -> None:
    """The key of the database is of generation 1 whatever the password's is: with another, what it encrypts is lost."""
    kept: dict[str, str] = {}

    def program() -> None:
        data = secrets(SQLITE, pulumi.Output.secret(ROOT_SECRET))["secret"]["stringData"]
        for key, value in data.items():
            value.apply(lambda text, key=key: kept.update({key: text}))

    record(program)
    assert kept == {
        "admin-password": derive(ROOT_SECRET, "grafana-admin", 3),
        "encryption-key": derive(ROOT_SECRET, "grafana-encryption", 1),
    }
    assert derives(SQLITE)
    assert derives(replace(ELSEWHERE, encryption=SQLITE.encryption))
    assert not derives(ELSEWHERE)


def test_password_of_somebody_else_is_not_derived_and_the_claim_remembers_none() -> None:
    one = replace(SQLITE, admin=Existing(name="a", key="b"))
    recorded = record(lambda: Grafana("grafana", one, pulumi.Output.secret(ROOT_SECRET)))
    assert set(recorded.named("grafana-secret").inputs["stringData"]["value"]) == {"encryption-key"}
    assert "plumbline/generation" not in built(one)["data"]["metadata"]["annotations"]


def test_nothing_is_derived_without_a_root_secret() -> None:
    recorded = record(lambda: Grafana("grafana", ELSEWHERE, None))
    assert not [r for r in recorded.resources if r.type.endswith(":Secret")]


def test_existing_grafana_gets_content_where_its_sidecar_looks_and_a_way_to_the_stores() -> None:
    found = render_existing(EXISTING).manifests
    assert {role: (m["metadata"]["namespace"], m["metadata"]["name"]) for role, m in found.items()} == {
        "network-policy-prometheus": ("plumbline", "grafana-prometheus"),
        "datasources": ("team-grafana", "plumbline-grafana-datasources"),
        "board-plumbline-one": ("team-grafana", "plumbline-grafana-plumbline-one"),
        "board-plumbline-two": ("team-grafana", "plumbline-grafana-plumbline-two"),
    }
    assert found["datasources"]["metadata"]["labels"]["grafana_datasource"] == "1"
    assert found["board-plumbline-one"]["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert found["board-plumbline-one"]["metadata"]["annotations"] == {"grafana_folder": "Plumbline"}
    assert json.loads(found["board-plumbline-one"]["data"]["plumbline-one.json"])["uid"] == "plumbline-one"
    (rule,) = found["network-policy-prometheus"]["spec"]["ingress"]
    assert rule["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-grafana"}}}]
    assert rule["ports"] == [{"port": 9090, "protocol": "TCP"}]


def test_existing_grafana_is_never_told_which_datasource_is_the_default() -> None:
    """It has one already, and a second is refused by Grafana with everything else in the file."""
    (text,) = render_existing(EXISTING).manifests["datasources"]["data"].values()
    assert "isDefault: true" not in text
    assert "isDefault: true" in render(SQLITE).files["datasources.yaml"]


def test_existing_grafana_is_given_what_was_rendered_and_no_workload() -> None:
    recorded = record(lambda: ExistingGrafana("grafana", EXISTING))
    registered = {r.name: r.inputs for r in recorded.resources if r.type.startswith("kubernetes:")}
    assert registered == {f"grafana-{role}": m for role, m in render_existing(EXISTING).manifests.items()}
    assert recorded.outputs["grafana"] == {"revision"}
    other = replace(EXISTING, boards={"plumbline-one.json": board(title="Other")})
    assert render_existing(other).revision != render_existing(EXISTING).revision
    with pytest.raises(DeployError, match=r"board plumbline-one\.json is larger than a ConfigMap takes"):
        render_existing(replace(EXISTING, boards={"plumbline-one.json": "x" * 1_000_000}))


def test_claim_has_the_class_of_the_settings() -> None:
    fast = replace(SQLITE, database=Sqlite(volume="7Gi", storage_class="fast"))
    assert built(fast)["data"]["spec"]["storageClassName"] == "fast"
    assert built(fast)["data"]["spec"]["resources"]["requests"]["storage"] == "7Gi"
