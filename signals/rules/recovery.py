"""Alerts about restore points: too old, not verified, not good, not made. See signals/catalogue/recovery.py.

That a job has not run at all is told by the promise that it pushed (signals/rules/pushgateway.py). What may be lost
and how long a restore may take stand in the rules as numbers of the stack: a job that is dead cannot tell them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals import recovery_metrics as names
from signals.pushed_jobs import JOB_SUCCESS
from signals.rules.model import Alert, Group, Record, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RecoveryAims, RuleInputs

_STACK: Final = "cluster, environment"
_JOB: Final = "cluster, environment, job"
_STORE: Final = "cluster, environment, store"
_WHERE: Final = "Cluster {{ $labels.cluster }}"
_NOISE_BYTES: Final = 1024**2
"""A store may become this much smaller whatever it held: a queue that was emptied, a cache."""
_NOISE_BYTES_SMALL: Final = 4096
"""The same of a store that holds a lot in few bytes: a board or two that somebody tried."""
_CLOCK_SECONDS: Final = 60
"""A moment that was pushed lies before the scrape; clocks of a cluster are closer together than this."""
PREDICTED: Final = "cluster:recovery_restore:seconds"


def recovery_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file; none for a stack that makes no restore points."""
    aims = inputs.recovery
    if aims is None:
        return ()
    periods = inputs.thresholds.recovery_unverified_periods
    limit = round(aims.rpo_seconds + periods * aims.verify_period_seconds)
    points = (_too_old(aims), _missing(aims), _create_failing(), _clock_ahead())
    checks = (_not_good(), _tampered(), _damaged(), _never_verified(limit), _unverified(limit), _verify_failing())
    sizes = (_shrank(inputs.thresholds.recovery_shrink_high, aims), _left_out(), _predicted(), _too_slow(aims))
    return (
        Group(name="plumbline-recovery-points", rules=points),
        Group(name="plumbline-recovery-verification", rules=checks),
        Group(name="plumbline-recovery-sizes", rules=(*sizes, _prune_failing())),
    )


def _too_old(aims: RecoveryAims) -> Alert:
    return Alert(
        alert="RecoveryPointTooOld",
        expr=f"time() - max by ({_STACK}) ({_kept(names.LAST_POINT)})\n> {aims.rpo_seconds}",
        wait="1m",
        severity=Severity.P1,
        summary="More would be lost now than the stack allows",
        description=f"{_WHERE}: if its stores were lost now, the last {{{{ $value | humanizeDuration }}}} would be "
        f"gone; allowed are {_duration(aims.rpo_seconds)}. Likely causes: job {names.CREATE} fails, is suspended or "
        "is no longer started, a point takes longer than it may, the points were made and could not be told.",
        runbook="recovery-point",
    )


def _kept(metric: str) -> str:
    """As it was last seen: what is bad does not become good because the Pushgateway is away."""
    return f"last_over_time({metric}[1d])"


def _missing(aims: RecoveryAims) -> Alert:
    """`absent` keeps no label of the series; `cluster` and `environment` come from the external labels."""
    return Alert(
        alert="RecoveryPointMissing",
        expr=f"absent({names.LAST_POINT})",
        wait=f"{aims.rpo_seconds}s",
        severity=Severity.P1,
        summary="Nobody knows of a single restore point",
        description=f"For {_duration(aims.rpo_seconds)}, which is what may be lost, no restore point was told. Likely "
        f"causes: job {names.CREATE} never came to its end, its pod cannot start, it may not reach the Pushgateway, "
        "the Pushgateway lost its volume.",
        runbook="recovery-point",
    )


def _failing(job: str) -> str:
    """The last failure of a job, which a success takes back: what was told last counts, and no clock is asked."""
    return f'max by ({_JOB}, store) ({names.LAST_FAILURE}{{job="{job}"}} > 0)'


def _failed(what: str) -> str:
    return (
        f"{_WHERE}: the last {what} failed at {{{{ $value | humanizeTimestamp }}}} (store {{{{ $labels.store }}}}), "
        "and none has succeeded since."
    )


def _create_failing() -> Alert:
    """Half an hour: a Job tries again by itself."""
    return Alert(
        alert="RecoveryCreateFailing",
        expr=_failing(names.CREATE),
        wait="30m",
        severity=Severity.P2,
        summary="Restore points cannot be made",
        description=f"{_failed(f'run of {names.CREATE}')} The points before are as good as they were; what may be lost "
        "grows. Likely causes: a store does not answer, the target is full or refuses the writer, it lets the writer "
        "delete or overwrite, client and server of PostgreSQL are of two versions.",
        runbook="recovery-point",
    )


