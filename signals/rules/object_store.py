"""Alerts about the stack's own object store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs
    from signals.thresholds import Thresholds

_JOB = 'job="object-store"'
_STORE = "cluster, environment, job"
_WHERE = "The object store (cluster {{ $labels.cluster }})"


def object_store_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file."""
    limits = inputs.thresholds
    rules = (_down(), _errors(limits), _read_only(), _volumes(limits), _disk(limits), *_disk_errors())
    return (Group(name="plumbline-object-store", rules=rules),)


def _down() -> Alert:
    """Of the last five minutes: one that answers every other time is down too, and a master that does not lead."""
    share = f"max by ({_STORE}) (avg_over_time(up{{{_JOB}}}[5m]))\n< 0.5"
    leads = f"max by ({_STORE}) (max_over_time(SeaweedFS_master_is_leader{{{_JOB}}}[5m]))\n< 1"
    return Alert(
        alert="ObjectStoreDown",
        expr=f"{share}\nor\n{leads}",
        wait="2m",
        severity=Severity.P1,
        summary="The object store does not answer, or cannot write",
        description=f"{_WHERE} does not answer scrapes, or has no master that leads: media and files of runs are "
        "neither written nor read. Likely causes: its pod is down or started over and over, it is out of memory, its "
        "claim is full or read-only.",
        runbook="object-store",
    )


def _errors(limits: Thresholds) -> Alert:
    """Requests without a key that is known are answered 403 and are no errors of the store."""
    every = f"sum by ({_STORE}) (rate(SeaweedFS_s3_request_total{{{_JOB}}}[10m]))"
    failed = f'sum by ({_STORE}) (rate(SeaweedFS_s3_request_total{{{_JOB}, code=~"5.."}}[10m]))'
    return Alert(
        alert="ObjectStoreErrors",
        expr=f"{failed}\n/ {every}\n> {limits.object_store_errors_high}",
        wait="5m",
        severity=Severity.P2,
        summary="The object store fails requests",
        description=f"{_WHERE} fails {{{{ $value | humanizePercentage }}}} of its requests. Likely causes: no volume "
        "that can be written to, an error of the disk, too little memory.",
        runbook="object-store",
    )


def _read_only() -> Alert:
    """A volume may be closed for a moment while it is compacted."""
    closed = f'SeaweedFS_volumeServer_read_only_volumes{{{_JOB}, type=~"isDiskSpaceLow|noWriteOrDelete"}}'
    return Alert(
        alert="ObjectStoreReadOnly",
        expr=f"sum by ({_STORE}, type) (max_over_time({closed}[5m]))\n> 0",
        wait="10m",
        severity=Severity.P1,
        summary="The object store does not write to some of its volumes",
        description=f"{_WHERE} has closed {{{{ $value }}}} volumes for writing ({{{{ $labels.type }}}}). Writes fail "
        "when no other is open. Likely causes: the claim is full, an error of the disk.",
        runbook="object-store",
    )


def _volumes(limits: Thresholds) -> Alert:
    """Volumes are made as buckets need them, and none beyond the last: then every bucket fails that needs one."""
    used = f'sum by ({_STORE}) (SeaweedFS_volumeServer_volumes{{{_JOB}, type="volume"}})'
    return Alert(
        alert="ObjectStoreNearlyFull",
        expr=f"{used}\n/ max by ({_STORE}) (SeaweedFS_volumeServer_max_volumes{{{_JOB}}} > 0)\n"
        f"> {limits.object_store_volumes_high}",
        wait="15m",
        severity=Severity.P2,
        labels={"room": "volumes"},
        summary="The object store has nearly all its volumes in use",
        description=f"{_WHERE} uses {{{{ $value | humanizePercentage }}}} of the volumes that its claim has room for. "
        "Likely causes: media and files of runs that nobody deletes, many buckets, a claim that is too small.",
        runbook="object-store",
    )


def _disk(limits: Thresholds) -> Alert:
    room = {kind: f'SeaweedFS_volumeServer_resource{{{_JOB}, type="{kind}"}}' for kind in ("avail", "all")}
    by = f"{_STORE}, name"
    return Alert(
        alert="ObjectStoreNearlyFull",
        expr=f"min by ({by}) ({room['avail']})\n/ max by ({by}) ({room['all']} > 0)\n< {limits.volume_free_low}",
        wait="15m",
        severity=Severity.P1,
        labels={"room": "disk"},
        summary="The disk of the object store is nearly full",
        description=f"{_WHERE} has {{{{ $value | humanizePercentage }}}} of {{{{ $labels.name }}}} free. At 5 % it "
        "closes every volume for writing. Likely causes: media and files of runs that nobody deletes, something else "
        "on the same disk.",
        runbook="object-store",
    )


def _disk_errors() -> tuple[Alert, ...]:
    return tuple(
        Alert(
            alert="ObjectStoreDiskErrors",
            expr=grew(f"SeaweedFS_volumeServer_{metric}{{{_JOB}}}", "15m"),
            wait="0s",
            severity=Severity.P1,
            labels={"error": label},
            summary=f"The object store cannot {error} its disk",
            description=f"{{{{ $labels.instance }}}} (cluster {{{{ $labels.cluster }}}}) failed to {error} its disk. "
            "Objects may be damaged. Likely causes: the disk or the storage behind the claim fails.",
            runbook="object-store",
        )
        for metric, label, error in (
            ("file_write_failures", "write", "write to"),
            ("storage_io_error_total", "io", "use"),
        )
    )
