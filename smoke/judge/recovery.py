"""Who makes, verifies and prunes restore points: CronJobs, what their newest runs came to, and what those left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from smoke import limits
from smoke.judge.pods import TERMINAL_REASONS, container_statuses, is_live
from smoke.judge.security import restricted
from smoke.judge.units import hours, moment, timestamp
from smoke.judge.workloads import image_id, reference
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from stacks.contract import Recovery, RecoveryJob

Json = dict[str, Any]

CREATE: Final = "create"
VERIFY: Final = "verify"
NAME_LABEL: Final = "app.kubernetes.io/name"
MANUAL: Final = "cronjob.kubernetes.io/instantiate"
"""What `kubectl create job --from` writes on a Job, which has the CronJob as its owner all the same."""
_PERIODS: Final = 2
# A container that failed and waits for its next attempt: the Job counts them, and fails by itself.
_STUCK: Final = TERMINAL_REASONS - {"CrashLoopBackOff"}


@dataclass(frozen=True)
class Seen:
    """A CronJob as the API server shows it. live: None if it is not there. jobs, pods: all of its namespace."""

    promised: RecoveryJob
    live: Json | None
    jobs: list[Json]
    pods: list[Json]

    @property
    def subject(self) -> str:
        """How problems call it."""
        return f"CronJob {self.promised.namespace}/{self.promised.name}"

    @property
    def period(self) -> int | None:
        """Seconds; None for one that never starts a Job."""
        return self.promised.period_seconds

    @property
    def made(self) -> float | None:
        """Unix time since when it is there."""
        return None if self.live is None else _created(self.live)

    @property
    def started(self) -> list[Json]:
        """Jobs that it has started itself, and nobody by hand."""
        if self.live is None:
            return []
        own = [job for job in self.jobs if _is_owned(job, self.live)]
        return [job for job in own if MANUAL not in (job["metadata"].get("annotations") or {})]

    @property
    def newest_ended(self) -> Json | None:
        """Of the Jobs that it has started, the one that ended last."""
        return max((job for job in self.started if _end(job) is not None), key=lambda job: _end(job) or 0, default=None)

    def status(self, field: str) -> float | None:
        """A moment of its status as Unix time, None if there is none."""
        told = ((self.live or {}).get("status") or {}).get(field)
        return timestamp(told) if told else None


def is_run(pod: Json, promised: Recovery) -> bool:
    """Whether the pod is of a Job of recovery, which ends, and may fail once before it does."""
    owners = pod["metadata"].get("ownerReferences") or []
    names = {job.name for job in promised.jobs.values()}
    labels = pod["metadata"].get("labels") or {}
    return any(owner.get("kind") == "Job" for owner in owners) and labels.get(NAME_LABEL) in names


def jobs(seen: Mapping[str, Seen], now: float) -> list[Problem]:
    """Every CronJob is as promised, has run when it had to, and ended well last. now: the API server's time."""
    problems: list[Problem] = []
    for command, one in seen.items():
        if one.live is None:
            problems.append(Problem(one.subject, "does not exist", "exists"))
            continue
        create = seen.get(CREATE) if command == VERIFY else None
        problems += _spec(one, one.live)
        if one.period is not None:
            problems += [*_ran(one, one.period, now), *_outcome(one, create), *_pods(one)]
    return problems


def jobs_told(seen: Mapping[str, Seen]) -> str:
    """A line for each CronJob: what its newest run came to, in which pod, or when the first one is due."""
    return "\n".join(f"{one.subject}: {_run_told(one, command, seen)}" for command, one in seen.items())


def leftovers(pods: list[Json], kept: Collection[str], claims: list[Json], now: float) -> list[Problem]:
    """Nothing of a run that hung or was killed. kept: names of pods that are to stay. now: the API server's time."""
    problems = []
    for pod in pods:
        meta = pod["metadata"]
        age = now - timestamp(pod.get("status", {}).get("startTime") or meta["creationTimestamp"])
        if meta["name"] not in kept and is_live(pod) and age > limits.LONGEST_RUN:
            name = f"pod {meta['namespace']}/{meta['name']}"
            problems.append(Problem(name, f"there for {hours(age)}", f"ended within {hours(limits.LONGEST_RUN)}"))
    uids = {pod["metadata"]["uid"] for pod in pods}
    for claim in claims:
        owners = [o for o in claim["metadata"].get("ownerReferences") or [] if o.get("kind") == "Pod"]
        for owner in (owner for owner in owners if owner["uid"] not in uids):
            name = f"claim {claim['metadata']['namespace']}/{claim['metadata']['name']}"
            problems.append(Problem(name, f"its pod {owner['name']} is gone", "deleted with it"))
    return problems


def _spec(seen: Seen, live: Json) -> list[Problem]:
    spec, problems = live["spec"], []
    suspended = bool(spec.get("suspend"))
    if suspended and seen.period is not None:
        problems.append(Problem(seen.subject, "suspended", "not suspended", terminal=True))
    if not suspended and seen.period is None:
        problems.append(Problem(seen.subject, "starts Jobs by itself", "suspended: people start them", terminal=True))
    policy = spec.get("concurrencyPolicy", "Allow")
    if policy != "Forbid":
        problems.append(Problem(seen.subject, f"concurrencyPolicy {policy}", "Forbid", terminal=True))
    template = spec["jobTemplate"]["spec"]["template"]["spec"]
    subject = f"template of {seen.subject}"
    wrong = reference(subject, seen.promised.image, template)
    # Its pods come and go, so that `pod.security` finds none of them to look into.
    return [*problems, *([wrong] if wrong else []), *restricted({"spec": template}, subject)]


