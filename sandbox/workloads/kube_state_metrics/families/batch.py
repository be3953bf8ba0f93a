"""Jobs and cron jobs, as `internal/store/job.go` and `cronjob.go` define their families."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.model import Family, Resource, Sample
from sandbox.workloads.kube_state_metrics.objects import condition_of, items, moment, owners, part, pointer, text, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.workloads.kube_state_metrics.model import Object

_FAILURES: Final = ("BackoffLimitExceeded", "DeadlineExceeded", "Evicted")


def _count(job: Object, *, field: str) -> Iterator[Sample]:
    return value(job, "status", field)


def _failed_pods(job: Object) -> Iterator[Sample]:
    """Upstream's shape: 0 without a reason; 1 on a reason it knows; the count under an empty reason otherwise."""
    count = float(part(job, "status").get("failed") or 0)
    if count == 0:
        yield Sample(0.0)
        return
    reasons = [text(c, "reason") for c in items(job, "status", "conditions") if c.get("type") == "Failed"]
    for reason in reasons:
        for known in _FAILURES:
            yield Sample(float(reason == known), (("reason", known),))
    if not any(reason in _FAILURES for reason in reasons):
        yield Sample(count, (("reason", ""),))


def _condition(job: Object, *, kind: str) -> Iterator[Sample]:
    return condition_of(job, kind)


def _moment(obj: Object, *, field: str) -> Iterator[Sample]:
    return moment(obj, "status", field)


def _job_families(_: tuple[str, ...]) -> tuple[Family, ...]:
    return (
        Family(
            name="kube_job_status_succeeded",
            help="The number of pods which reached Phase Succeeded.",
            samples=partial(_count, field="succeeded"),
        ),
        Family(
            name="kube_job_status_failed",
            help="The number of pods which reached Phase Failed and the reason for failure.",
            samples=_failed_pods,
        ),
        Family(
            name="kube_job_status_active",
            help="The number of actively running pods.",
            samples=partial(_count, field="active"),
        ),
        Family(
            name="kube_job_complete",
            help="The job has completed its execution.",
            samples=partial(_condition, kind="Complete"),
        ),
        Family(
            name="kube_job_failed",
            help="The job has failed its execution.",
            samples=partial(_condition, kind="Failed"),
        ),
        Family(
            name="kube_job_status_start_time",
            help="StartTime represents time when the job was acknowledged by the Job Manager.",
            samples=partial(_moment, field="startTime"),
        ),
        Family(name="kube_job_owner", help="Information about the Job's owner.", samples=owners),
    )


def _cronjob_info(cronjob: Object) -> Iterator[Sample]:
    zone = part(cronjob, "spec").get("timeZone")
    yield Sample(
        1.0,
        (
            ("schedule", text(cronjob, "spec", "schedule")),
            ("concurrency_policy", text(cronjob, "spec", "concurrencyPolicy")),
            ("timezone", "local" if zone is None else str(zone)),
        ),
    )


def _suspend(cronjob: Object) -> Iterator[Sample]:
    return pointer(cronjob, "spec", "suspend")


def _cronjob_families(_: tuple[str, ...]) -> tuple[Family, ...]:
    return (
        Family(name="kube_cronjob_info", help="Info about cronjob.", samples=_cronjob_info),
        Family(
            name="kube_cronjob_status_last_successful_time",
            help=("LastSuccessfulTime keeps information of when was the last time the job was completed successfully."),
            samples=partial(_moment, field="lastSuccessfulTime"),
        ),
        Family(
            name="kube_cronjob_spec_suspend",
            help="Suspend flag tells the controller to suspend subsequent executions.",
            samples=_suspend,
        ),
    )


JOBS: Final = Resource(
    name="jobs",
    group="/apis/batch/v1",
    type="*v1.Job",
    identity=(("namespace", "namespace"), ("job_name", "name")),
    families=_job_families,
)
CRONJOBS: Final = Resource(
    name="cronjobs",
    group="/apis/batch/v1",
    type="*v1.CronJob",
    identity=(("namespace", "namespace"), ("cronjob", "name")),
    families=_cronjob_families,
)
