"""What dcgm-exporter exposes about GPUs, with the counters file that this project ships.

The exporter's own file is not used: the one in its image and the one in its chart differ, and both lack fields that the
rules need. Left out on purpose: `DCGM_EXP_P2P_STATUS`, one series for every pair of GPUs of a node, which changes with
the topology alone; other violations, which the clock events already name; per-link bandwidth.
"""

from __future__ import annotations

from signals.catalogue.dcgm_field import DRIVER_VERSION, INSTANCE, SHARER, WORKLOAD
from signals.catalogue.dcgm_health import BUS_ERRORS, EVENTS, MEMORY_ERRORS, THROTTLING
from signals.catalogue.dcgm_use import CLOCKS_AND_POWER, FRAMEBUFFER, LINKS, PROFILING, UTILIZATION
from signals.catalogue.labels import HOSTNAME_DRIFT
from signals.catalogue.model import Budget, Producer

_FIELDS = (
    *CLOCKS_AND_POWER,
    *UTILIZATION,
    *FRAMEBUFFER,
    *EVENTS,
    *MEMORY_ERRORS,
    *BUS_ERRORS,
    *THROTTLING,
    *LINKS,
    *PROFILING,
)

COUNTERS: tuple[tuple[str, str, str], ...] = (
    *((field.name, field.type.value, field.help) for field in _FIELDS),
    (DRIVER_VERSION, "label", "Driver Version"),
)
"""Rows of the counters file: DCGM field, Prometheus type, help. A comma in the help would end the row too early."""

_HEALTH_WATCHES = 11
_CLOCK_EVENTS = 9
_XIDS_AT_ONCE = 4
_ONE_EACH = len(_FIELDS) - len(EVENTS)

PRODUCER = Producer(
    job="dcgm-exporter",
    title="dcgm-exporter",
    versions="dcgm-exporter 4.6.0-4.8.3 and later 4.x",
    target_labels=("cluster", "environment", "node"),
    per_node=True,
    metrics=tuple(field.metric() for field in _FIELDS),
    honor_labels=True,
    complete=True,
    instance_is_node=True,
    label_changes=(HOSTNAME_DRIFT,),
    identity=("gpu", "UUID", *INSTANCE, *WORKLOAD, *SHARER, "health_watch", "clock_event", "xid", "err_code"),
    # The exporter has no metrics of its own process. A GPU holds one series per field, and of the events as many as
    # happen together at worst: the last XID and four codes within the window, every clock event, every health watch.
    # Pods that share a GPU repeat them all, which the sizing counts.
    budget=Budget(per_gpu=_ONE_EACH + 1 + _XIDS_AT_ONCE + _CLOCK_EVENTS + _HEALTH_WATCHES),
)
