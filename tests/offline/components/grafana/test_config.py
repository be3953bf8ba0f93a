"""What Grafana is told: doors that are closed, datasources field by field, boards and where they lie."""

from __future__ import annotations

from configparser import ConfigParser
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from components.errors import DeployError
from components.grafana.args import Plugins
from components.grafana.config import provider, render
from components.grafana.datasources import datasources, datasources_file
from components.grafana.lint import complaints, lint
from tests.offline.components.grafana.examples import BOARDS, DATABASE, ELSEWHERE, SQLITE, STORES, board

if TYPE_CHECKING:
    from components.grafana.args import GrafanaArgs

KNOWN = frozenset({"plumbline-prometheus", "plumbline-alertmanager", "plumbline-victorialogs", "plumbline-jaeger"})


def ini(args: GrafanaArgs = SQLITE) -> ConfigParser:
    """The file as a parser of such files reads it: words of Grafana's own are left as they are."""
    found = ConfigParser(interpolation=None)
    found.read_string(render(args).files["grafana.ini"])
    return found


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("auth.anonymous", "enabled", "false"),
        ("users", "allow_sign_up", "false"),
        ("users", "allow_org_create", "false"),
        ("security", "disable_gravatar", "true"),
        ("security", "allow_embedding", "false"),
        ("security", "admin_user", "admin"),
        ("security", "admin_password", "$__file{/etc/grafana-secrets/admin-password}"),
        ("security", "secret_key", "$__file{/etc/grafana-secrets/encryption-key}"),
        ("analytics", "reporting_enabled", "false"),
        ("analytics", "check_for_updates", "false"),
        ("analytics", "check_for_plugin_updates", "false"),
        ("snapshots", "external_enabled", "false"),
        ("public_dashboards", "enabled", "false"),
        ("news", "news_feed_enabled", "false"),
        ("plugins", "plugin_admin_enabled", "false"),
        ("plugins", "preinstall_disabled", "true"),
        ("unified_alerting", "execute_alerts", "false"),
        ("metrics", "enabled", "true"),
        ("paths", "plugins", "/var/lib/grafana-plugins"),
    ],
)
def test_doors_are_closed_and_secrets_are_named_by_their_files(section: str, key: str, value: str) -> None:
    assert ini()[section][key] == value


def test_first_account_is_made_by_grafana_itself() -> None:
    assert "disable_initial_admin_creation" not in ini()["security"]


def test_cookies_go_over_tls_alone_where_people_come_by_tls() -> None:
    assert ini()["security"]["cookie_secure"] == "false"
    assert "root_url" not in ini()["server"]
    assert ini(ELSEWHERE)["security"]["cookie_secure"] == "true"
    assert ini(ELSEWHERE)["server"]["root_url"] == "https://grafana.example.com"
    plain = replace(ELSEWHERE, root_url="http://grafana.example.com")
    assert ini(plain)["security"]["cookie_secure"] == "false"


def test_database_on_a_claim_is_a_file() -> None:
    assert dict(ini()["database"]) == {"type": "sqlite3", "path": "grafana.db"}
    assert ini()["paths"]["data"] == "/var/lib/grafana"


@pytest.mark.parametrize(
    ("kind", "tls", "mode"),
    [
        ("postgres", "verify", "verify-full"),
        ("postgres", "encrypt", "require"),
        ("postgres", "off", "disable"),
        ("mysql", "verify", "true"),
        ("mysql", "encrypt", "skip-verify"),
        ("mysql", "off", "false"),
    ],
)
def test_database_elsewhere_is_spoken_to_as_the_settings_say(kind: Any, tls: Any, mode: str) -> None:  # noqa: ANN401  # words of both
    found = dict(ini(replace(ELSEWHERE, database=replace(DATABASE, kind=kind, tls=tls)))["database"])
    name = {"server_cert_name": "db.example.com"} if mode == "true" else {}
    assert found == {
        "type": kind,
        "host": "db.example.com:5432",
        "name": "grafana",
        "user": "grafana",
        "password": "$__file{/etc/grafana-secrets/database-password}",
        "ssl_mode": mode,
        "ca_cert_path": "/etc/grafana-secrets/database-ca.crt",
        **name,
    }


def test_plugins_are_fetched_before_grafana_serves_and_none_that_nobody_asked_for() -> None:
    found = ini(replace(ELSEWHERE, plugins=Plugins(names=("a-b@1.0", "c@2.1"))))["plugins"]
    assert (found["preinstall"], found["preinstall_async"]) == ("a-b@1.0,c@2.1", "false")
    assert "preinstall_disabled" not in found
    assert "grafana-lokiexplore-app" in found["disable_plugins"].split(",")
    assert ini(ELSEWHERE)["plugins"]["preinstall_disabled"] == "true"


def sources(text: str) -> dict[str, dict[str, Any]]:
    return {one["uid"]: one for one in yaml.safe_load(text)["datasources"]}


def test_datasources_field_by_field() -> None:
    """Beside what is the same for all: nobody changes them, and Grafana asks for whoever looks."""
    found = sources(datasources_file(STORES, default=True))
    assert {uid: (one["type"], one["url"], one["isDefault"]) for uid, one in found.items()} == {
        "plumbline-prometheus": ("prometheus", "http://prometheus.plumbline.svc:9090", True),
        "plumbline-alertmanager": ("alertmanager", "http://alertmanager.plumbline.svc:9093", False),
        "plumbline-victorialogs": (
            "victoriametrics-logs-datasource",
            "http://victoria-logs.plumbline.svc:9428",
            False,
        ),
        "plumbline-jaeger": ("jaeger", "http://jaeger.plumbline.svc:16686", False),
    }
    for one in found.values():
        assert (one["access"], one["orgId"], one["editable"]) == ("proxy", 1, False)
    assert len({one["name"] for one in found.values()}) == len(found)


