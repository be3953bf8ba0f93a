"""Checks of restore points from end to end: a stand-in for the cluster, and the real object store with its locks."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from minio import Minio
from minio.commonconfig import COMPLIANCE
from minio.objectlockconfig import DAYS, ObjectLockConfig

from recovery.vault.names import manifest_key, verified_key
from signals import recovery_metrics as told_by
from smoke.main import main
from tests.offline.recovery.locked import BRIEF, GOVERNED, LOCKED, LOOSE, PLAIN, Locked, locked, secret
from tests.offline.smoke import objects
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.promql import Series
from tests.offline.smoke.recovery_objects import DAY, HERE, HOUR, SWANLAB, claim, cron_job, job, pod, promised

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.offline.smoke.conftest import World
    from tests.offline.smoke.lab import Lab

Json = dict[str, Any]
JOBS, POINTS, TARGET = "recovery.jobs", "recovery.points", "recovery.target"
STORE = "recovery-store"
CLUSTER = ("pods.running", "pods.not_restarted", "workloads.rolled_out", "workloads.image", "claims.bound")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    """The real object store: buckets with locks of all kinds, and accounts that may too much."""
    with locked(tmp_path_factory.mktemp("locked")) as made:
        yield made


class Site:
    """The world with recovery, ten days old and in order. Damage it, then run smoke on it."""

    def __init__(self, world: World) -> None:
        self.world, self.now = world, time.time()
        self.own: Json = {"own": False, "target": "http://127.0.0.1:1", "bucket": LOCKED}
        self.runs: dict[str, Json] = {}
        for space in (HERE, SWANLAB):
            for kind in ("pods", "persistentvolumeclaims"):
                self.objects[f"/api/v1/namespaces/{space}/{kind}"] = []
            self.objects[f"/apis/batch/v1/namespaces/{space}/jobs"] = []
        self.pods(SWANLAB).append(_standing("house-0", SWANLAB))
        self.pods(HERE).append(_standing(f"{STORE}-0", HERE))
        self.objects[f"/apis/apps/v1/namespaces/{HERE}/statefulsets/{STORE}"] = objects.stateful_set()
        for command, age in {"create": 2 * HOUR, "verify": 5 * HOUR, "prune": 3 * HOUR, "restore": None}.items():
            self.made(command, 10 * DAY)
            if age is not None:
                self.ran(command, age)
        self.tell(told_by.LAST_POINT, told_by.CREATE, self.now - 2 * HOUR)
        self.tell(told_by.LAST_VERIFIED, told_by.VERIFY, self.now - 5 * HOUR)
        self.tell(told_by.DIFFERENCES, told_by.VERIFY, 0)
        self.reader("reader")

    @property
    def objects(self) -> dict[str, Any]:
        """Path → object of the API server."""
        return self.world.api.objects

    def pods(self, space: str) -> list[Json]:
        """Pods of a namespace."""
        found: list[Json] = self.objects[f"/api/v1/namespaces/{space}/pods"]
        return found

    def made(self, command: str, age: float) -> Json:
        """Its CronJob, anew. age: seconds."""
        live = cron_job(command, self.now - age)
        space, name = live["metadata"]["namespace"], live["metadata"]["name"]
        self.objects[f"/apis/batch/v1/namespaces/{space}/cronjobs/{name}"] = live
        return live

    def ran(self, command: str, age: float, failed: str = "", *, ended: bool = True) -> Json:
        """A Job of it, and its pod."""
        started = self.now - age
        one = job(command, started, started + 60 if ended else None, failed)
        space = one["metadata"]["namespace"]
        self.objects[f"/apis/batch/v1/namespaces/{space}/jobs"].append(one)
        state = ("Failed" if failed else "Succeeded") if ended else "Running"
        self.pods(space).append(pod(one, state))
        return self.pods(space)[-1]

    def tell(self, metric: str, job_name: str, value: float | None, cluster: str = "local") -> None:
        """What was pushed, None for nothing."""
        series = self.world.prometheus.series
        labels = {"__name__": metric, "job": job_name, "cluster": cluster}
        series[:] = [one for one in series if one.labels != labels]
        series.extend([] if value is None else [Series(labels, value)])

    def reader(self, account: str) -> None:
        """Whose key the Secret of the reader holds."""
        keys = {"accessKey": account, "secretKey": secret(account)}
        data = {key: base64.b64encode(value.encode()).decode() for key, value in keys.items()}
        self.objects[f"/api/v1/namespaces/{HERE}/secrets/recovery-reader"] = {"data": data}

    def run(self, *only: str, impact: str = "sentinel") -> tuple[int, dict[str, str], Json]:
        """Run these checks; gives exit code, id → evidence, and the report."""
        document = objects.contract().model_dump(mode="json")
        document["components"]["prometheus"]["endpoints"]["http"]["url"] = self.world.prometheus_address
        document["components"] |= {"recovery": _component(), "swanlab": {"tier": "live", "namespace": SWANLAB}}
        document["capabilities"] += ["recovery"]
        document["recovery"] = promised(**self.own).model_dump(mode="json")
        (self.world.directory / "contract.json").write_text(json.dumps(document))
        code = main(self.world.arguments("--impact", impact, "--only", *only))
        report = self.world.report()
        return code, {name: check_of(report, name)["evidence"] for name in only}, report


def _standing(name: str, space: str) -> Json:
    made = objects.pod()
    made["metadata"] |= {"name": name, "namespace": space, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if space == SWANLAB:
        made["metadata"]["labels"] = {"app": "house"}
    return made


def _component() -> Json:
    image = {"container": "prometheus", "reference": objects.REFERENCE, "image_id": objects.IMAGE_ID}
    return {
        "tier": "live",
        "namespace": HERE,
        "workloads": [{"kind": "StatefulSet", "name": STORE, "replicas": 1, "images": [image]}],
    }


@pytest.fixture
def site(world: World) -> Site:
    """A healthy stack with restore points, whose target nobody needs."""
    return Site(world)


@pytest.fixture
def kept(site: Site, store: Locked) -> Site:
    """The same with a point, made and verified, in a bucket of its own: checks look when they were written."""
    site.own |= {"target": store.endpoint, "bucket": store.fresh()}
    _lock(store, site.own["bucket"])
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


def test_own_target_is_reached_through_a_forward_to_the_service_that_its_address_names(
    site: Site, store: Locked
) -> None:
    site.own = {"own": True, "bucket": LOCKED}
    binaries: Path = site.world.directory / "bin"
    (binaries / "target").write_text(store.endpoint.removeprefix("http://"))
    code, told, _ = site.run(TARGET)
    assert code == 0, told
    calls = (binaries / "calls").read_text()
    assert "port-forward" in calls
    assert f"-n {HERE}" in calls or f"--namespace={HERE}" in calls or f"--namespace {HERE}" in calls
    assert STORE in calls
    assert "8333" in calls


def test_own_target_at_no_service_is_told(site: Site) -> None:
    site.own = {"own": True, "target": "http://s3:8333", "bucket": LOCKED}
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "http://s3:8333 is no address of a Service" in told[TARGET]


def test_reading_run_does_not_try_to_write(site: Site, store: Locked) -> None:
    site.own["target"] = store.endpoint
    site.reader("reader-writes")
    site.run(JOBS, POINTS)
    main(site.world.arguments("--impact", "read"))
    asked = {check["id"] for check in site.world.report()["checks"]}
    assert {JOBS, POINTS} <= asked
    assert TARGET not in asked
    assert store.keys("plumbline-sentinel/", LOCKED) == []


@pytest.mark.parametrize(
    ("bucket", "words"),
    [
        (LOOSE, "bucket loose: seen no default retention"),
        (PLAIN, "bucket plain: seen no default retention (ObjectLockConfigurationNotFoundError)"),
        (GOVERNED, "bucket governed: seen GOVERNANCE for 7 days; expected COMPLIANCE for at least 7 days"),
        (BRIEF, "bucket brief: seen COMPLIANCE for 1 days; expected COMPLIANCE for at least 7 days"),
        ("missing", "bucket missing: seen no default retention"),
    ],
)
def test_bucket_that_does_not_lock_is_red_and_nothing_is_written_to_it(
    site: Site, store: Locked, bucket: str, words: str
) -> None:
    site.own |= {"target": store.endpoint, "bucket": bucket}
    site.reader("reader-writes")
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert words in told[TARGET]
    if bucket != "missing":
        assert store.keys("plumbline-sentinel/", bucket) == []


def test_reader_that_may_write_is_red_and_what_it_wrote_is_named(site: Site, store: Locked) -> None:
    """Its bucket has a lock, so nobody can remove it before that has run out."""
    site.own["target"] = store.endpoint
    site.own["bucket"] = store.fresh()
    _lock(store, site.own["bucket"])
    site.reader("reader-writes")
    code, told, _ = site.run(TARGET)
    (left,) = store.keys("plumbline-sentinel/", site.own["bucket"])
    assert code == 1
    assert f"PUT {site.own['bucket']}/{left} by its reader: seen allowed; expected refused" in told[TARGET]
    assert f"object {site.own['bucket']}/{left}: seen left behind" in told[TARGET]


def _lock(store: Locked, bucket: str) -> None:
    admin = Minio(store.endpoint.removeprefix("http://"), "admin", secret("admin"), secure=False, region="us-east-1")
    admin.set_object_lock_config(bucket, ObjectLockConfig(COMPLIANCE, 7, DAYS))


@pytest.mark.parametrize("account", ["nobody", "writer", "stranger"])
def test_key_that_opens_nothing_is_red_although_its_write_would_be_refused(
    site: Site, store: Locked, account: str
) -> None:
    """A check of refusals alone would be green."""
    site.own["target"] = store.endpoint
    site.reader(account)
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "HTTP 403" in told[TARGET]


def test_reader_that_may_not_list_is_red(site: Site, store: Locked) -> None:
    site.own["target"] = store.endpoint
    site.reader("reader-without-list")
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "HTTP 403" in told[TARGET]


def test_reader_that_may_not_read_is_red(site: Site, store: Locked) -> None:
    site.own["target"] = store.endpoint
    site.reader("reader-without-get")
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "seen HTTP 403; expected 404" in told[TARGET]


def test_target_that_does_not_answer_is_red(site: Site) -> None:
    code, told, _ = site.run(TARGET)
    assert code == 1
    assert "target of restore points" in told[TARGET]


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