def _clock_ahead() -> Alert:
    """A moment to come would look fresh until then, whatever happens meanwhile."""
    moments = (
        names.LAST_POINT,
        names.LAST_VERIFIED,
        names.LAST_FAILURE,
        f'{JOB_SUCCESS}{{job=~"{"|".join(names.JOBS)}"}}',
    )
    ahead = (f"max by ({_JOB}) ({moment}) - time() > {_CLOCK_SECONDS}" for moment in moments)
    return Alert(
        alert="RecoveryClockAhead",
        expr="\nor\n".join(ahead),
        wait="1m",
        severity=Severity.P2,
        summary="{{ $labels.job }} told a time that is still to come",
        description=f"{_WHERE}: job {{{{ $labels.job }}}} told a time that is {{{{ $value | humanizeDuration }}}} "
        "ahead. Until then its age says nothing, and a newer restore point counts as older. Likely causes: the clock "
        "of its node was or is ahead, that of Prometheus is behind.",
        runbook="recovery-point",
    )


def _not_good() -> Alert:
    return Alert(
        alert="RecoveryVerificationFailed",
        expr=f"max by ({_STACK}) ({_kept(names.DIFFERENCES)})\n> 0",
        wait="1m",
        severity=Severity.P1,
        summary="A restored copy is not what the restore point says",
        description=f"{_WHERE}: the last verification found {{{{ $value | humanize }}}} differences. The restore point "
        "cannot be trusted, and those after it may share its content. Likely causes: content is missing from the "
        "target or altered, the store was altered while it was read, a restore drops rows in this version.",
        runbook="recovery-verification",
    )


def _tampered() -> Alert:
    """For a day after it was last seen: a run that stores the right content again sees nothing any more."""
    return Alert(
        alert="RecoveryTargetTampered",
        expr=f"max by ({_STACK}) (max_over_time({names.TAMPERED}[1d]))\n> 0",
        wait="1m",
        severity=Severity.P1,
        summary="Somebody laid something over restore points",
        description=f"{_WHERE}: {{{{ $value | humanize }}}} objects of the target are hidden, or have something over "
        "them that this program never stored. What was stored first is locked, and was read. Likely causes: a key of "
        "the target is in other hands, somebody works in the bucket by hand, a lifecycle rule hides objects, the "
        "target's disks spoilt them.",
        runbook="recovery-verification",
    )


def _damaged() -> Alert:
    """While the last verification was good; else the alert above says it."""
    bad = f"max by ({_STACK}) ({names.DAMAGED}) > 0"
    return Alert(
        alert="RecoveryPointDamaged",
        expr=f"{bad}\nunless\nmax by ({_STACK}) ({names.DIFFERENCES}) > 0",
        wait="1m",
        severity=Severity.P2,
        summary="Restore points are kept that are not good",
        description=f"{_WHERE}: {{{{ $value | humanize }}}} of the restore points that are kept were not good when "
        "they were last verified. The one that was verified last is good. Likely causes: content is missing from the "
        "target or altered, an older version of the program made them.",
        runbook="recovery-verification",
    )


def _never_verified(limit: int) -> Alert:
    return Alert(
        alert="RecoveryNeverVerified",
        expr=f"max by ({_STACK}) ({names.LAST_POINT})\nunless\nmax by ({_STACK}) ({names.LAST_VERIFIED} > 0)",
        wait=f"{limit}s",
        severity=Severity.P2,
        summary="No restore point was ever restored and compared",
        description=f"{_WHERE}: for {_duration(limit)} restore points were made and none is known to be good. Likely "
        f"causes: job {names.VERIFY} is suspended, its pod finds no room, it fails every time, the Pushgateway lost "
        "its volume.",
        runbook="recovery-verification",
    )


def _unverified(limit: int) -> Alert:
    return Alert(
        alert="RecoveryVerificationTooOld",
        expr=f"time() - max by ({_STACK}) ({_kept(names.LAST_VERIFIED)} > 0)\n> {limit}",
        wait="1m",
        severity=Severity.P2,
        summary="The newest restore point that is known to be good is too old",
        description=f"{_WHERE}: the newest restore point that was compared and good is "
        f"{{{{ $value | humanizeDuration }}}} old, more than {_duration(limit)}. Likely causes: job {names.VERIFY} "
        "fails, is suspended or finds no room, it verifies old points alone, no new ones are made.",
        runbook="recovery-verification",
    )


