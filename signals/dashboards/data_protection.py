"""Data protection: what would be lost now, whether it could be restored and how fast, and how much room is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals import recovery_metrics as names
from signals.dashboards.data_retention import claims, logs, prometheus
from signals.dashboards.links import runbook
from signals.dashboards.model import Board, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.panels import stat, timeseries
from signals.dashboards.room import ALL, NONE, STACK, object_store, still_told
from signals.dashboards.variables import CLUSTER, ENVIRONMENT, chosen
from signals.pushed_jobs import JOB_PERIOD, JOB_SUCCESS
from signals.rules.recovery import PREDICTED

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.rules.inputs import RecoveryAims

_POINT: Final = "a restore point was made"
_VERIFIED: Final = "a verification came to its end"
_PUSHES: Final = frozenset({"pushgateway"})
_JOBS: Final = f'job=~"{"|".join(names.JOBS)}"'


def data_protection(inputs: BoardInputs) -> Board:
    """Restore points first: what is not in one is gone with its store. Colours change where alerts do."""
    aims = inputs.rules.recovery
    points = () if aims is None else (_now(inputs, aims), _points(inputs), _over_time(inputs, aims), _jobs(inputs))
    return Board(
        uid="plumbline-data-protection",
        title="Data protection",
        meaning="What would be lost if the stores were lost now, whether the restore points are good, how long a "
        "restore takes, and how long what is kept still fits.",
        rows=(
            *points,
            object_store(inputs.rules.thresholds, runbook(inputs, "object-store")),
            claims(inputs),
            prometheus(inputs),
            logs(inputs),
        ),
        variables=(CLUSTER, ENVIRONMENT),
    )


def _kept(metric: str) -> str:
    """The newest value of each stack, as it was last seen: a Pushgateway that is away makes nothing good."""
    return f"max by ({STACK}) (last_over_time({chosen(metric)}[1d]))"


def _by(labels: str, metric: str) -> str:
    return f"max by ({labels}) ({chosen(metric)})"


def _good_until(inputs: BoardInputs, aims: RecoveryAims) -> float:
    """How old a point that is known to be good may be, in seconds."""
    return aims.rpo_seconds + inputs.rules.thresholds.recovery_unverified_periods * aims.verify_period_seconds


def _now(inputs: BoardInputs, aims: RecoveryAims) -> Row:
    point = chosen(names.LAST_POINT)
    rpo, rto = aims.rpo_seconds, aims.rto_seconds
    return Row(
        title="Now",
        panels=(
            stat(
                "Would be lost now",
                f"max(time() - {_kept(names.LAST_POINT)})",
                "Age of the newest restore point, of the stack whose is oldest. Above what may be lost: make one.",
                Unit.SECONDS,
                Limits(warn=rpo, bad=2 * rpo),
                links=runbook(inputs, "recovery-point"),
                empty=_POINT,
            ),
            stat(
                "Known to be good",
                f"max(time() - {_kept(names.LAST_VERIFIED)})",
                "Age of the newest point that was restored and compared, of the stack whose is oldest. Over fifty "
                "years: none ever was.",
                Unit.SECONDS,
                Limits(warn=_good_until(inputs, aims)),
                links=runbook(inputs, "recovery-verification"),
                empty=_VERIFIED,
            ),
            stat(
                "A restore would take",
                f"max({chosen(PREDICTED)})",
                "Size of the newest point at the speed of the last good verification, of the slowest stack.",
                Unit.SECONDS,
                Limits(warn=rto),
                links=runbook(inputs, "recovery-slow"),
                empty="a verification was good",
            ),
            stat(
                "Stacks that tell",
                still_told(point, f"last_over_time({point}[7d])"),
                "Of those that told of restore points in the last week. Below one, the Pushgateway is away or lost its "
                "volume: the numbers here are old, or of the others alone.",
                Unit.RATIO,
                ALL,
                links=runbook(inputs, "recovery-point"),
                empty=_POINT,
            ),
            _failed(inputs),
            stat(
                "Restore points kept",
                f"sum({_by(STACK, names.POINTS)})",
                "Of all stacks. A number that only rises: old ones are not deleted, and the target fills up.",
                links=runbook(inputs, "recovery-prune"),
                empty="old restore points were looked for",
            ),
        ),
        needs=_PUSHES,
    )


def _failed(inputs: BoardInputs) -> Panel:
    told = f"max by ({STACK}, job) ({chosen(names.LAST_FAILURE)})"
    return stat(
        "Jobs that fail",
        f"count({told} > 0) or 0 * count({told})",
        "Jobs that make, verify or delete points, whose last run failed. Which, and in which store: below.",
        Unit.COUNT,
        NONE,
        links=runbook(inputs, "recovery-point"),
        empty="a run came to its end",
    )


def _points(inputs: BoardInputs) -> Row:
    links = runbook(inputs, "recovery-verification")
    tampered = f"max by ({STACK}) (max_over_time({chosen(names.TAMPERED)}[1d]))"
    told = (
        (
            "Differences",
            _kept(names.DIFFERENCES),
            "What the last verification found that is not as its point says. Trust no point until it is explained.",
            _VERIFIED,
        ),
        (
            "Points that are not good",
            _kept(names.DAMAGED),
            "Kept, and not good when they were last verified. Restore from another one.",
            _VERIFIED,
        ),
        (
            "Objects laid over or hidden",
            tampered,
            "In the target, within the last day. What was stored first is locked. Change the target's keys.",
            "a run came to its end and did not fail",
        ),
    )
    return Row(
        title="Trust",
        panels=tuple(
            stat(title, f"sum({expr})", meaning, Unit.COUNT, NONE, links=links, empty=empty)
            for title, expr, meaning, empty in told
        ),
        needs=_PUSHES,
    )


def _over_time(inputs: BoardInputs, aims: RecoveryAims) -> Row:
    read, checked = _by("cluster, store", names.CREATE_SECONDS), _by("cluster", names.VERIFY_SECONDS)
    return Row(
        title="Over time",
        panels=(
            timeseries(
                "Age of the newest point",
                {"{{cluster}}": f"max by (cluster) (time() - {_kept(names.LAST_POINT)})"},
                "Saw teeth: one for each point. A line that goes on rising tells when points stopped.",
                Unit.SECONDS,
                Limits(warn=aims.rpo_seconds),
                links=runbook(inputs, "recovery-point"),
                empty=_POINT,
            ),
            timeseries(
                "Predicted time of a restore",
                {"{{cluster}}": f"max by (cluster) ({chosen(PREDICTED)})"},
                "Data that grows, or a verification that became slow: the two panels below tell which.",
                Unit.SECONDS,
                Limits(warn=aims.rto_seconds),
                links=runbook(inputs, "recovery-slow"),
                empty="a verification was good",
            ),
            timeseries(
                "Size by store",
                {
                    "{{cluster}} {{store}}": _by("cluster, store", names.POINT_BYTES),
                    "{{cluster}} added to the target": _by("cluster", names.NEW_BYTES),
                },
                "Of the newest point, before what is equal is stored once. A step down: a store lost data.",
                Unit.BYTES,
                links=runbook(inputs, "recovery-shrank"),
                empty=_POINT,
            ),
            timeseries(
                "Time of the jobs",
                {
                    "{{cluster}} {{store}}": read,
                    "{{cluster}} verification": checked,
                },
                "To read each store for a point, and to restore and compare one.",
                Unit.SECONDS,
                links=runbook(inputs, "recovery-slow"),
                empty=_POINT,
            ),
        ),
        needs=_PUSHES,
    )


def _jobs(inputs: BoardInputs) -> Row:
    success, period = (
        f"max by (cluster, environment, job) ({chosen(name, _JOBS)})" for name in (JOB_SUCCESS, JOB_PERIOD)
    )
    failure = f"max by (cluster, job, store) ({chosen(names.LAST_FAILURE)} > 0)"
    overdue = Query(
        expr=f"(time() - {success})\n/\n({period} > 0)",
        legend="{{cluster}} {{job}}",
        instant=True,
    )
    return Row(
        title="Jobs",
        panels=(
            Panel(
                title="Own periods since the last success",
                kind=Kind.BARS,
                unit=Unit.RATIO,
                meaning="A job that succeeds on time stays below 100 %. One that never did is beyond all measure.",
                queries=(overdue,),
                limits=Limits(warn=inputs.rules.thresholds.job_overdue_periods),
                links=runbook(inputs, "pushgateway-job"),
                empty="a job pushes it",
                width=12,
            ),
            Panel(
                title="Since the last failure",
                kind=Kind.TABLE,
                unit=Unit.SECONDS,
                meaning="Failures that no success has taken back, and the store in which the run was.",
                queries=(Query(expr=f"time() - {failure}", legend="{{cluster}} {{job}} {{store}}", instant=True),),
                links=runbook(inputs, "recovery-point"),
                empty="no failure is told",
                width=12,
            ),
        ),
        needs=_PUSHES,
    )
