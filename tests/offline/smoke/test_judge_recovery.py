"""Judgement over the jobs that make, verify and prune restore points."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.recovery.manifests import manifests
from smoke.judge import recovery
from stacks.contract import Image
from tests.offline.components.recovery.examples import local
from tests.offline.smoke.recovery_objects import (
    DAY,
    HERE,
    HOUR,
    NOW,
    WHERE,
    claim,
    cron_job,
    healthy,
    job,
    pod,
    promised,
    seen,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.judge.recovery import Seen

Json = dict[str, Any]


def judged(command: str, found: Seen, **others: Seen) -> str:
    """Problems of the healthy stack with this CronJob in it, as text."""
    return "\n".join(map(str, recovery.jobs(healthy() | {command: found} | others, NOW)))


def test_healthy_stack_has_no_problem_and_its_evidence_says_when_each_ended_in_which_pod() -> None:
    assert recovery.jobs(healthy(), NOW) == []
    # 1_800_000_000 is 2027-01-15T08:00:00Z: two hours before it, and ten minutes for the run.
    told = recovery.jobs_told(healthy())
    assert "CronJob plumbline-swanlab/recovery-create: Job recovery-create-29999880 ended well" in told
    assert "at 2027-01-15T06:10:00Z, pods recovery-create-29999880-x" in told
    assert "recovery-restore: there for people to start Jobs from, and suspended" in told


def test_cron_jobs_as_they_are_deployed_are_as_promised() -> None:
    args = local()
    for command, found in healthy().items():
        live = manifests(args)[f"cron-job-{command}"]
        live["metadata"] |= {"uid": f"cron-{command}", "creationTimestamp": "2027-01-01T00:00:00Z"}
        assert (live["metadata"]["namespace"], live["metadata"]["name"]) == (WHERE[command], f"recovery-{command}")
        image = Image(container="recovery", reference=args.image.reference)
        deployed = replace(found, promised=found.promised.model_copy(update={"image": image}), live=live, pods=[])
        assert judged(command, deployed) == ""


@pytest.mark.parametrize("command", ["create", "verify", "prune", "restore"])
def test_cron_job_must_exist(command: str) -> None:
    found = judged(command, replace(healthy()[command], live=None))
    assert f"recovery-{command}: seen does not exist; expected exists" in found


def _suspended(spec: Json) -> None:
    spec["suspend"] = True


def _parallel(spec: Json) -> None:
    spec["concurrencyPolicy"] = "Allow"


def _replaces(spec: Json) -> None:
    spec["concurrencyPolicy"] = "Replace"


def _defaulted(spec: Json) -> None:
    del spec["concurrencyPolicy"]


def _other_image(spec: Json) -> None:
    spec["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] = "recovery:other"


def _no_container(spec: Json) -> None:
    spec["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["name"] = "main"


def _as_root(spec: Json) -> None:
    spec["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["securityContext"]["runAsUser"] = 0


def _side_by_side(spec: Json) -> None:
    spec["jobTemplate"]["spec"]["template"]["spec"]["initContainers"][0]["securityContext"]["privileged"] = True


def _on_the_node(spec: Json) -> None:
    spec["jobTemplate"]["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "hostPath": {"path": "/"}}]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_suspended, "seen suspended; expected not suspended"),
        (_parallel, "seen concurrencyPolicy Allow; expected Forbid"),
        (_replaces, "seen concurrencyPolicy Replace; expected Forbid"),
        (_defaulted, "seen concurrencyPolicy Allow; expected Forbid"),
        (_other_image, "container recovery: seen image recovery:other; expected plumbline.local/recovery"),
        (_no_container, "container recovery: seen image None"),
        (_as_root, "container recovery: seen may run as root"),
        (_side_by_side, "container postgres: seen privileged"),
        (_on_the_node, "seen volume v is a path of the node; expected none"),
    ],
)
@pytest.mark.parametrize("command", ["create", "verify", "prune"])
def test_cron_job_must_be_as_promised(command: str, damage: Callable[[Json], None], words: str) -> None:
    one = healthy()[command]
    assert one.live is not None
    damage(one.live["spec"])
    assert words in judged(command, one)


def test_cron_job_that_people_start_jobs_from_must_not_start_one_itself() -> None:
    """A restore that begins by itself takes the place of live data."""
    one = healthy()["restore"]
    assert one.live is not None
    one.live["spec"]["suspend"] = False
    assert "recovery-restore: seen starts Jobs by itself; expected suspended" in judged("restore", one)


def test_newest_job_that_ended_must_not_have_failed() -> None:
    failed = job("create", NOW - HOUR, NOW - HOUR + 60, "BackoffLimitExceeded")
    good = job("create", NOW - 7 * HOUR, NOW - 7 * HOUR + 60)
    live = cron_job("create", NOW - 10 * DAY, lastScheduleTime=NOW - HOUR, lastSuccessfulTime=NOW - 7 * HOUR + 60)
    found = judged("create", seen("create", live, [good, failed]))
    name = failed["metadata"]["name"]
    assert f"Job plumbline-swanlab/{name}: seen failed at 2027-01-15T07:01:00Z" in found
    assert f"(BackoffLimitExceeded: it says why), pods {name}-x" in found


def test_failed_job_before_a_good_one_is_past() -> None:
    failed = job("create", NOW - 7 * HOUR, NOW - 7 * HOUR + 60, "BackoffLimitExceeded")
    good = job("create", NOW - HOUR, NOW - HOUR + 60)
    live = cron_job("create", NOW - 10 * DAY, lastScheduleTime=NOW - HOUR)
    assert judged("create", seen("create", live, [failed, good])) == ""


def test_job_that_runs_takes_nothing_from_the_one_that_failed_before_it() -> None:
    failed = job("create", NOW - 7 * HOUR, NOW - 7 * HOUR + 60, "DeadlineExceeded")
    running = job("create", NOW - HOUR, None)
    live = cron_job("create", NOW - 10 * DAY, lastScheduleTime=NOW - HOUR)
    assert "failed at" in judged("create", seen("create", live, [failed, running]))


def test_job_that_somebody_started_by_hand_proves_nothing_of_the_schedule() -> None:
    by_hand = {"cronjob.kubernetes.io/instantiate": "manual"}
    failed = job("create", NOW - 3 * HOUR, NOW - 3 * HOUR + 60, "BackoffLimitExceeded")
    good = job("create", NOW - HOUR, NOW - HOUR + 60, **by_hand)
    live = cron_job("create", NOW - 10 * DAY, lastScheduleTime=NOW - 3 * HOUR, lastSuccessfulTime=NOW - HOUR + 60)
    assert "failed at" in judged("create", seen("create", live, [failed, good]))
    bad = job("create", NOW - HOUR, NOW - HOUR + 60, "BackoffLimitExceeded", **by_hand)
    well = job("create", NOW - 3 * HOUR, NOW - 3 * HOUR + 60)
    assert judged("create", seen("create", live, [bad, well])) == ""


def test_job_of_somebody_else_is_not_looked_at() -> None:
    other = job("create", NOW - HOUR, NOW - HOUR + 60, "BackoffLimitExceeded")
    other["metadata"]["ownerReferences"] = []
    one = healthy()["create"]
    assert judged("create", replace(one, jobs=[*one.jobs, other])) == ""


def test_run_whose_job_was_deleted_must_have_ended_well() -> None:
    """Verifications are deleted a quarter of an hour after they ended, those that failed as well."""
    well = cron_job("verify", NOW - 10 * DAY, lastScheduleTime=NOW - 5 * HOUR, lastSuccessfulTime=NOW - 4 * HOUR)
    assert judged("verify", seen("verify", well, [])) == ""
    assert "recovery-verify: ended well at 2027-01-15T04:00:00Z" in recovery.jobs_told(
        healthy() | {"verify": seen("verify", well, [])}
    )
    bad = cron_job("verify", NOW - 10 * DAY, lastScheduleTime=NOW - 5 * HOUR, lastSuccessfulTime=NOW - 28 * HOUR)
    found = judged("verify", seen("verify", bad, []))
    assert "run of 2027-01-15T03:00:00Z is gone, last success 2027-01-14T04:00:00Z" in found
    never = cron_job("verify", NOW - 10 * DAY, lastScheduleTime=NOW - 5 * HOUR)
    assert "is gone, last success never" in judged("verify", seen("verify", never, []))


def test_run_that_has_not_ended_is_not_gone() -> None:
    live = cron_job("verify", NOW - 10 * DAY, lastScheduleTime=NOW - HOUR, lastSuccessfulTime=NOW - 25 * HOUR)
    assert judged("verify", seen("verify", live, [job("verify", NOW - HOUR, None)])) == ""


@pytest.mark.parametrize(("last", "red"), [(11.9, False), (12.1, True)])
def test_newest_job_must_be_younger_than_two_periods(last: float, *, red: bool) -> None:
    ran = job("create", NOW - last * HOUR, NOW - last * HOUR + 60)
    live = cron_job("create", NOW - 10 * DAY, lastScheduleTime=NOW - last * HOUR)
    found = judged("create", seen("create", live, [ran]))
    assert ("last started a Job 12.1 h ago; expected one within 12.0 h, two of its periods" in found) is red


@pytest.mark.parametrize(("age", "red"), [(11.9, False), (12.1, True)])
def test_cron_job_that_never_ran_must_be_younger_than_two_periods(age: float, *, red: bool) -> None:
    found = seen("create", cron_job("create", NOW - age * HOUR), [])
    assert ("seen last started a Job never" in judged("create", found)) is red
    # Made 11.9 or 12.1 hours before 08:00, and due 6 hours later.
    due = {11.9: "2027-01-15T02:06:00Z", 12.1: "2027-01-15T01:54:00Z"}[age]
    assert f"no run yet; the first is due at {due}" in recovery.jobs_told({"create": found})


def test_cron_job_that_is_suspended_for_long_is_told_of_both() -> None:
    live = cron_job("prune", NOW - 10 * DAY, lastScheduleTime=NOW - 3 * DAY, lastSuccessfulTime=NOW - 3 * DAY + 60)
    live["spec"]["suspend"] = True
    found = judged("prune", seen("prune", live, []))
    assert "seen suspended" in found
    assert "last started a Job 72.0 h ago" in found


def _fresh_verify(ran_at: float) -> Seen:
    failed = job("verify", ran_at, ran_at + 120, "BackoffLimitExceeded")
    live = cron_job("verify", NOW - 4 * HOUR, lastScheduleTime=ran_at)
    return seen("verify", live, [failed])


def test_verification_that_came_before_the_first_point_was_due_is_no_failure_and_says_so() -> None:
    create = seen("create", cron_job("create", NOW - 4 * HOUR), [])
    verify = _fresh_verify(NOW - 2 * HOUR)
    assert judged("verify", verify, create=create) == ""
    assert "failed, for there was no restore point yet," in recovery.jobs_told({"create": create, "verify": verify})
    gone = replace(verify, jobs=[], pods=[])
    assert judged("verify", gone, create=create) == ""
    assert "found no restore point yet" in recovery.jobs_told({"create": create, "verify": gone})


def test_verification_that_failed_behind_a_point_is_a_failure_on_a_fresh_stack_as_well() -> None:
    verify = _fresh_verify(NOW - 2 * HOUR)
    before = job("create", NOW - 3 * HOUR, NOW - 3 * HOUR + 60)
    made = cron_job("create", NOW - 4 * HOUR, lastScheduleTime=NOW - 3 * HOUR)
    assert "failed at" in judged("verify", verify, create=seen("create", made, [before]))
    by_hand = {**before, "metadata": {**before["metadata"], "ownerReferences": []}}
    assert "failed at" in judged("verify", verify, create=seen("create", made, [by_hand]))
    told = cron_job("create", NOW - 4 * HOUR, lastScheduleTime=NOW - 3 * HOUR, lastSuccessfulTime=NOW - 3 * HOUR + 60)
    assert "failed at" in judged("verify", verify, create=seen("create", told, []))


def test_verification_that_failed_when_a_point_was_overdue_is_a_failure() -> None:
    """An old stack cannot hide behind points that were never made."""
    create = seen("create", cron_job("create", NOW - 10 * DAY), [])
    assert "failed at" in judged("verify", _fresh_verify(NOW - 2 * HOUR), create=create)


def test_other_jobs_have_no_such_excuse() -> None:
    failed = job("create", NOW - HOUR, NOW - HOUR + 60, "BackoffLimitExceeded")
    live = cron_job("create", NOW - 2 * HOUR, lastScheduleTime=NOW - HOUR)
    assert "failed at" in judged("create", seen("create", live, [failed]))


def _with_pod(**status: object) -> str:
    ran = job("create", NOW - HOUR, None)
    live = cron_job("create", NOW - 10 * DAY, lastScheduleTime=NOW - HOUR)
    return judged("create", seen("create", live, [ran], [pod(ran, "Running", **status)]))


def test_pod_that_waits_for_what_never_comes_is_told_before_its_deadline() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff"}}
    assert "container recovery: seen ImagePullBackOff; expected running" in _with_pod(state=waiting, imageID="")


def test_attempt_that_failed_and_is_tried_again_is_the_jobs_affair() -> None:
    waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
    assert _with_pod(state=waiting, restartCount=1) == ""


def test_pod_must_run_the_very_image_behind_the_reference() -> None:
    assert "container recovery: seen image id " + "00" * 32 in _with_pod(imageID="sha256:" + "00" * 32)


def test_pod_of_the_version_before_ran_what_was_right_then() -> None:
    ran = job("create", NOW - HOUR, NOW - HOUR + 60)
    old = pod(ran, imageID="sha256:" + "00" * 32)
    old["spec"]["containers"][0]["image"] = "plumbline.local/recovery:0.0.9"
    live = cron_job("create", NOW - 10 * DAY, lastScheduleTime=NOW - HOUR)
    assert judged("create", seen("create", live, [ran], [old])) == ""


def test_pods_of_recovery_are_known_by_their_job_and_their_label() -> None:
    one = pod(job("create", NOW, None), "Running")
    assert recovery.is_run(one, promised())
    other = {**one, "metadata": {**one["metadata"], "labels": {"app.kubernetes.io/name": "house"}}}
    assert not recovery.is_run(other, promised())
    workload = {**one["metadata"], "ownerReferences": [{"kind": "StatefulSet", "uid": "s", "name": "s"}]}
    assert not recovery.is_run({**one, "metadata": workload}, promised())


@pytest.mark.parametrize(("age", "red"), [(23.9, False), (24.1, True)])
def test_pod_that_is_there_for_longer_than_a_day_has_hung(age: float, *, red: bool) -> None:
    hung = pod(job("verify", NOW - age * HOUR, None), "Running")
    name = hung["metadata"]["name"]
    found = [str(problem) for problem in recovery.leftovers([hung], (), [], NOW)]
    assert found == ([f"pod {HERE}/{name}: seen there for 24.1 h; expected ended within 24.0 h"] if red else [])


def test_pod_that_waits_for_a_day_to_be_started_has_hung_as_well() -> None:
    waits = pod(job("verify", NOW - 2 * DAY, None), "Pending")
    del waits["status"]["startTime"]
    assert "seen there for 48.0 h" in str(recovery.leftovers([waits], (), [], NOW)[0])


def test_pod_that_ended_or_is_to_stay_is_no_leftover() -> None:
    ended = pod(job("prune", NOW - 3 * DAY, NOW - 3 * DAY))
    store = pod(job("verify", NOW - 9 * DAY, None), "Running")
    assert recovery.leftovers([ended, store], {store["metadata"]["name"]}, [], NOW) == []


def test_claim_of_a_verification_goes_with_its_pod() -> None:
    running = pod(job("verify", NOW - HOUR, None), "Running")
    name = running["metadata"]["name"]
    own: Json = {"metadata": {"name": "recovery-store-data", "namespace": HERE}}
    assert recovery.leftovers([running], (), [claim(running), own], NOW) == []
    found = [str(problem) for problem in recovery.leftovers([], (), [claim(running), own], NOW)]
    assert found == [f"claim {HERE}/{name}-data: seen its pod {name} is gone; expected deleted with it"]
