"""Recovery as a system of the stack: when it exists, which images it needs, what is promised, who may push."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.pushgateway.names import NAME as PUSHGATEWAY
from components.recovery.args import Objects
from stacks.bundle import plan
from stacks.contract import Contract
from stacks.recovery_arguments import recovery_args
from stacks.scraping import rule_inputs
from stacks.systems import components, roles, systems
from tests.offline.stacks.examples import BUILT, settings, write_images
from tests.offline.stacks.swanlab_examples import ELSEWHERE
from tests.offline.stacks.test_recovery_relations import EXTERNAL, IMAGE, KEY

if TYPE_CHECKING:
    from pathlib import Path

UPSTREAM: dict[str, Any] = {
    "mode": "managed",
    "image": IMAGE,
    "target": {"external": EXTERNAL},
    "recovery_public_key": KEY,
}
LAB: dict[str, Any] = {"mode": "managed", "stores": ELSEWHERE}
SCRATCH = ("swanlab-postgres", "swanlab-clickhouse", "swanlab-redis")


def upstream(**keys: Any) -> Contract:  # noqa: ANN401  # any key of the section
    return plan(settings("prod", None, swanlab=LAB, recovery=UPSTREAM | keys)).contract


def test_it_is_off_unless_asked_for() -> None:
    assert "recovery" not in components(settings("prod"))
    found = plan(settings("prod")).contract
    assert (found.recovery, "recovery" in found.capabilities) == (None, False)


def test_images_are_its_own_and_those_of_the_scratch_stores_each_once() -> None:
    found = roles(settings("local"))
    assert {"recovery", "object-store", "alertmanager", *SCRATCH} <= set(found)
    assert len(found) == len(set(found))
    outside = roles(settings("prod", None, swanlab=LAB, recovery=UPSTREAM))
    assert set(SCRATCH) <= set(outside)
    assert "recovery" not in outside, "the settings name it"
    assert "object-store" not in outside
    assert "recovery" not in roles(settings("prod"))


def test_it_goes_behind_swanlab() -> None:
    (found,) = [system for system in systems(settings("local"), BUILT) if system.name == "recovery"]
    assert found.after == ("swanlab",)


def test_contract_promises_jobs_and_aims(tmp_path: Path) -> None:
    found = plan(settings("local", write_images(tmp_path / "images.json"))).contract
    assert "recovery" in found.capabilities
    promised = found.recovery
    assert promised is not None
    jobs = {name: (job.namespace, job.name, job.period_seconds) for name, job in promised.jobs.items()}
    assert jobs == {
        "create": ("plumbline-swanlab", "recovery-create", 21600),
        "verify": ("plumbline-recovery", "recovery-verify", 43200),
        "prune": ("plumbline-recovery", "recovery-prune", 86400),
        "restore": ("plumbline-swanlab", "recovery-restore", None),
    }
    assert {job.image.reference for job in promised.jobs.values()} == {BUILT["recovery"].reference}
    assert (promised.rpo_seconds, promised.rto_seconds, promised.gate_max_age_seconds) == (28800, 1800, 86400)
    assert (promised.target, promised.bucket) == ("http://recovery-store.plumbline-recovery.svc:8333", "recovery")
    assert (promised.own, promised.sealed, promised.lock_days) == (True, False, 1)
    assert Contract.model_validate_json(found.model_dump_json()) == found


def test_contract_promises_the_store_where_it_is_the_stacks_own(tmp_path: Path) -> None:
    component = plan(settings("local", write_images(tmp_path / "images.json"))).contract.components["recovery"]
    (workload,) = component.workloads
    assert (workload.kind, workload.name, workload.replicas) == ("StatefulSet", "recovery-store", 1)
    assert {image.container for image in workload.images} == {"recovery-store", "keep-lock"}
    (claim,) = component.claims
    assert (claim.name, claim.size, claim.mounted_at) == ("recovery-store-data", "4Gi", "/data")
    assert component.namespace == "plumbline-recovery"


def test_bucket_elsewhere_promises_no_workload() -> None:
    found = upstream()
    component = found.components["recovery"]
    assert (component.workloads, component.claims) == ((), ())
    assert component.namespace is None, "a check would look for pods there, and there are some only while a job runs"
    assert found.recovery is not None
    assert (found.recovery.own, found.recovery.sealed, found.recovery.target) == (
        False,
        True,
        "https://backup.example.net",
    )
    assert found.recovery.reader_access.name == "points-reader"


def test_stores_elsewhere_are_read_where_they_are() -> None:
    found = settings("prod", None, swanlab=LAB, recovery=UPSTREAM)
    args = recovery_args(found, BUILT)
    shown = {store.name: store for store in args.stores}
    postgres, clickhouse = shown["swanlab-postgres"], shown["swanlab-clickhouse"]
    assert (getattr(postgres, "host", ""), getattr(postgres, "secret", "")) == ("pg.example.org", "pg-login")
    assert getattr(clickhouse, "url", "") == "http://ch.example.org:8123"
    buckets = [store for store in args.stores if isinstance(store, Objects)]
    assert {(b.endpoint, b.bucket, b.secret) for b in buckets} == {
        ("https://s3.example.org:443", "swanlab-private", "s3-login"),
        ("https://s3.example.org:443", "swanlab-public", "s3-login"),
    }


def test_buckets_of_the_chart_are_read_at_its_service() -> None:
    args = recovery_args(settings("local", None, swanlab={"stores": {}}), BUILT)
    assert {(s.endpoint, s.bucket) for s in args.stores if isinstance(s, Objects)} == {
        ("http://swanlab-self-hosted-s3:9000", "swanlab-private"),
        ("http://swanlab-self-hosted-s3:9000", "swanlab-public"),
    }


@pytest.mark.parametrize(
    ("scratch", "sizes"),
    [({}, ("100Gi", "1000Gi", "50Gi")), ({"postgres": "7Gi", "redis": "1Gi"}, ("7Gi", "1000Gi", "1Gi"))],
)
def test_scratch_stores_are_as_large_as_the_live_ones_unless_told(
    scratch: dict[str, str], sizes: tuple[str, str, str]
) -> None:
    found = settings("prod", None, swanlab=LAB, recovery=UPSTREAM | {"scratch": scratch})
    made = recovery_args(found, BUILT).scratch
    assert (made.postgres.volume, made.clickhouse.volume, made.redis.volume) == sizes


def test_both_namespaces_may_push_what_their_jobs_did() -> None:
    sources = pushes("local")
    assert {"plumbline-swanlab", "plumbline-recovery"} <= sources
    assert not {"plumbline-swanlab", "plumbline-recovery"} & pushes("prod")


def pushes(stack: str) -> set[str]:
    """Namespaces that the policy of the Pushgateway lets in."""
    (found,) = [system for system in systems(settings(stack), BUILT) if system.name == PUSHGATEWAY]
    (rule,) = found.manifests["network-policy"]["spec"]["ingress"]
    return {source["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] for source in rule["from"]}


def test_a_grafana_of_the_stack_is_kept_and_one_of_somebody_else_is_not() -> None:
    kept = settings("prod", None, swanlab=LAB, recovery=UPSTREAM)
    args = recovery_args(kept, BUILT)
    assert "grafana" in {store.name for store in args.stores}
    assert (args.scratch.grafana is None, args.grafana_pods is None) == (False, False)
    assert "grafana-login" in args.sealed
    aims = rule_inputs(kept, ()).recovery
    assert aims is not None
    assert aims.small == ("grafana",)
    for grafana in ({"mode": "off"}, {"mode": "existing", "existing": {"namespace": "monitoring"}}):
        other = settings("prod", None, swanlab=LAB, recovery=UPSTREAM, grafana={"admin": {}, **grafana})
        args = recovery_args(other, BUILT)
        assert "grafana" not in {store.name for store in args.stores}
        assert (args.scratch.grafana, args.grafana_pods) == (None, None)
        aims = rule_inputs(other, ()).recovery
        assert aims is not None
        assert aims.small == ()


def test_rules_hold_points_to_the_aims_of_the_settings() -> None:
    aims = rule_inputs(settings("local"), ()).recovery
    assert aims is not None
    assert (aims.rpo_seconds, aims.rto_seconds, aims.verify_period_seconds) == (28800, 1800, 43200)
    assert rule_inputs(settings("prod"), ()).recovery is None
