"""Grafana: what settings make of it, what they may not say, and what the contract promises of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.grafana.lint import lint
from components.grafana.names import LOGS_PLUGIN
from signals.dashboards import boards
from stacks import grafana_arguments
from stacks.bundle import plan
from stacks.grafana_arguments import board_inputs, grafana_args, stores
from stacks.grafana_systems import promised
from stacks.systems import systems
from tests.offline.stacks.examples import BUILT, ROOT_SECRET, existing, settings
from tests.offline.stacks.grafana_examples import MANAGED, PLUGIN, POSTGRES, THEIRS, grafana, kind
from tests.offline.stacks.telemetry_examples import ON

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Board
    from stacks.contract import Grafana
    from stacks.settings import Settings
    from stacks.system import System

CLUSTERS = ("staging", "prod", "kind", "local")


def system(found: Settings) -> System:
    (one,) = [one for one in systems(found, BUILT) if one.name == "grafana"]
    return one


def promise(found: Settings) -> Grafana:
    told = plan(found).contract.grafana
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("stack", "uids"),
    [
        ("staging", ["plumbline-prometheus", "plumbline-alertmanager"]),
        ("prod", ["plumbline-prometheus", "plumbline-alertmanager"]),
        ("kind", ["plumbline-prometheus"]),
        ("local", ["plumbline-prometheus", "plumbline-alertmanager", "plumbline-jaeger"]),
    ],
)
def test_uids_of_every_stack_are_those_that_they_have_always_had(stack: str, uids: list[str]) -> None:
    """Written by hand and never changed: after another one Grafana would read no further in its file, and say nothing.

    Stacks whose files have none are asked what they would get.
    """
    found = grafana_args(grafana(stack, mode="managed"), BUILT).stores
    assert [source.uid for source in promised_sources(grafana(stack, mode="managed"))] == uids
    assert found.prometheus == "http://prometheus.plumbline.svc:9090"


def promised_sources(found: Settings) -> tuple[Any, ...]:
    told = promised(found)
    assert told is not None
    return told.datasources


def test_two_boards_of_one_uid_are_refused_by_both_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(inputs: BoardInputs) -> tuple[Board, ...]:
        first, second, *rest = boards(inputs)
        return (first, replace(second, uid=first.uid), *rest)

    monkeypatch.setattr(grafana_arguments, "boards", twice)
    args = grafana_args(grafana("staging", mode="managed"), BUILT)
    with pytest.raises(DeployError) as caught:
        lint(args.stores, args.boards)
    assert "plumbline-platform.json has the uid `plumbline-platform` of plumbline-platform-1.json" in str(caught.value)


def test_stack_files_that_are_off_promise_nothing() -> None:
    for stack in ("local", "kind"):
        assert settings(stack).grafana.mode == "off"
    assert plan(settings("kind")).contract.grafana is None
    assert "grafana" not in plan(settings("kind")).contract.components


def test_contract_says_datasources_field_by_field_and_boards_by_their_hash() -> None:
    told = promise(settings("staging"))
    assert [source.model_dump() for source in told.datasources] == [
        {
            "uid": "plumbline-prometheus",
            "name": "Plumbline Prometheus",
            "type": "prometheus",
            "url": "http://prometheus.plumbline.svc:9090",
        },
        {
            "uid": "plumbline-alertmanager",
            "name": "Plumbline Alertmanager",
            "type": "alertmanager",
            "url": "http://alertmanager.plumbline.svc:9093",
        },
    ]
    assert told.folder == "plumbline"
    deployed = system(settings("staging")).manifests["boards-0"]["data"]
    assert told.boards == {
        file.removesuffix(".json"): hashlib.sha256(text.encode()).hexdigest() for file, text in deployed.items()
    }
    assert "plumbline-gpu-fleet" in told.boards


def test_hash_of_a_board_can_be_worked_out_from_what_grafana_answers() -> None:
    """The file is the JSON with keys in order, an indent of one, and a line's end: as contract.py says."""
    for text in system(settings("staging")).manifests["boards-0"]["data"].values():
        again = json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        assert again == text


def test_component_names_its_login_and_never_what_it_is() -> None:
    found = system(settings("staging")).promise
    assert found.secrets["admin"].model_dump() == {"namespace": "plumbline", "name": "grafana-login", "key": "password"}
    assert found.endpoints["http"].model_dump(exclude_none=True) == {
        "service": "grafana",
        "port": 3000,
        "scheme": "http",
    }
    (claim,) = found.claims
    assert (claim.name, claim.size, claim.mounted_at) == ("grafana-data", "5Gi", "/var/lib/grafana")
    (runs,) = found.workloads
    assert (runs.kind, runs.replicas, runs.init_images) == ("Deployment", 1, (BUILT["grafana"].reference,))
    derived = system(settings("kind", None, grafana=MANAGED)).promise
    assert (derived.secrets["admin"].name, derived.secrets["admin"].key) == ("grafana-generated", "admin-password")


