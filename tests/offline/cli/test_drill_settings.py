"""The drill's stack has what SwanLab needs of the source, on stores that are its own, and the bundle accepts it."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from cli.drill_settings import STACK, Target, derived, namespaces
from components.policy import enforce
from components.swanlab.credentials import source
from sandbox.errors import SandboxError
from stacks.bundle import plan
from stacks.settings import parse
from stacks.swanlab_arguments import swanlab_args
from tests.offline.stacks.examples import BUILT, STACKS, as_pulumi_has_it, completed, write_images

if TYPE_CHECKING:
    from pathlib import Path

TARGET = Target(endpoint="http://recovery-store.plumbline-recovery.svc:8333", bucket="recovery", region="us-east-1")
NOW = datetime(2026, 11, 30, tzinfo=UTC)
EXTERNAL: dict[str, Any] = {
    "postgres": {"mode": "external", "host": "db.example.org", "secret": "db", "volume": "7Gi"},
    "redis": {"mode": "external", "host": "redis.example.org", "secret": "redis"},
    "clickhouse": {"mode": "external", "host": "ch.example.org", "secret": "ch", "generation": 3},
    "s3": {
        "mode": "external",
        "secret": "s3",
        "private": {"bucket": "a", "endpoint": "s3.example.org"},
        "public": {"bucket": "b", "endpoint": "s3.example.org"},
    },
}


@pytest.fixture
def local(tmp_path: Path) -> dict[str, Any]:
    """Settings of `local` as it is deployed."""
    return completed("local", write_images(tmp_path / "images.json"))


def test_bundle_accepts_them_and_plans_without_what_a_drill_does_not_need(local: dict[str, Any]) -> None:
    settings = parse(STACK, as_pulumi_has_it(derived(local, TARGET, set(), NOW)))
    planned = plan(settings)
    enforce(planned.manifests())
    assert {system.name for system in planned.systems} == {
        *("prometheus", "pushgateway", "object-store", "swanlab", "swanlab-gate", "recovery"),
    }
    assert settings.profile == "throwaway"
    promised = planned.contract.recovery
    assert promised is not None
    assert (promised.target, promised.bucket, promised.own) == (TARGET.endpoint, "recovery", False)


def test_nothing_that_is_made_lies_in_a_namespace_of_the_source(local: dict[str, Any]) -> None:
    planned = plan(parse(STACK, as_pulumi_has_it(derived(local, TARGET, set(), NOW))))
    here = {manifest["metadata"].get("namespace", manifest["metadata"]["name"]) for manifest in planned.manifests()}
    foreign = {name for name in here if not name.startswith("plumbline-drill")}
    assert foreign == set()
    assert set(namespaces("plumbline").values()) <= here


def test_objects_are_in_a_store_of_its_own_at_another_port(local: dict[str, Any]) -> None:
    found = derived(local, TARGET, {30833, 30834}, NOW)
    s3 = found["plumbline:swanlab"]["stores"]["s3"]
    assert found["plumbline:object_store"]["node_port"] == 30835
    assert s3["private"]["endpoint"] == "object-store.plumbline-drill.svc"
    assert (s3["public"]["endpoint"], s3["public"]["port"]) == ("10.203.0.1", 30835)


@pytest.mark.parametrize("month", range(1, 13))
def test_its_own_jobs_do_not_come_while_it_is_there(local: dict[str, Any], month: int) -> None:
    schedule = derived(local, TARGET, set(), datetime(2026, month, 28, tzinfo=UTC))["plumbline:recovery"]["schedule"]
    assert set(schedule) == {"create", "verify", "prune"}
    for cron in schedule.values():
        *first, comes, weekday = cron.split()
        assert (first, weekday) == (["0", "0", "1"], "*")
        assert (int(comes) - month) % 12 == 6


def test_source_whose_stores_are_elsewhere_is_never_written_to(local: dict[str, Any]) -> None:
    """What is promoted in the drill replaces what its stores hold."""
    local["plumbline:swanlab"]["stores"] = copy.deepcopy(EXTERNAL)
    found = derived(local, TARGET, set(), NOW)
    assert "example.org" not in json.dumps(found)
    settings = parse(STACK, as_pulumi_has_it(found))
    assert set(swanlab_args(settings, BUILT).own) == {"postgres", "redis", "clickhouse", "s3"}
    assert settings.swanlab.stores.postgres.volume == "7Gi"
    assert settings.swanlab.stores.clickhouse.generation == 4
    assert settings.swanlab.stores.postgres.generation == settings.swanlab.stores.s3.generation == 2


def test_its_stores_have_other_passwords_than_the_source_s(local: dict[str, Any]) -> None:
    """Both follow from one root secret: a restore that works only under the old passwords must be seen."""
    local["plumbline:swanlab"]["stores"]["postgres"] = {"mode": "chart", "generation": 7}
    found = parse(STACK, as_pulumi_has_it(derived(local, TARGET, set(), NOW)))
    here, there = (swanlab_args(of, BUILT) for of in (parse("local", as_pulumi_has_it(local)), found))
    assert [there.own[store].generation for store in ("postgres", "clickhouse")] == [8, 2]
    for store in ("postgres", "clickhouse"):
        assert source(store, here.own[store].generation) != source(store, there.own[store].generation)
    assert found.object_store.generation == 2


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack != "local"])
def test_every_stack_can_be_drilled(stack: str) -> None:
    source = completed(stack)
    image = {"image": "registry.example.org/plumbline/recovery:1"}
    source["plumbline:swanlab"] = {
        **source.get("plumbline:swanlab", {}),
        "mode": "managed",
        "host": "http://a.example.org",
    }
    source["plumbline:recovery"] = {**source.get("plumbline:recovery", {}), "mode": "managed", **image}
    source["plumbline:secrets"] = {"root": "x" * 64}
    source["plumbline:swanlab"].setdefault("gate_image", "registry.example.org/plumbline/gate:1")
    found = derived(source, TARGET, set(), NOW)
    settings = parse(STACK, as_pulumi_has_it(found))
    assert settings.profile == "throwaway"
    assert settings.swanlab.host is None
    assert settings.recovery.image == image["image"]
    assert settings.cluster == parse(stack, as_pulumi_has_it(completed(stack))).cluster


def test_nobody_is_let_in_and_nobody_is_told_of_it(local: dict[str, Any]) -> None:
    local["plumbline:swanlab"] |= {
        "public_host": "https://swanlab.example.org",
        "environment_in": [{"namespace": "team-a"}],
    }
    lab = derived(local, TARGET, set(), NOW)["plumbline:swanlab"]
    assert not {"public_host", "host", "environment_in", "ingress"} & set(lab)


def test_store_whose_other_address_cannot_be_told_is_refused(local: dict[str, Any]) -> None:
    local["plumbline:swanlab"]["stores"]["s3"]["public"] = {"bucket": "swanlab-public", "endpoint": "media.example.org"}
    with pytest.raises(SandboxError, match=r"stores\.s3\.public is at media\.example\.org:443"):
        derived(local, TARGET, set(), NOW)


def test_cluster_without_a_free_port_is_refused(local: dict[str, Any]) -> None:
    with pytest.raises(SandboxError, match="every node port"):
        derived(local, TARGET, set(range(30000, 32768)), NOW)


def test_source_is_not_changed(local: dict[str, Any]) -> None:
    before = copy.deepcopy(local)
    derived(local, TARGET, set(), NOW)
    assert local == before