def _verify_failing() -> Alert:
    return Alert(
        alert="RecoveryVerifyFailing",
        expr=_failing(names.VERIFY),
        wait="30m",
        severity=Severity.P2,
        summary="Restore points cannot be verified",
        description=f"{_failed(f'run of {names.VERIFY}')} Nothing is known of the points since. Likely causes: no room "
        "for the copies, a short-lived store does not start, the target refuses the reader, the signing key is "
        "another one.",
        runbook="recovery-verification",
    )


def _shrank(share: float, aims: RecoveryAims) -> Alert:
    """An empty dump is a good copy of an empty database: only its size tells."""
    small = "|".join(aims.small)
    expr = _lacks(share, f'store!~"{small}"' if small else "", _NOISE_BYTES)
    if small:
        expr += "\nor\n" + _lacks(share, f'store=~"{small}"', _NOISE_BYTES_SMALL)
    return Alert(
        alert="RecoveryPointShrank",
        expr=expr,
        wait="1m",
        severity=Severity.P2,
        summary="The restore point of store {{ $labels.store }} became much smaller",
        description=f"{_WHERE}: the part of store {{{{ $labels.store }}}} is {{{{ $value | humanize1024 }}}}B smaller "
        "than one of the last day. Points that hold more are deleted in time. Likely causes: data was lost or deleted "
        "in the store itself, projects were removed on purpose, the store was replaced by an empty one.",
        runbook="recovery-shrank",
    )


def _lacks(share: float, matcher: str, noise: int) -> str:
    size = f"{names.POINT_BYTES}{{{matcher}}}" if matcher else names.POINT_BYTES
    before = f"max by ({_STORE}) (max_over_time({size}[1d]))"
    return f"{before} - max by ({_STORE}) ({size})\n> {share} * {before}\n> {noise}"


def _left_out() -> Alert:
    return Alert(
        alert="RecoveryStoreLeftOut",
        expr=f"max by ({_STORE}) (max_over_time({names.POINT_BYTES}[1d]))\nunless\n"
        f"max by ({_STORE}) ({names.POINT_BYTES})\nand on ({_STACK})\nmax by ({_STACK}) ({names.POINT_BYTES})",
        wait="5m",
        severity=Severity.P2,
        summary="Restore points no longer hold store {{ $labels.store }}",
        description=f"{_WHERE}: store {{{{ $labels.store }}}} is in a restore point of the last day and not in the "
        "newest. Likely causes: it was taken out of the configuration or renamed there, on purpose or not.",
        runbook="recovery-shrank",
    )


def _predicted() -> Record:
    """A store counts once, whoever scrapes what was pushed about it."""
    return Record(
        record=PREDICTED,
        expr=f"sum by ({_STACK}) (max by ({_STORE}) ({names.POINT_BYTES}))\n/ max by ({_STACK}) ({names.RESTORE_RATE})",
    )


def _too_slow(aims: RecoveryAims) -> Alert:
    return Alert(
        alert="RecoveryTooSlow",
        expr=f"{PREDICTED} > {aims.rto_seconds}",
        wait="15m",
        severity=Severity.P3,
        summary="A restore would take longer than the stack allows",
        description=f"{_WHERE}: by its size and the speed of the last verification, restoring the newest point takes "
        f"{{{{ $value | humanizeDuration }}}}; allowed are {_duration(aims.rto_seconds)}. Likely causes: the data has "
        "grown, the verification ran on a slow or busy node, the target has become slow.",
        runbook="recovery-slow",
    )


def _prune_failing() -> Alert:
    return Alert(
        alert="RecoveryPruneFailing",
        expr=_failing(names.PRUNE),
        wait="30m",
        severity=Severity.P3,
        summary="Old restore points cannot be deleted",
        description=f"{_failed(f'run of {names.PRUNE}')} The target fills up; no point is lost. Likely causes: the "
        "target refuses the account that prunes, points are still locked, a manifest cannot be read.",
        runbook="recovery-prune",
    )


def _duration(seconds: int) -> str:
    """As Prometheus' `humanizeDuration` writes whole seconds of at least a minute: `1d 0h 0m 0s`."""
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    parts = (f"{days}d " if days else "", f"{hour}h " if hours else "", f"{minute}m " if minutes else "", f"{second}s")
    return "".join(parts)
