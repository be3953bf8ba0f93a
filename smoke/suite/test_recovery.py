"""Restore points: the jobs that make them, what Prometheus tells of them, and the bucket that keeps them."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from signals import recovery_metrics as told_by
from smoke import limits, poll
from smoke.access.errors import RefusedError, UnreachableError
from smoke.access.kube import BATCH
from smoke.check import check
from smoke.judge import objects, recovery, restore_points
from smoke.judge.objects import Attempt
from smoke.judge.recovery import Seen
from smoke.judge.restore_points import Told
from smoke.model import CheckFailedError, Problem

if TYPE_CHECKING:
    from smoke.stack import Stack
    from stacks.contract import RecoveryJob

Json = dict[str, Any]

READER = "its reader"
PROBE = b"written by a check, which must not be able to"


@check("recovery.jobs")
def test_jobs(stack: Stack) -> str:
    told: list[str] = []

    def probe() -> list[Problem]:
        seen: dict[str, Seen] = {command: _seen(stack, job) for command, job in stack.recovery.jobs.items()}
        told[:] = [recovery.jobs_told(seen)]
        return [*recovery.jobs(seen, _server_time(stack)), *_leftovers(stack)]

    stack.settle(probe, limits.SETTLE)
    return told[0]


@check("recovery.points")
def test_points(stack: Stack) -> str:
    promised, ages = stack.recovery, dict[str, float | None]()
    seen: list[Told] = []

    def probe() -> list[Problem]:
        ages.update({command: _age(stack, job) for command, job in promised.jobs.items()})
        told = _told(stack)
        seen.append(told)
        problems = restore_points.points(told, promised, ages)
        return problems or restore_points.kept(told, _written(stack), promised.bucket)

    stack.settle(probe, limits.SETTLE)
    return restore_points.points_told(seen[-1], promised, ages)


@check("recovery.target")
def test_target(stack: Stack) -> str:
    promised = stack.recovery
    store = poll.fetch(lambda: stack.restore_points)
    stack.settle(
        lambda: restore_points.locked(promised.bucket, store.lock(promised.bucket), promised.lock_days), limits.QUICK
    )
    name = objects.sentinel(time.time(), secrets.token_hex(6))
    # Once, and behind an answer to the same key: what a bucket with a lock takes stays, and any wrong key is refused.
    poll.demand(poll.fetch(lambda: _write(stack, name)))
    poll.demand(poll.fetch(lambda: _read(stack, name)))
    return (
        f"bucket {promised.bucket} locks in mode {restore_points.COMPLIANCE} for at least {promised.lock_days} days; "
        "its reader lists and reads it, and was refused when it wrote"
    )


def _seen(stack: Stack, job: RecoveryJob) -> Seen:
    where = f"{BATCH}/namespaces/{job.namespace}"
    # Jobs before the CronJob: one that ends in between is then told of by its status.
    jobs = stack.kube.items(f"{where}/jobs")
    return Seen(job, stack.kube.find(f"{where}/cronjobs/{job.name}"), jobs, stack.kube.pods(job.namespace))


def _leftovers(stack: Stack) -> list[Problem]:
    promised = stack.recovery
    claims = stack.kube.items(f"/api/v1/namespaces/{promised.namespace}/persistentvolumeclaims")
    kept = {pod["metadata"]["name"] for pod, _ in stack.pods_of("recovery")}
    pods = stack.kube.pods(promised.namespace)
    for where in {job.namespace for job in promised.jobs.values()} - {promised.namespace}:
        pods += [pod for pod in stack.kube.pods(where) if recovery.is_run(pod, promised)]
    return recovery.leftovers(pods, kept, claims, _server_time(stack))


def _age(stack: Stack, job: RecoveryJob) -> float | None:
    live = stack.kube.find(f"{BATCH}/namespaces/{job.namespace}/cronjobs/{job.name}")
    made = Seen(job, live, [], []).made
    return None if made is None else _server_time(stack) - made


def _server_time(stack: Stack) -> float:
    """The clock that wrote every time in the cluster's objects; this machine has another one."""
    if stack.kube.server_time is None:
        raise UnreachableError("API server", "does not say what time it is (header Date)")
    return stack.kube.server_time


def _told(stack: Stack) -> Told:
    """Of this stack's cluster: a Prometheus of somebody else may hold those of others."""
    cluster = stack.contract.cluster.name

    def value(metric: str, job: str) -> float | None:
        found = stack.prometheus.query(f'max({metric}{{job="{job}", cluster=~"|{cluster}"}})')
        return float(found[0]["value"][1]) if found else None

    return Told(
        now=stack.prometheus.scalar("time()"),
        point=value(told_by.LAST_POINT, told_by.CREATE),
        verified=value(told_by.LAST_VERIFIED, told_by.VERIFY),
        differences=value(told_by.DIFFERENCES, told_by.VERIFY),
    )


def _written(stack: Stack) -> dict[str, float]:
    return stack.restore_points.written(stack.recovery.bucket, restore_points.POINTS)


def _write(stack: Stack, name: str) -> list[Problem]:
    """The store refuses it. What it took is removed as far as a lock lets anybody."""
    bucket, store = stack.recovery.bucket, stack.restore_points
    what = f"PUT {bucket}/{name}"
    try:
        version = store.put(bucket, name, PROBE)
    except RefusedError as error:
        return objects.refused(Attempt(READER, what, error.status))
    left = _remove(stack, name, version)
    return [*objects.refused(Attempt(READER, what, objects.ALLOWED)), *left]


def _remove(stack: Stack, name: str, version: str | None) -> list[Problem]:
    bucket, store = stack.recovery.bucket, stack.restore_points
    try:
        poll.fetch(lambda: store.delete(bucket, name, version), limits.CLEAN_UP)
    except (RefusedError, CheckFailedError) as error:
        seen = f"left behind ({error})"
        return [Problem(f"object {bucket}/{name}", seen, "removed; delete it once its lock has run out")]
    return []


def _read(stack: Stack, name: str) -> list[Problem]:
    """The reader may list and read, and the write that was refused has written nothing."""
    bucket, store = stack.recovery.bucket, stack.restore_points
    listed = store.names(bucket, name)
    problems = [Problem(f"object {bucket}/{found}", "there", "nothing: its PUT was refused") for found in listed]
    try:
        store.get(bucket, name)
    except RefusedError as error:
        return [*problems, *objects.gone(Attempt(READER, f"GET {bucket}/{name}", error.status))]
    return [*problems, *objects.gone(Attempt(READER, f"GET {bucket}/{name}", objects.ALLOWED))]
