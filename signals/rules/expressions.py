"""Expressions that are easy to get wrong, written once."""

from __future__ import annotations


def grew(selector: str, window: str) -> str:
    """True while a counter has grown within the window, including one that was born above zero.

    `increase` needs two samples, so it never sees a series whose first sample is already 1: the first failure after
    a restart, or the first of a label value, would be missed. The second part sees a series that is new. The third sees
    one that was there before a restart with the same labels: 1 before, 1 after, and yet another failure.
    """
    return (
        f"increase({selector}[{window}]) > 0\nor\n({selector} > 0 unless {selector} offset {window})\nor\n"
        f"({selector} > 0 and on (cluster, job, instance) time() - process_start_time_seconds < {window})"
    )
