"""Checks of restore points from end to end: their jobs, and what is told of them"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from recovery.vault.names import manifest_key, verified_key
from signals import recovery_metrics as told_by
from smoke.main import main
from tests.offline.recovery.locked import Locked, locked, secret
from tests.offline.smoke import objects
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.recovery_objects import DAY, HERE, HOUR, SWANLAB, claim, job, pod, promised
from tests.offline.smoke.recovery_site import JOBS, POINTS, STORE, TARGET, Site, lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.smoke.conftest import World
    from tests.offline.smoke.lab import Lab

CLUSTER = ("pods.running", "pods.not_restarted", "workloads.rolled_out", "workloads.image", "claims.bound")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    """The real object store: buckets with locks of all kinds, and accounts that may too much."""
    with locked(tmp_path_factory.mktemp("locked")) as made:
        yield made


@pytest.fixture
def site(world: World) -> Site:
    """A healthy stack with restore points, whose target nobody needs."""
    return Site(world)


@pytest.fixture
def kept(site: Site, store: Locked) -> Site:
    """The same with a point, made and verified, in a bucket of its own: checks look when they were written."""
    site.own |= {"target": store.endpoint, "bucket": store.fresh()}
    lock(store, site.own["bucket"])
    point = "20270115T010000Z-1f2e3d4c"
    for key in (manifest_key(point), verified_key(point, "20270115T020000Z")):
        store.bucket(site.own["bucket"]).put(key, b"{}")
    return site


def test_everything_is_green_and_says_what_it_saw(kept: Site, store: Locked) -> None:
    code, told, report = kept.run(JOBS, POINTS, TARGET, *CLUSTER)
    assert code == 0, told
    assert "CronJob plumbline-recovery/recovery-verify: Job recovery-verify-" in told[JOBS]
    assert "newest restore point: of " in told[POINTS]
    assert "2.0 h old" in told[POINTS]
    assert f"bucket {kept.own['bucket']} locks in mode COMPLIANCE for at least 7 days" in told[TARGET]
    assert store.keys("plumbline-sentinel/", kept.own["bucket"]) == []
    assert secret("reader") not in json.dumps(report)
    assert {check_of(report, name)["tier"] for name in (JOBS, POINTS, TARGET)} == {"live"}


def test_contract_that_claims_restore_points_and_promises_none_is_red(site: Site) -> None:
    document = objects.contract().model_dump(mode="json") | {"capabilities": ["metrics", "recovery"], "recovery": None}
    document["components"] |= {"recovery": {"tier": "live"}}
    (site.world.directory / "contract.json").write_text(json.dumps(document))
    assert main(site.world.arguments("--only", JOBS, POINTS, TARGET)) == 1
    for name in (JOBS, POINTS, TARGET):
        assert "has no section 'recovery'" in check_of(site.world.report(), name)["evidence"]


def test_failed_job_is_named_with_its_pod(site: Site) -> None:
    failed = site.ran("create", HOUR, "BackoffLimitExceeded")
    code, told, _ = site.run(JOBS)
    assert code == 1
    assert f"pods {failed['metadata']['name']}" in told[JOBS]
    assert "BackoffLimitExceeded" in told[JOBS]


def test_cron_job_that_is_gone_or_suspended_is_named(site: Site) -> None:
    del site.objects[f"/apis/batch/v1/namespaces/{HERE}/cronjobs/recovery-verify"]
    site.made("prune", 10 * DAY)["spec"]["suspend"] = True
    code, told, _ = site.run(JOBS)
    assert code == 1
    assert "CronJob plumbline-recovery/recovery-verify: seen does not exist" in told[JOBS]
    assert "CronJob plumbline-recovery/recovery-prune: seen suspended" in told[JOBS]


def test_leftovers_are_named_and_the_store_of_the_stack_is_none(site: Site) -> None:
    hung = site.ran("verify", 30 * HOUR, ended=False)
    site.ran("create", 26 * HOUR, ended=False)
    gone = site.ran("verify", HOUR, ended=False)
    site.pods(HERE).remove(gone)
    site.objects[f"/api/v1/namespaces/{HERE}/persistentvolumeclaims"].append(claim(gone))
    code, told, _ = site.run(JOBS)
    assert code == 1
    assert f"pod {HERE}/{hung['metadata']['name']}: seen there for 30.0 h" in told[JOBS]
    assert f"pod {SWANLAB}/recovery-create-" in told[JOBS]
    assert "-data: seen its pod" in told[JOBS]
    assert STORE not in told[JOBS]


def test_runs_in_every_state_turn_no_other_check_red(site: Site) -> None:
    """One that ended after a second attempt, one that failed, one that is being started."""
    again = site.ran("create", 8 * HOUR)
    again["status"]["containerStatuses"][0]["restartCount"] = 1
    site.ran("create", 14 * HOUR, "BackoffLimitExceeded")
    started = site.ran("verify", 60, ended=False)
    started["status"] |= {"phase": "Pending", "containerStatuses": []}
    retried = site.ran("prune", 120, ended=False)
    retried["status"]["containerStatuses"][0] |= {
        "restartCount": 1,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    }
    code, told, _ = site.run(*CLUSTER, JOBS)
    assert code == 0, told
    assert "recovery-create" not in told["pods.running"]


def test_pods_of_no_run_of_recovery_are_judged_as_ever(site: Site) -> None:
    site.ran("create", 60, "BackoffLimitExceeded")["metadata"]["labels"] = {"job-name": "made-buckets"}
    code, told, _ = site.run("pods.running")
    assert code == 1
    assert "recovery-create-" in told["pods.running"]


def test_point_that_is_too_old_is_red(site: Site) -> None:
    site.tell(told_by.LAST_POINT, told_by.CREATE, site.now - 9 * HOUR)
    code, told, _ = site.run(POINTS)
    assert code == 1
    assert "newest restore point: seen 9.0 h old; expected one that is at most 8.0 h old" in told[POINTS]


def test_point_that_was_not_verified_for_long_is_red(site: Site) -> None:
    site.tell(told_by.LAST_VERIFIED, told_by.VERIFY, site.now - 50 * HOUR)
    code, told, _ = site.run(POINTS)
    assert code == 1
    assert "newest verified restore point: seen 50.0 h old" in told[POINTS]


def test_point_of_another_cluster_is_none_of_this_one(site: Site) -> None:
    """A Prometheus of somebody else may scrape both."""
    site.tell(told_by.LAST_POINT, told_by.CREATE, None)
    site.tell(told_by.LAST_POINT, told_by.CREATE, site.now - HOUR, cluster="other")
    code, told, _ = site.run(POINTS)
    assert code == 1
    assert "newest restore point: seen none is told of" in told[POINTS]


def test_what_is_no_number_is_red(site: Site) -> None:
    site.tell(told_by.LAST_POINT, told_by.CREATE, float("nan"))
    code, told, _ = site.run(POINTS)
    assert code == 1
    assert "newest restore point: seen nan h old" in told[POINTS]


def test_bucket_that_was_made_anew_is_red_although_its_points_are_still_told_of(site: Site, store: Locked) -> None:
    """The Pushgateway keeps what it was told."""
    site.own |= {"target": store.endpoint, "bucket": store.fresh()}
    code, told, _ = site.run(POINTS)
    assert code == 1
    assert (
        f"manifest of a restore point in bucket {site.own['bucket']}: seen none; expected one written" in told[POINTS]
    )
    store.bucket(site.own["bucket"]).put(manifest_key("20270115T010000Z-1f2e3d4c"), b"{}")
    code, told, _ = site.run(POINTS)
    assert code == 1
    assert "manifest of" not in told[POINTS]
    assert f"verification of a restore point in bucket {site.own['bucket']}: seen none" in told[POINTS]


def test_points_in_a_bucket_that_does_not_answer_are_none(site: Site) -> None:
    code, told, _ = site.run(POINTS)
    assert code == 1
    assert "target of restore points" in told[POINTS]


def test_fresh_stack_is_green_and_says_plainly_that_there_is_no_point(site: Site, store: Locked) -> None:
    site.own["target"] = store.endpoint
    for metric, name in ((told_by.LAST_POINT, told_by.CREATE), (told_by.LAST_VERIFIED, told_by.VERIFY)):
        site.tell(metric, name, None)
    for command in ("create", "verify", "prune"):
        site.made(command, HOUR)
    for space in (HERE, SWANLAB):
        site.objects[f"/apis/batch/v1/namespaces/{space}/jobs"] = []
    code, told, _ = site.run(JOBS, POINTS)
    assert code == 0, told
    assert "no restore point yet; the first is due at " in told[POINTS]
    assert "no verified restore point yet; the first is due at " in told[POINTS]
    assert told[JOBS].count("no run yet; the first is due at ") == 3
    site.made("create", 9 * HOUR)
    assert site.run(POINTS)[0] == 1


def test_death_of_every_pod_of_swanlab_is_not_that_of_a_run_in_its_namespace(lab: Lab) -> None:
    """A run that is killed is a restore point less, and nobody makes its pod anew."""
    lab.pods.append(pod(job("create", time.time() - 60, None), "Running"))
    document = promised().model_dump(mode="json")
    code, report = lab.run("swanlab.survives_kill", impact="disruptive", recovery=document)
    assert code == 0, check_of(report, "swanlab.survives_kill")["evidence"]
    assert [name for name in lab.killed if name.startswith("recovery-")] == []
