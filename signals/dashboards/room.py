"""What boards about stores share: how a counter grew, the room in claims and in the object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.model import Good, Limits, Panel, Row, Unit
from signals.dashboards.panels import stat, timeseries
from signals.dashboards.variables import chosen

if TYPE_CHECKING:
    from signals.dashboards.model import Link
    from signals.thresholds import Thresholds

STACK: Final = "cluster, environment"
CLAIM: Final = f"{STACK}, namespace, persistentvolumeclaim"
MOUNTED: Final = "a pod mounts a claim whose driver reports statistics (volumes on a host path never do)"
NONE: Final = Limits(warn=1.0)
"""Of a number that is none on a good day."""
ALL: Final = Limits(warn=1.0, good=Good.HIGH)
"""Of a share that is the whole on a good day."""
_STORE: Final = 'job="object-store"'
_STORED: Final = "the first object of a bucket"


def grown(selector: str, job: str) -> str:
    """By how much a counter grew in the board's time, of each stack: 0 only where a target of the job answers.

    A series that is new in that time counts from zero: its first sample may already be a loss. Of a process that is
    older than what is recorded, this is all that it ever counted: too much rather than too little. What has not grown
    is left out: its zero would outlive whoever counts.
    """
    alive = chosen("up", f'job="{job}"')
    before = f"min_over_time({selector}[$__range]) unless {selector} offset $__range"
    both = f'increase({selector}[$__range])\nor\nlabel_replace({before}, "new", "yes", "", "")'
    return f"sum by ({STACK}) (({both}) > 0)\nor\n0 * max by ({STACK}) ({alive} == 1)"


def still_told(now: str, recently: str) -> str:
    """The share of stacks that are still heard of those that were. Both: expressions with one series a stack, or more.

    One that is no longer heard counts as a zero, and does not leave the average to those that are well.
    """
    known = f"group by ({STACK}) ({recently})"
    return f"sum(group by ({STACK}) ({now}) or 0 * {known})\n/\ncount({known})"


def claims_free(more: str = "") -> str:
    """The free share of each claim; one whose pod has moved is told of by two kubelets for a while."""
    job = f'job="kubelet"{more}'
    free, size = (chosen(f"kubelet_volume_stats_{what}_bytes", job) for what in ("available", "capacity"))
    return f"max by ({CLAIM}) ({free})\n/\nmax by ({CLAIM}) ({size} > 0)"


def object_store(limits: Thresholds, links: tuple[Link, ...]) -> Row:
    """How much room the stack's object store has, and whether it writes."""
    return Row(
        title="Object store",
        panels=(
            disk(limits, links),
            _volumes(limits, links),
            _closed(links),
            timeseries(
                "Object store: objects",
                {
                    "{{cluster}} {{collection}}": f"sum by (cluster, collection) (max by ({STACK}, collection, type) "
                    f"({chosen('SeaweedFS_volumeServer_total_disk_size', _STORE)}))"
                },
                "By bucket, what is not yet cleaned away included. A step tells which bucket fills the claim.",
                Unit.BYTES,
                empty=_STORED,
            ),
        ),
        needs=frozenset({"object-store"}),
    )


def disk(limits: Thresholds, links: tuple[Link, ...]) -> Panel:
    """How much of the object store's disk is free."""
    room = {kind: chosen("SeaweedFS_volumeServer_resource", f'{_STORE}, type="{kind}"') for kind in ("avail", "all")}
    by = f"{STACK}, name"
    return stat(
        "Object store: free",
        f"min(min by ({by}) ({room['avail']})\n/\nmax by ({by}) ({room['all']} > 0))",
        "Of the fullest disk. At 5 % every volume is closed for writing. Delete what nobody needs, or grow it.",
        Unit.RATIO,
        Limits(warn=limits.volume_free_low, good=Good.HIGH),
        links=links,
    )


def _volumes(limits: Thresholds, links: tuple[Link, ...]) -> Panel:
    volumes = chosen("SeaweedFS_volumeServer_volumes", f'{_STORE}, type="volume"')
    kept = f"max by ({STACK}, collection) ({volumes})"
    most = f"max by ({STACK}) ({chosen('SeaweedFS_volumeServer_max_volumes', _STORE)} > 0)"
    return stat(
        "Object store: volumes in use",
        f"max(sum by ({STACK}) ({kept})\n/\n{most})",
        "Of those that the claim has room for. When all are in use, a bucket that needs one more fails.",
        Unit.RATIO,
        Limits(warn=limits.object_store_volumes_high),
        links=links,
        empty=_STORED,
    )


def _closed(links: tuple[Link, ...]) -> Panel:
    closed = chosen("SeaweedFS_volumeServer_read_only_volumes", f'{_STORE}, type=~"isDiskSpaceLow|noWriteOrDelete"')
    return stat(
        "Object store: volumes closed",
        f"sum(max by ({STACK}, collection, type) ({closed}))",
        "Nothing is written to them: the claim is full, or its disk fails. For a moment it is normal, while one is "
        "compacted.",
        Unit.COUNT,
        NONE,
        links=links,
        empty=_STORED,
    )