def test_datasources_lead_to_each_other() -> None:
    """A `$` that is Grafana's own is doubled: provisioning takes a single one for a variable of the environment."""
    options = {uid: one["jsonData"] for uid, one in sources(datasources_file(STORES, default=True)).items()}
    assert options["plumbline-prometheus"] == {
        "httpMethod": "POST",
        "prometheusType": "Prometheus",
        "timeInterval": "15s",
        "manageAlerts": True,
        "alertmanagerUid": "plumbline-alertmanager",
        "exemplarTraceIdDestinations": [{"name": "trace_id", "datasourceUid": "plumbline-jaeger"}],
    }
    assert options["plumbline-alertmanager"] == {"implementation": "prometheus", "handleGrafanaManagedAlerts": False}
    (link,) = options["plumbline-victorialogs"]["derivedFields"]
    assert (link["matcherType"], link["matcherRegex"]) == ("label", "trace_id")
    assert (link["datasourceUid"], link["url"]) == ("plumbline-jaeger", "$${__value.raw}")
    back = options["plumbline-jaeger"]["tracesToLogsV2"]
    assert (back["datasourceUid"], back["query"]) == ("plumbline-victorialogs", 'trace_id:="$${__span.traceId}"')


def test_a_store_that_is_not_there_is_no_datasource_and_nothing_leads_to_it() -> None:
    alone = replace(STORES, alertmanager=None, logs=None, traces=None)
    found = sources(datasources_file(alone, default=True))
    assert list(found) == ["plumbline-prometheus"]
    assert set(found["plumbline-prometheus"]["jsonData"]) == {
        "httpMethod",
        "prometheusType",
        "timeInterval",
        "manageAlerts",
    }
    for without in (replace(STORES, logs=None), replace(STORES, traces=None)):
        text = datasources_file(without, default=True)
        missing = "plumbline-victorialogs" if without.logs is None else "plumbline-jaeger"
        assert missing not in text


def test_boards_lie_in_one_folder_that_nobody_changes_and_those_that_are_gone_go() -> None:
    (found,) = provider()["providers"]
    assert (found["folder"], found["folderUid"], found["options"]["path"]) == (
        "Plumbline",
        "plumbline",
        "/etc/grafana-boards",
    )
    assert found["allowUiUpdates"] is False
    assert found["disableDeletion"] is False


def test_files_say_no_secret() -> None:
    for args in (SQLITE, ELSEWHERE):
        for text in render(args).files.values():
            assert "hunter2" not in text
            assert all("$__file{" in line for line in text.splitlines() if line.startswith(("password", "secret_key")))


def test_boards_of_the_examples_are_right() -> None:
    lint(STORES, BOARDS)


ASKS_ANOTHER = {"uid": "prometheus", "type": "prometheus"}


@pytest.mark.parametrize(
    ("boards", "said"),
    [
        (
            {"a.json": board(panels=[{"title": "Hot", "datasource": ASKS_ANOTHER, "targets": []}])},
            "panel `Hot` of a.json asks datasource `prometheus`; this stack has",
        ),
        (
            {"a.json": board(panels=[{"title": "Hot", "targets": [{"datasource": ASKS_ANOTHER}]}])},
            "panel `Hot` of a.json asks datasource `prometheus`",
        ),
        (
            {"a.json": board(panels=[{"panels": [{"title": "In a row", "targets": [], "datasource": ASKS_ANOTHER}]}])},
            "panel `In a row` of a.json",
        ),
        ({"a.json": board(templating={"list": [{"datasource": ASKS_ANOTHER}]})}, "a.json asks datasource `prometheus`"),
        ({"a.json": board(annotations={"list": [{"datasource": "old"}]})}, "a.json asks datasource `old`"),
        ({"a.json": board(templating={"list": [{"datasource": "${DS_PROMETHEUS}"}]})}, "a.json has `${DS_…}`"),
        ({"a.json": board(__inputs=[])}, "a.json has `__inputs`"),
        ({"a.json": board(), "b.json": board(title="Other")}, "b.json has the uid `plumbline-one` of a.json"),
        ({"a.json": board(), "b.json": board(uid="other")}, "b.json has the title `One` of a.json"),
        ({"a.json": board(uid="")}, "a.json has no uid"),
    ],
    ids=[
        *("panel", "query", "in a row", "variable", "annotation", "placeholder", "inputs", "uid twice", "title twice"),
        "no uid",
    ],
)
def test_a_board_that_would_stay_empty_is_refused_by_name(boards: dict[str, str], said: str) -> None:
    assert any(said in line for line in complaints(KNOWN, boards))
    with pytest.raises(DeployError, match="boards of Grafana:"):
        lint(STORES, boards)


def test_deleted_datasource_names_every_panel_that_asked_it() -> None:
    found = list(complaints(KNOWN - {"plumbline-prometheus"}, BOARDS))
    assert [line.partition(" asks")[0] for line in found] == [
        "panel `Up` of plumbline-one.json",
        "panel `Up` of plumbline-two.json",
    ]


def test_datasources_that_every_grafana_has_are_known() -> None:
    own = {"list": [{"datasource": "-- Grafana --"}, {"datasource": {"uid": "-- Grafana --", "type": "grafana"}}]}
    assert list(complaints(KNOWN, {"a.json": board(annotations=own)})) == []


def test_uids_of_datasources_are_those_that_they_have_always_had() -> None:
    """Changed, Grafana would read no further in the file, and say so nowhere. Written by hand, for good."""
    assert [source.uid for source in datasources(STORES)] == [
        "plumbline-prometheus",
        "plumbline-alertmanager",
        "plumbline-victorialogs",
        "plumbline-jaeger",
    ]