def test_database_elsewhere_has_no_claim_and_any_number_of_replicas() -> None:
    found = system(grafana(replicas=3, database=POSTGRES)).promise
    assert found.claims == ()
    assert [workload.replicas for workload in found.workloads] == [3]
    args = grafana_args(grafana(database=POSTGRES | {"kind": "mysql", "authority_key": "ca.crt"}), BUILT)
    assert vars(args.database)["port"] == 3306
    assert vars(args.database)["authority"].key == "ca.crt"
    assert vars(grafana_args(grafana(database=POSTGRES), BUILT).database)["port"] == 5432


def test_version_of_a_plugin_is_asked_for() -> None:
    with pytest.raises(DeployError, match="accepted is `id@version`"):
        plan(grafana(plugins={"source": "preinstall", "names": [LOGS_PLUGIN]}))


def test_logs_are_shown_where_the_plugin_is_and_nowhere_else() -> None:
    """Without it each panel of logs would be an error, so boards are made without them too."""
    with_it = settings("staging", None, **ON, grafana={"plugins": PLUGIN})
    without = settings("staging", None, **ON)
    assert stores(with_it).logs == "http://victoria-logs.plumbline.svc:9428"
    assert stores(without).logs is None
    assert "plumbline-victorialogs" in board_inputs(with_it).sources
    assert board_inputs(without).sources == {"plumbline-prometheus", "plumbline-alertmanager", "plumbline-jaeger"}


def test_stores_of_somebody_else_are_no_datasources_but_their_prometheus_is() -> None:
    told = {"alertmanager": {"mode": "existing", "existing": [{"address": "am.team:9093"}]}}
    assert stores(settings("staging", None, **told)).alertmanager is None
    found = stores(existing("staging", None, existing_prometheus={"interval": "1m"}))
    assert (found.prometheus, found.interval) == ("http://prometheus-operated.team-monitoring.svc:9090", "1m")


def test_runs_lead_to_swanlab_where_people_get_in() -> None:
    lab = {"mode": "managed", "public_host": "https://swanlab.example.com"}
    assert board_inputs(settings("staging", None, swanlab=lab)).run_url == (
        "https://swanlab.example.com/@{team}/{job_id}/runs/{run_id}/chart"
    )
    assert board_inputs(settings("staging")).run_url == ""


def test_grafana_that_runs_already_gets_content_and_a_way_to_each_store() -> None:
    found = system(settings("staging", None, **ON, grafana=THEIRS | {"plugins": PLUGIN}))
    assert not [m for m in found.manifests.values() if m["kind"] in ("Deployment", "Secret", "PersistentVolumeClaim")]
    opened = {role for role in found.manifests if role.startswith("network-policy-")}
    stores_ = ("prometheus", "alertmanager", "victoria-logs", "jaeger")
    assert opened == {f"network-policy-{name}" for name in stores_}
    assert (found.promise.managed, found.promise.namespace) == (False, "team-grafana")
    assert found.promise.endpoints["http"].model_dump(exclude_none=True) == {
        "service": "grafana",
        "namespace": "team-grafana",
        "port": 80,
        "scheme": "http",
    }
    assert promise(settings("staging", None, grafana=THEIRS)).folder is None


def test_grafana_that_runs_already_is_let_in_by_the_policies_of_this_stack_alone() -> None:
    theirs = existing("staging", None, grafana=THEIRS)
    opened = {role for role in system(theirs).manifests if role.startswith("network-policy-")}
    assert opened == {"network-policy-alertmanager"}
    none = settings("staging", None, grafana=THEIRS, network={"policies": False})
    assert not [role for role in system(none).manifests if role.startswith("network-policy-")]


def test_root_secret_is_needed_where_something_is_derived_and_only_there() -> None:
    system(settings("prod")).lint()
    system(kind()).lint()
    with pytest.raises(DeployError, match="derives passwords and has no root secret"):
        system(settings("kind", None, grafana=MANAGED)).lint()


@pytest.mark.parametrize("stack", CLUSTERS)
def test_every_stack_can_have_grafana(stack: str) -> None:
    """Stack local has no image of it, and gets the same objects where somebody gives it one."""
    found = settings(stack, None, grafana=MANAGED | {"plugins": PLUGIN}, secrets={"root": ROOT_SECRET})
    one = system(found)
    one.lint()
    assert {"config", "data", "service", "deployment", "network-policy"} <= set(one.manifests)
