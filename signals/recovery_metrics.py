"""Names and shapes of what the program recovery/ pushes: for the program itself, which must not restart with every page
of the catalogue, and for the catalogue, which says the rest of them."""

from __future__ import annotations

from typing import Final, NamedTuple

from signals.pushed_jobs import JOB_PERIOD, JOB_SUCCESS

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
TAMPERED: Final = f"{_PREFIX}tampered_objects"
LAST_FAILURE: Final = f"{_PREFIX}last_failure_timestamp_seconds"


class Shape(NamedTuple):
    """A gauge. labels: of each sample, besides those of the group."""

    meaning: str
    labels: tuple[str, ...] = ()


_STORE: Final = ("store",)
RECOVERY: Final[dict[str, Shape]] = {
    LAST_POINT: Shape(
        "Nothing that was acknowledged before this moment is missing from the newest restore point, since 1970."
    ),
    POINT_BYTES: Shape(
        "Size of a store's part of the newest restore point, before what is equal is stored once.", _STORE
    ),
    NEW_BYTES: Shape("What the newest restore point added to the target."),
    CREATE_SECONDS: Shape("How long it took to read a store for the newest restore point.", _STORE),
    RPO_TARGET: Shape("How much may be lost, as the stack's settings say."),
    RTO_TARGET: Shape("How long a restore may take, as they say."),
    LAST_VERIFIED: Shape(
        "The same moment of the newest restore point whose last verification was good, since 1970; 0 means none."
    ),
    VERIFY_SECONDS: Shape("How long the last verification restored and compared."),
    DIFFERENCES: Shape("What the last verification found that is not as the restore point says; 0 is a good one."),
    RESTORE_RATE: Shape("Bytes of a restore point that the last good verification restored and compared in a second."),
    DAMAGED: Shape("Restore points that are kept and whose last verification was not good."),
    POINTS: Shape("Restore points that are kept."),
    TAMPERED: Shape(
        "Objects of the target that somebody laid something over or hid, as far as the last run of this job read them; "
        "what was stored first could still be read."
    ),
    LAST_FAILURE: Shape(
        "When this job last failed, since 1970; `store` is where, or `none` if it was in no store. 0 means that it has "
        "succeeded since.",
        _STORE,
    ),
}
"""Name → shape, of what only this program pushes."""

PUSHED: Final[dict[str, Shape]] = {
    **RECOVERY,
    JOB_SUCCESS: Shape("When the job of this group last succeeded, since 1970; 0 means never."),
    JOB_PERIOD: Shape("How often the job of this group means to succeed."),
}
"""Everything that it pushes."""
