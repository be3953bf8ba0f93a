"""What the program recovery/ pushes about restore points, into the Pushgateway's page: one group for each of its jobs.

Pushed series carry no label of a pod; `cluster` and `environment` come from the scrape, `job` says which run it was.
"""

from __future__ import annotations

from typing import Final

from signals.catalogue.model import Described, Metric

CREATE: Final = "recovery-create"
VERIFY: Final = "recovery-verify"
PRUNE: Final = "recovery-prune"
JOBS: Final = (CREATE, VERIFY, PRUNE)
"""Values of the label `job`: one group of the Pushgateway each."""

_PREFIX: Final = "plumbline_recovery_"
LAST_POINT: Final = f"{_PREFIX}last_point_timestamp_seconds"
POINT_BYTES: Final = f"{_PREFIX}point_bytes"
NEW_BYTES: Final = f"{_PREFIX}point_new_bytes"
CREATE_SECONDS: Final = f"{_PREFIX}create_duration_seconds"
RPO_TARGET: Final = f"{_PREFIX}rpo_target_seconds"
RTO_TARGET: Final = f"{_PREFIX}rto_target_seconds"
LAST_VERIFIED: Final = f"{_PREFIX}last_verified_point_timestamp_seconds"
VERIFY_SECONDS: Final = f"{_PREFIX}verification_duration_seconds"
DIFFERENCES: Final = f"{_PREFIX}verification_differences"
RESTORE_RATE: Final = f"{_PREFIX}restore_bytes_per_second"
DAMAGED: Final = f"{_PREFIX}points_damaged"
POINTS: Final = f"{_PREFIX}points"
LAST_FAILURE: Final = f"{_PREFIX}last_failure_timestamp_seconds"

_POINT: Final = "a restore point was made"
_VERIFIED: Final = "a verification came to its end"
_gauge = Described("", "plumbline 0.1.0 recovery/metrics.py").gauge

METRICS: Final[tuple[Metric, ...]] = (
    _gauge(
        LAST_POINT,
        "Nothing that was acknowledged before this moment is missing from the newest restore point, since 1970.",
        unit="seconds",
        event=_POINT,
    ),
    _gauge(
        POINT_BYTES,
        "Size of a store's part of the newest restore point, before what is equal is stored once.",
        ("store",),
        unit="bytes",
        event=_POINT,
    ),
    _gauge(NEW_BYTES, "What the newest restore point added to the target.", unit="bytes", event=_POINT),
    _gauge(
        CREATE_SECONDS,
        "How long it took to read a store for the newest restore point.",
        ("store",),
        unit="seconds",
        event=_POINT,
    ),
    _gauge(RPO_TARGET, "How much may be lost, as the stack's settings say.", unit="seconds", event=_POINT, low=1.0),
    _gauge(RTO_TARGET, "How long a restore may take, as they say.", unit="seconds", event=_POINT, low=1.0),
    _gauge(
        LAST_VERIFIED,
        "The same moment of the newest restore point whose last verification was good, since 1970; 0 means none.",
        unit="seconds",
        event=_VERIFIED,
    ),
    _gauge(
        VERIFY_SECONDS,
        "How long the last verification restored and compared.",
        unit="seconds",
        event=_VERIFIED,
    ),
    _gauge(
        DIFFERENCES,
        "What the last verification found that is not as the restore point says; 0 is a good one.",
        event=_VERIFIED,
    ),
    _gauge(
        RESTORE_RATE,
        "Bytes of a restore point that the last good verification restored and compared in a second.",
        unit="bytes per second",
        event="a verification was good",
    ),
    _gauge(DAMAGED, "Restore points that are kept and whose last verification was not good.", event=_VERIFIED),
    _gauge(POINTS, "Restore points that are kept.", event="old restore points were looked for"),
    _gauge(
        LAST_FAILURE,
        "When this job last failed, since 1970; `store` is where, or `none` if it was in no store.",
        ("store",),
        unit="seconds",
        event="a run failed",
    ),
)
