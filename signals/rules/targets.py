"""Alerts and records about scrape jobs: one set for every page of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.model import Alert, Group, Record, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def target_alerts(jobs: Iterable[str], may_be_empty: Collection[str] = ()) -> Group:
    """An absence alert per job, and one for targets that exist and do not answer. may_be_empty: see RuleInputs."""
    names = tuple(jobs)
    absent = (_absent(job, only_with_gpus=job in may_be_empty) for job in names)
    return Group(name="plumbline-targets", rules=(*absent, _down(names)))


def target_records() -> Group:
    """What each job delivers: health and cost."""
    return Group(
        name="plumbline-targets-records",
        rules=(
            Record(record="job:up:avg", expr="avg by (cluster, environment, job) (up)"),
            Record(
                record="job:scrape_samples_post_metric_relabeling:sum",
                expr="sum by (cluster, environment, job) (scrape_samples_post_metric_relabeling)",
            ),
            Record(
                record="job:scrape_duration_seconds:max",
                expr="max by (cluster, environment, job) (scrape_duration_seconds)",
            ),
        ),
    )


def _absent(job: str, *, only_with_gpus: bool) -> Alert:
    """A target that discovery does not find has no `up` series, so no comparison with 0 can ever see it missing.

    The result of `absent` carries no label of the series; `cluster` and `environment` come from the external labels.
    only_with_gpus: a pool that is scaled to none has no target, and nobody is blind for it. That a node offers GPUs is
    known from kube-state-metrics, whose own absence is another alert of this group.
    """
    offered = "\nand on ()\nnode:gpu_capacity:sum > 0" if only_with_gpus else ""
    return Alert(
        alert="ScrapeJobAbsent",
        expr=f'absent(up{{job="{job}"}}){offered}',
        wait="5m",
        severity=Severity.P1,
        labels={"job": job},
        summary=f"No target of job {job} is scraped",
        description=f"Discovery has found no target of job {job} for 5 minutes. Every alert and dashboard that needs "
        "its metrics is blind. Likely causes: the workload is gone, a label or port was renamed, the role lost a "
        "permission.",
        runbook="scrape-job-absent",
    )


def _down(jobs: tuple[str, ...]) -> Alert:
    """An average over five minutes also sees a target that answers only every other time."""
    return Alert(
        alert="ScrapeTargetDown",
        expr=f'avg_over_time(up{{job=~"{"|".join(jobs)}"}}[5m]) < 0.75',
        wait="5m",
        severity=Severity.P2,
        summary="{{ $labels.instance }} of job {{ $labels.job }} does not answer scrapes",
        description="{{ $labels.instance }} (job {{ $labels.job }}, cluster {{ $labels.cluster }}) answered "
        "{{ $value | humanizePercentage }} of the scrapes of the last 5 minutes. Likely causes: the process is down "
        "or overloaded, a certificate or token is refused, a limit of the job is hit, a network policy is in the way.",
        runbook="scrape-target-down",
    )
