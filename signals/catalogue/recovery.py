"""What the program recovery/ pushes about restore points, into the Pushgateway's page: one group for each of its jobs.

Pushed series carry no label of a pod; `cluster` and `environment` come from the scrape, `job` says which run it was.
"""

from __future__ import annotations

from typing import Final

from signals.catalogue.model import Described, Metric
from signals.recovery_metrics import (
    CREATE_SECONDS,
    DAMAGED,
    DIFFERENCES,
    LAST_FAILURE,
    LAST_POINT,
    LAST_VERIFIED,
    NEW_BYTES,
    POINT_BYTES,
    POINTS,
    RECOVERY,
    RESTORE_RATE,
    RPO_TARGET,
    RTO_TARGET,
    TAMPERED,
    VERIFY_SECONDS,
)

_POINT: Final = "a restore point was made"
_VERIFIED: Final = "a verification came to its end"
_gauge = Described("", "plumbline 0.1.0 recovery/metrics.py").gauge

METRICS: Final[tuple[Metric, ...]] = (
    _gauge(
        LAST_POINT,
        *RECOVERY[LAST_POINT],
        unit="seconds",
        event=_POINT,
    ),
    _gauge(
        POINT_BYTES,
        *RECOVERY[POINT_BYTES],
        unit="bytes",
        event=_POINT,
    ),
    _gauge(NEW_BYTES, *RECOVERY[NEW_BYTES], unit="bytes", event=_POINT),
    _gauge(
        CREATE_SECONDS,
        *RECOVERY[CREATE_SECONDS],
        unit="seconds",
        event=_POINT,
    ),
    _gauge(RPO_TARGET, *RECOVERY[RPO_TARGET], unit="seconds", event=_POINT, low=1.0),
    _gauge(RTO_TARGET, *RECOVERY[RTO_TARGET], unit="seconds", event=_POINT, low=1.0),
    _gauge(
        LAST_VERIFIED,
        *RECOVERY[LAST_VERIFIED],
        unit="seconds",
        event=_VERIFIED,
    ),
    _gauge(
        VERIFY_SECONDS,
        *RECOVERY[VERIFY_SECONDS],
        unit="seconds",
        event=_VERIFIED,
    ),
    _gauge(
        DIFFERENCES,
        *RECOVERY[DIFFERENCES],
        event=_VERIFIED,
    ),
    _gauge(
        RESTORE_RATE,
        *RECOVERY[RESTORE_RATE],
        unit="bytes per second",
        event="a verification was good",
    ),
    _gauge(DAMAGED, *RECOVERY[DAMAGED], event=_VERIFIED),
    _gauge(POINTS, *RECOVERY[POINTS], event="old restore points were looked for"),
    _gauge(TAMPERED, *RECOVERY[TAMPERED], event="a run came to its end and did not fail"),
    _gauge(
        LAST_FAILURE,
        *RECOVERY[LAST_FAILURE],
        unit="seconds",
        event="a run came to its end",
    ),
)