def _ran(seen: Seen, period: int, now: float) -> list[Problem]:
    """Not asked of a CronJob that is younger than the time in which it must have run."""
    allowed = _PERIODS * period
    last = max([*map(_created, seen.started), seen.status("lastScheduleTime") or 0.0])
    if now - (seen.made or 0.0) <= allowed or now - last <= allowed:
        return []
    ago = f"{hours(now - last)} ago" if last else "never"
    return [Problem(seen.subject, f"last started a Job {ago}", f"one within {hours(allowed)}, two of its periods")]


def _outcome(seen: Seen, create: Seen | None) -> list[Problem]:
    """Of the newest run that has ended. A Job may be deleted soon after it ended: then its CronJob's status tells."""
    job, problems = seen.newest_ended, []
    if job is not None and _failure(job) and not _too_early(_created(job), create):
        told = f"failed at {moment(_end(job) or 0)}{_failure(job)}, pods {_pods_of(job, seen.pods)}"
        name = f"Job {seen.promised.namespace}/{job['metadata']['name']}"
        problems.append(Problem(name, told, "the newest Job of its CronJob that has ended did not fail", terminal=True))
    last, well = seen.status("lastScheduleTime"), seen.status("lastSuccessfulTime")
    unknown = last is not None and not any(_created(job) >= last for job in seen.started)
    if last is not None and unknown and (well is None or well < last) and not _too_early(last, create):
        when = moment(well) if well else "never"
        problems.append(
            Problem(seen.subject, f"run of {moment(last)} is gone, last success {when}", "a run that ended well")
        )
    return problems


def _too_early(start: float, create: Seen | None) -> bool:
    """Whether a verification began before there could be a point: none was due by then, and none is known of."""
    made = create.made if create else None
    if create is None or made is None or create.period is None:
        return False
    successes = [_end(job) for job in create.jobs if _is_complete(job) and _label(job) == create.promised.name]
    known = [end for end in (*successes, create.status("lastSuccessfulTime")) if end is not None]
    return start < made + create.period + limits.RUN_SLACK and not any(end <= start for end in known)


def _pods(seen: Seen) -> list[Problem]:
    """None waits for what never comes, and each that should run the promised image does."""
    problems: list[Problem] = []
    image = seen.promised.image
    uids = {job["metadata"]["uid"] for job in seen.started}
    for pod in seen.pods:
        if not any(owner.get("uid") in uids for owner in pod["metadata"].get("ownerReferences") or []):
            continue
        name = f"pod {seen.promised.namespace}/{pod['metadata']['name']}"
        for status in container_statuses(pod):
            reason = ((status.get("state") or {}).get("waiting") or {}).get("reason", "")
            if reason in _STUCK:
                problems.append(Problem(f"{name} container {status['name']}", reason, "running", terminal=True))
            # One that was started before the last update ran what was right then.
            if status["name"] == image.container and status.get("imageID") and not reference(name, image, pod["spec"]):
                wrong = image_id(name, image, pod)
                problems += [wrong] if wrong else []
    return problems


def _run_told(seen: Seen, command: str, everything: Mapping[str, Seen]) -> str:
    if seen.period is None:
        return "there for people to start Jobs from, and suspended"
    job = seen.newest_ended
    if job is not None:
        how = "failed, for there was no restore point yet," if _failure(job) else "ended well"
        return f"Job {job['metadata']['name']} {how} at {moment(_end(job) or 0)}, pods {_pods_of(job, seen.pods)}"
    well, last = seen.status("lastSuccessfulTime"), seen.status("lastScheduleTime")
    if well is not None:
        return f"ended well at {moment(well)}, its Job and pod are deleted"
    if last is not None:
        early = command == VERIFY and _too_early(last, everything.get(CREATE)) and not seen.started
        return f"run of {moment(last)} {'found no restore point yet' if early else 'has not ended'}"
    return f"no run yet; the first is due at {moment((seen.made or 0) + seen.period)}"


def _is_owned(job: Json, live: Json) -> bool:
    owners = job["metadata"].get("ownerReferences") or []
    return any(owner.get("uid") == live["metadata"]["uid"] for owner in owners)


def _condition(job: Json, kind: str) -> Json | None:
    conditions = job.get("status", {}).get("conditions") or []
    return next((c for c in conditions if c["type"] == kind and c["status"] == "True"), None)


def _is_complete(job: Json) -> bool:
    return _condition(job, "Complete") is not None


def _failure(job: Json) -> str:
    """Why the Job failed, in brackets; empty if it did not."""
    failed = _condition(job, "Failed")
    return f" ({failed.get('reason', 'Failed')}: {failed.get('message', 'no message')})" if failed else ""


def _end(job: Json) -> float | None:
    """Unix time, None while it runs."""
    ended = _condition(job, "Complete") or _condition(job, "Failed")
    if ended is None:
        return None
    return timestamp(job["status"].get("completionTime") or ended["lastTransitionTime"])


def _created(live: Json) -> float:
    return timestamp(live["metadata"]["creationTimestamp"])


def _label(live: Json) -> str:
    return str((live["metadata"].get("labels") or {}).get(NAME_LABEL, ""))


def _pods_of(job: Json, pods: list[Json]) -> str:
    return ", ".join(pod["metadata"]["name"] for pod in pods if _is_owned(pod, job)) or "none left"
