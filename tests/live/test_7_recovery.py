"""Restore points of the running stack: who watches them, what a killed run leaves behind, and the way back.

`make drill`, with and without DESTROY, is not among them: it takes as long as all of these together, and ends with the
whole of smoke.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from components.naming import recovery_namespace_name, swanlab_namespace_name
from components.swanlab.names import service_name
from sandbox.faults.proxy import faulty
from sandbox.faults.rules import Rule, Status
from tests.live import swanlab
from tests.live.plumbline import NAMESPACE, get, kubectl, query, smoke, until, words
from tests.live.swanlab_pods import WRITERS, workload

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LAB: Final = swanlab_namespace_name(NAMESPACE)
OWN: Final = recovery_namespace_name(NAMESPACE)
PATIENCE: Final = 5.0
MEDIA: Final = {"sentinel/audio", "sentinel/image", "sentinel/text"}


def recovery(run: str, code: int = 0) -> dict[str, Any]:
    """`make recovery RUN='--json …'`: what the program says of its outcome."""
    done = words("recovery", f"RUN=--json {run}")
    outcomes = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"code"')]
    assert outcomes, done.stdout
    assert outcomes[-1]["code"] == code, done.stdout
    return dict(outcomes[-1])


def points() -> list[str]:
    """Ids of all points, the oldest first."""
    return [point["id"] for point in recovery("list")["points"]]


def replicas() -> dict[str, int]:
    """Writer of SwanLab → pods that it is to have."""
    return {program: int(get(workload(program), "-n", LAB)["spec"]["replicas"]) for program in WRITERS}


def killed(run: str, ready: Callable[[], bool]) -> None:
    """Start a run, and kill its process as soon as `ready`."""
    thread = threading.Thread(target=words, args=("recovery", f"RUN={run}"))
    thread.start()
    try:
        until(f"{run} is where it is to be killed", ready, 120)
        for pid in _processes(run):
            os.kill(pid, signal.SIGKILL)
    finally:
        thread.join()


def _processes(run: str) -> list[int]:
    """The node is this machine, and sees the processes of its pods."""
    found = subprocess.run(
        ["pgrep", "-f", f"^/usr/bin/python3 -P -m recovery .*{run}$"], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in found.stdout.split()]


def test_point_that_was_verified_is_told_to_prometheus() -> None:
    made = recovery("create")
    found = recovery("verify --latest")
    assert (found["point"], found["good"], found["differences"]) == (made["point"], True, [])
    assert found["figures"]["between stores"]["profile"], "stores were not held against each other"
    name = "plumbline_recovery_last_verified_point_timestamp_seconds"
    newest = "plumbline_recovery_last_point_timestamp_seconds"
    until("the moments of both are told and equal", lambda: bool(query(f"{name} == on () {newest} > 0")), 120)
    until("its volumes are gone with the pod of the verification", lambda: len(get("pvc", "-n", OWN)["items"]) == 1, 60)


def test_what_a_run_lost_is_told_until_the_run_is_deleted(tmp_path: Path) -> None:
    """Quiesced, so that nothing counts as still on its way. That the next point is good is seen by the next test."""
    where = swanlab.site()
    forbidden = Rule(act=Status(403), verb="PutObject", key="swanlab-private/*")
    with (
        faulty(where.url, where.store, rules=[forbidden]) as proxy,
        swanlab.logging(where, tmp_path, proxy, keys=1, steps=50) as future,
    ):
        run = swanlab.ended(future)
    swanlab.settled(where, run)
    recovery("create --mode quiesced")
    found = recovery("verify --latest", code=1)
    swanlab.everything_runs()  # its programs were stopped for the point
    swanlab.forget(where, run)
    assert not found["good"]
    (told,) = found["differences"]
    assert told.startswith("between stores: 3 media columns in PostgreSQL have nothing in ClickHouse: run ")
    assert {key for key in MEDIA if f"key '{key}'" in told} == MEDIA


def test_gate_of_upgrades_sees_the_verification_of_a_person() -> None:
    """A moment of an earlier run, or of a schedule, is no answer to the one that has just ended."""
    for run, namespace in (("create", LAB), ("verify --latest", OWN)):
        known, began = _jobs(namespace), _clock()
        recovery(run)
        (job,) = (found for name, found in _jobs(namespace).items() if name not in known)
        conditions = {one["type"]: one["status"] for one in job["status"]["conditions"]}
        assert conditions.get("Complete") == "True", f"{run}: {job['status']}"
        cron_job = get("cronjob", f"recovery-{run.split()[0]}", "-n", namespace)
        done = datetime.fromisoformat(cron_job["status"]["lastSuccessfulTime"])
        assert done >= began, f"{run}: {done} is of an earlier run than {began}"
        assert done == datetime.fromisoformat(job["status"]["completionTime"])


def _jobs(namespace: str) -> dict[str, dict[str, Any]]:
    """Name → Job of the program that a person started, and not yet the schedule."""
    found = get("jobs", "-n", namespace)["items"]
    return {
        one["metadata"]["name"]: one
        for one in found
        if (one["metadata"].get("annotations") or {}).get("cronjob.kubernetes.io/instantiate") == "manual"
    }


def _clock() -> datetime:
    """Now, in whole seconds as the API server writes them; its node is this machine."""
    return datetime.now(UTC).replace(microsecond=0)


def test_run_that_is_good_is_told_as_no_failed_job() -> None:
    known = {one["metadata"]["name"] for one in get("jobs", "-n", OWN)["items"]}
    for word in ("list", "status"):
        recovery(word)
    made = {one["metadata"]["name"]: one for one in get("jobs", "-n", OWN)["items"]}.items()
    fresh = {name: job["status"].get("succeeded") for name, job in made if name not in known}
    assert len(fresh) == 2
    assert set(fresh.values()) == {1}, fresh
    until("their success is told", lambda: all(query(f'kube_job_complete{{job_name="{n}"}} == 1') for n in fresh), 120)
    assert not query(f'kube_job_failed{{job_name=~"{"|".join(fresh)}", condition="true"}} == 1')


def test_suspended_job_is_red() -> None:
    def suspended(value: str) -> None:
        kubectl("-n", OWN, "patch", "cronjob", "recovery-prune", "-p", f'{{"spec": {{"suspend": {value}}}}}')

    try:
        suspended("true")
        code, checks, _ = smoke("--only", "recovery.jobs", patience=PATIENCE)
    finally:
        suspended("false")
    assert code == 1
    assert checks["recovery.jobs"]["status"] == "fail"
    assert "suspend" in checks["recovery.jobs"]["evidence"]


def test_creation_that_is_killed_leaves_no_point_and_the_next_is_clean() -> None:
    before = points()
    killed("create --mode online", lambda: bool(_processes("create --mode online")))
    assert points() == before
    assert recovery("create")["point"] > before[-1]


def test_writers_that_a_killed_run_stopped_are_started_again() -> None:
    before, known = replicas(), points()
    killed("create --mode quiesced", lambda: replicas()["house"] == 0)
    assert replicas() != before, "it was not killed while writers were stopped"
    started = recovery("resume")["started"]
    assert service_name("house") in started
    assert replicas() == before
    assert points() == known
    assert recovery("create --mode quiesced")["mode"] == "quiesced"
    assert replicas() == before
    until("SwanLab answers again", _answers, 180)


def _answers() -> bool:
    path = f"/api/v1/namespaces/{LAB}/services/swanlab-gate:8080/proxy/ready"
    return "answers" in kubectl("get", "--raw", path, check=False)


def test_point_that_is_promoted_over_live_data_is_put_back_on_request() -> None:
    kept = recovery("restore --latest-verified")["point"]
    refused = recovery(f"promote --point {kept} --quiesce", code=3)
    assert "holds rows" in refused["error"]
    recovery(f"promote --point {kept} --quiesce --force")
    recovery("demote --quiesce")
    recovery("discard")
    until("SwanLab answers again", _answers, 180)
    assert smoke("--only", "swanlab.roundtrip")[0] == 0
