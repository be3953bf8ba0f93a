"""Expressions that are easy to get wrong, written once."""

from __future__ import annotations

PROCESS = "cluster, job, instance"
"""Labels that name one process, and one target, on both sides of a match."""


AGE = "time() - process_start_time_seconds"
"""Seconds since a program with one of Prometheus' client libraries was started."""


def grew(selector: str, window: str, age: str = AGE) -> str:
    """True while a counter has grown within the window, including one that was born above zero.

    `increase` needs two samples, so it never sees a series whose first sample is already 1: the first failure after
    a restart, or the first of a label value, would be missed. The second part sees a series that is new on a target
    that was scraped at the window's start: where it was not, the series may only have gone unseen, with Prometheus or
    its target out of reach. The third sees a new process, so also a new target, and a series that was there before a
    restart with the same labels: 1 before, 1 after, and yet another failure. age: seconds since the process was
    started, as it tells them itself.
    """
    return (
        f"increase({selector}[{window}]) > 0\nor\n{born(selector, window)}\nor\n"
        f"{_young(selector, window, age, PROCESS)}"
    )


def grew_since(selector: str, window: str, born: str, on: str) -> str:
    """The same for a counter that outlives the program that exposes it: the kernel's, or that of a Kubernetes object.

    A new series says nothing here: the exporter was down, or was replaced. The age of the object says it. born: metric
    with the object's start, seconds since 1970. on: labels that name the object on both sides, comma separated.
    """
    return f"increase({selector}[{window}]) > 0\nor\n{_young(selector, window, f'time() - {born}', on)}"


def _young(selector: str, window: str, age: str, on: str) -> str:
    """True of a series above zero whose process or object is younger than the window."""
    return f"({selector} > 0 and on ({on}) {age} < {window})"


def born(selector: str, window: str) -> str:
    """True of a series above zero that was not there a window ago, when its target was scraped."""
    return f"({selector} > 0 unless {selector} offset {window} and on ({PROCESS}) up offset {window} == 1)"
